"""`random`: every selectable row is equally likely, whatever the strategy."""

import cython

if cython.compiled:
    from cython.cimports.sonde.kernels.model.frontier import Leaf
else:
    from sonde.kernels.model.frontier import Leaf


class Chance(Leaf):
    def __init__(self, frontier, dice):
        Leaf.__init__(self, frontier)
        self.dice = dice
        self.active = False

    def best(self):
        count: cython.int = self.frontier.selectable()
        if count == 0:
            return -1
        return self.frontier.nth(cython.cast(cython.int, self.dice.below(count)))

    def activate(self):
        pass
