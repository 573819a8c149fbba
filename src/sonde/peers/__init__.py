"""A peer: a process that shares a folder of files, knows some neighbours, and answers for itself.

Nouns. The *shared folder* is what the peer has: what of it fits a topic, and the *profile* of its
words, which it gives to neighbours. What it remembers of a neighbour is the profile that the
neighbour gave when it was last asked. A *share* is one peer's part in a query that spreads: the
messages that it was handed, an explorer of its own over its neighbours, and what came back. The
``Peer`` is the server that holds all of these; ``gossip`` starts a query that spreads.

Life of a query that spreads. Whoever starts it has the whole budget as its share. A share takes
the neighbours that its explorer likes best, a few at a time, and hands each a part of what it
holds; a neighbour does the same with its part, once for each query, and answers with what was sent,
what was lost and what was found. What was not sent goes back into the share, and out to others.

Invariants. A message costs one unit, whether or not it arrives, and a unit is in one share only:
messages that were sent, and those that were handed to somebody who never answered, together never
exceed the budget, whoever dies, lies or is late. No peer takes part in a query twice. What others
say is bounded as ``sonde.sources.peers`` bounds it. A peer answers within the patience of who asks.
"""

from sonde.peers.peer import Peer
from sonde.peers.query import Gossip, Handover, Share, gossip
from sonde.peers.shared_folder import SharedFolder

__all__ = ["Gossip", "Handover", "Peer", "Share", "SharedFolder", "gossip"]
