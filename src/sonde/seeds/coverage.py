"""What has been covered so far, and what one more seed would add.

All methods share this: a seed covers every node within a number of hops along out-links of the
whole network, covered or not, and each covered node's amount counts once.
"""

from __future__ import annotations

import numpy as np

from sonde.errors import InputError
from sonde.kernels.graphs import coverage as kernels
from sonde.seeds.amounts import Amounts
from sonde.seeds.network import Flags, LinkNetwork, Nodes, Units


class Coverage:
    """The state that a method reads while it chooses; only `take` changes it.

    ``left`` is what each node still adds when covered: its amount, or zero once covered.
    """

    def __init__(self, network: LinkNetwork, amounts: Amounts, hops: int) -> None:
        if len(amounts) != network.nodes:
            raise InputError(f"{len(amounts)} values were given for {network.nodes} nodes")
        if hops < 0:
            raise InputError(f"hops must be at least 0, not {hops}")
        self.network = network
        self.amounts = amounts
        self.hops = hops
        self._reach = min(hops, network.nodes)  # farther is nothing; a kernel's int is finite
        self.left: Units = amounts.units.copy()
        self.covered: Flags = np.zeros(network.nodes, dtype=bool)
        self.chosen: Flags = np.zeros(network.nodes, dtype=bool)
        self.gained = 0
        self._seen = np.zeros(network.nodes, dtype=np.uint8)
        # Hops from the nearest seed; one more than a seed covers where none does.
        self._near = np.full(network.nodes, self._reach + 1, dtype=np.int32)
        self._fresh = np.empty(network.nodes, dtype=np.int32)
        self._queue = np.empty(network.nodes, dtype=np.int32)

    def take(self, node: int) -> tuple[Nodes, int]:
        """Makes a node a seed: the nodes newly covered, and the amount that they add."""
        links = self.network
        size = kernels.cover(
            links.indptr, links.targets, node, self._reach, self._near, self._queue, self._fresh
        )
        fresh = self._fresh[:size].copy()
        gain = int(self.left[fresh].sum())
        self.covered[fresh] = True
        self.chosen[node] = True
        self.left[fresh] = 0
        self.gained += gain
        return fresh, gain

    def weigh(self, nodes: Nodes, depth: int) -> tuple[Units, Units]:
        """What is left within a depth of each node: in all, and its positive part alone."""
        net = np.empty(len(nodes), dtype=np.int64)
        gross = np.empty(len(nodes), dtype=np.int64)
        links = self.network
        kernels.weigh(
            links.indptr,
            links.targets,
            self.left,
            np.ascontiguousarray(nodes, dtype=np.int32),
            min(depth, links.nodes),
            self._reach,
            self._near,
            self._seen,
            self._queue,
            net,
            gross,
        )
        return net, gross

    def withdraw(self, nodes: Nodes, amounts: Units, hops: int, weights: Units) -> None:
        """Takes the nodes' amounts out of the weights of all that reach them within some hops."""
        links = self.network.reversed
        kernels.withdraw(
            links.indptr,
            links.targets,
            nodes,
            amounts,
            min(hops, links.nodes),
            self._seen,
            self._queue,
            weights,
        )

    def sample(
        self, draws: Nodes, start: int, limit: int, hits: Units, counts: Units, work: Units
    ) -> int:
        """Feeds draws to the reachability sketches; see the kernel of the same name."""
        links = self.network.reversed
        return int(
            kernels.sample(
                links.indptr,
                links.targets,
                draws,
                start,
                self.left,
                self._reach,
                limit,
                self._seen,
                self._queue,
                hits,
                counts,
                work,
            )
        )

    @property
    def everyone(self) -> Nodes:
        return np.arange(self.network.nodes, dtype=np.int32)

    def covered_gross(self) -> int:
        """The positive part of what is covered, in units."""
        units = self.amounts.units
        return int(units[self.covered & (units > 0)].sum())
