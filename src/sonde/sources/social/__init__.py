"""People on a network, through its API: nodes are accounts, links are mentions.

Nouns, in the order in which a visit meets them:

- a *description* (``description``): what an API looks like, in TOML: its endpoints, where text,
  mentions and identity are in an answer (``picking``), how its pages follow one another
  (``paging``), its windows. The networks that come with sonde are such descriptions
  (``networks``), and a user's own is as good.
- an *account*: a node. Its text is ``NAME#ID`` where the API tells both, so that a person can read
  it and no request is needed to find out the number; a seed may be a name alone. ``?QUERY`` is a
  node too: the network's own search, which is worth nothing itself and links to those whom it
  finds.
- a *window* (``windows``): so many requests in so long a time, for each token. *Statements*
  (``statements``) are what an answer says about them in its headers.
- the *pace* (``window_pace``): a node is ready when a window has room for its first request;
  further pages wait for theirs.
- *posts* (``post_document``): what an account has said, as a document for the scorer. β comes from
  all of an account's posts, α of a mention from those posts that mention the other.

Invariants:

- No window is ever exceeded, however the server counts: a request takes its place before it
  leaves and keeps it until so long after its answer as the window lasts. The places taken are
  kept with the run before the request leaves, so that this holds across a kill.
- A token goes to the one host that it is for, in a header that is hidden from every archive, and
  is nowhere else: a run knows the variable or the file that it comes from.
- What an answer says is checked before it is used; a URL that it names is followed on the same
  origin alone.
"""

from sonde.sources.social.kind import Api, Bluesky, Mastodon

__all__ = ["Api", "Bluesky", "Mastodon"]
