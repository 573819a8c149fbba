"""An estimator written in Python: it scores every selectable row anew for each pick."""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.sonde.kernels.model.frontier import Leaf
else:
    from sonde.kernels.model.frontier import Leaf


class Custom(Leaf):
    def __init__(self, frontier, predict, teach):
        """`predict` takes slots and gives estimates; `teach` takes a snapshot and its gain."""
        Leaf.__init__(self, frontier)
        self.predict = predict
        self.teach = teach
        self.active = False  # it looks at the table itself, and need not be told of changes

    def best(self):
        slots = self.frontier.live_slots()
        values = self.predict(slots)
        top = slots[values == values.max()]
        self.best_value = values.max()
        return top[np.argmin(np.asarray(self.frontier.row_seq)[top])]

    def within(self, threshold, out):
        slots = self.frontier.live_slots()
        close = slots[self.predict(slots) >= threshold]
        np.asarray(out)[: len(close)] = close
        return len(close)

    def estimate(self, slot):
        return self.predict(np.asarray([slot]))[0]

    def rank(self, slot, limit):
        frontier = self.frontier
        slots = np.flatnonzero(np.asarray(frontier.row_live)[: frontier.rows])
        values = self.predict(slots)
        value = self.estimate(slot)
        order = np.asarray(frontier.row_seq)
        ahead = (values > value) | ((values == value) & (order[slots] < order[slot]))
        ahead &= slots != slot
        count = int(ahead.sum())
        return count + 1 if count < limit else 0

    def learn(self, snapshot, gain):
        self.teach(np.array(snapshot), gain)

    def activate(self):
        pass
