"""The explorer: ask which nodes to visit, tell what came of it.

It does no I/O, owns no clock, and sees nothing that it was not told. Life of a node: it is named
as a seed or as the target of a told link; it waits on the frontier; an ask leases it, holding
budget; a tell settles the lease. A ``Visit`` teaches the model and puts the visit's links on the
frontier; a ``Failure`` or ``Skip`` drops the node, or with ``retry`` puts it back.

The nouns: an ``Explorer`` has the state (nodes, open leases, account, model), and is for whoever
asks and tells. Its ``driver``, a ``DriverView``, is the same for drivers, which log what happens,
tell it again, and save and restore the state.

Invariants: held and spent budget never exceed the limits; no node is leased twice at a time nor
visited twice; the same calls in the same order give the same leases.
"""

from sonde.explorer.driver_view import DriverView
from sonde.explorer.explorer import Explorer, Opinion

__all__ = ["DriverView", "Explorer", "Opinion"]
