"""Wikis: MediaWiki exports and dumps."""
