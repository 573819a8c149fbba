"""Edge lists, with scores from columns, from links, or from a seed."""
