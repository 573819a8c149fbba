"""Peers that share files: who is asked is a node, the overlay's links are the links.

Nouns. A *peer* is named by its address, ``127.0.0.1:7001`` or ``[::1]:7001``: an IP literal and a
port, so that nothing is looked up. A *message* is one request to a peer, and what the budget
counts; its *answer* is one line. ``messages`` has the protocol and one exchange of it, ``source``
the visits. The peer itself, the process that answers, is the room ``sonde.peers``.

Invariants. Whatever a peer says is bounded before it is believed: the length of a line, the time it
takes, the neighbours in an answer, the scores. A message counts as spent before it is sent,
whatever becomes of it. A crawl that began on loopback or in a private network stays there, and one
that began in the open never enters them, whomever a peer calls its neighbour.
"""

from sonde.sources.peers.messages import (
    ExchangeError,
    PeerAnswer,
    SpreadAnswer,
    address_of,
    exchange,
)
from sonde.sources.peers.source import PeerSource

__all__ = ["ExchangeError", "PeerAnswer", "PeerSource", "SpreadAnswer", "address_of", "exchange"]
