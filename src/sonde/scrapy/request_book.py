"""The request book: what a request is called as a node, and the requests that wait for their turn.

A node is a request fingerprint, but a run speaks of URLs. So the first request to a URL lends it
its name; another request to the same URL (a POST, another body) is called by URL, method and the
beginning of its fingerprint. A run keeps both, and the request itself where it is plain data, so
that a spider can be taken up again.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from scrapy import Request
from scrapy.utils.request import request_from_dict

from sonde.protocols import Keeper

LEASE = "sonde_lease"
"""The key of ``Request.meta`` under which a request carries the number of its lease. What follows
from it by a copy (a retry, a redirect) carries it too."""

_LOG = logging.getLogger("sonde.scrapy")


class RequestBook:
    """Names by fingerprint, and requests by name."""

    def __init__(self, keeper: Keeper, spider: Any, fingerprinter: Any) -> None:
        self._keeper = keeper
        self._spider = spider
        self._fingerprint = fingerprinter.fingerprint
        self._names: dict[bytes, str] = {}
        self._owners: dict[str, bytes] = {}  # the fingerprint that lent a name
        self._seen: set[bytes] = set()
        self._waiting: dict[str, Any] = {}
        self._kept: dict[str, str | None] = {}  # of an earlier process; None for what was followed
        self.unkept = 0
        """Requests that could not be written down."""
        for fingerprint, node, request in keeper.rows("requests"):
            assert isinstance(fingerprint, bytes)
            self._name(fingerprint, str(node))
            self._seen.add(fingerprint)
            if request is not None or node not in self._kept:
                self._kept[str(node)] = None if request is None else str(request)
        self.resumed = frozenset(self._owners)
        """The names that an earlier process knew."""

    def fingerprint(self, request: Any) -> bytes:
        """What makes two requests one."""
        found: bytes = self._fingerprint(request)
        return found

    def name(self, request: Any) -> str:
        """What a request is called as a node."""
        fingerprint = self.fingerprint(request)
        name = self._names.get(fingerprint)
        if name is None:
            name = request.url
            if name in self._owners:
                name = f"{name} {request.method} {fingerprint.hex()[:12]}"
            self._name(fingerprint, name)
        return name

    def _name(self, fingerprint: bytes, name: str) -> None:
        self._names[fingerprint] = name
        self._owners.setdefault(name, fingerprint)

    def seen(self, request: Any) -> bool:
        """Whether a request like this was scheduled before."""
        return self.fingerprint(request) in self._seen

    def store(self, request: Any) -> str:
        """A request that waits for its node's turn; the node."""
        name = self.name(request)
        fingerprint = self.fingerprint(request)
        self._seen.add(fingerprint)
        self._waiting[name] = request
        self._keeper.write("requests", [(fingerprint, name, self._packed(request))])
        return name

    def follow(self, request: Any, node: str) -> None:
        """A request that belongs to the visit of a node: from now on it is called like that node,
        and does not wait for a turn of its own."""
        fingerprint = self.fingerprint(request)
        self._seen.add(fingerprint)
        name = self._names.get(fingerprint)
        if name is None:
            name = node
            self._name(fingerprint, node)
        elif name != node:
            self._waiting.pop(name, None)
            self._kept[name] = None
        else:
            return
        self._keeper.write("requests", [(fingerprint, name, None)])

    def waits(self, name: str) -> bool:
        """Whether a request waits under this name."""
        return name in self._waiting or self._kept.get(name) is not None

    def put_back(self, name: str, request: Any) -> None:
        """A request that was taken and waits again."""
        request.meta.pop(LEASE, None)
        self._waiting[name] = request

    def take(self, name: str) -> Any:
        """The request of a node whose turn it is, or why there is none."""
        request = self._waiting.pop(name, None)
        if request is not None:
            return request
        if name in self._kept:
            text = self._kept.pop(name)
            return "duplicate" if text is None else self._unpacked(text)
        return "filtered" if name not in self.resumed else "not-kept"

    # -- on paper ------------------------------------------------------------------------------

    def _packed(self, request: Any) -> str | None:
        """A request as JSON; ``None`` where that would not give it back as it is."""
        try:
            data = request.to_dict(spider=self._spider)
            data["meta"] = {key: value for key, value in data["meta"].items() if key != LEASE}
            data["body"] = data["body"].decode("latin-1")
            data["headers"] = {
                name.decode("latin-1"): [value.decode("latin-1") for value in values]
                for name, values in data["headers"].items()
            }
            text = json.dumps(data, separators=(",", ":"))
            if json.loads(text) == data:
                return text
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            if not self.unkept:
                _LOG.warning("Unable to serialize request, which no resume will know: %s", error)
        self.unkept += 1
        return None

    def _unpacked(self, text: str) -> Request | str:
        data = json.loads(text)
        data["body"] = data["body"].encode("latin-1")
        data["headers"] = {
            name.encode("latin-1"): [value.encode("latin-1") for value in values]
            for name, values in data["headers"].items()
        }
        try:
            return request_from_dict(data, spider=self._spider)
        except ValueError:  # a callback that the spider no longer has
            return "not-kept"
