"""Which leaf picks next: always the same, one and then another, or a bandit over several.

Choosers form a tree over leaves. Each leaf stands in it once, so that its number is enough to
know which arm of which bandit a reward belongs to, however many leases are in flight.
"""

import cython
import numpy as np


class Chooser:
    def choose(self, step):
        """The number of the leaf that picks at this step (steps count from 0, without seeds)."""
        return -1

    def follow(self, step, leaf):
        """Count a choice of this leaf that was made before, as a log tells."""

    def reward(self, leaf, gain):
        """A node that `leaf` picked has brought this gain."""

    def witness(self, snapshot, gain):
        """A node that had these features, whoever picked it, has brought this gain."""

    def switch(self, on):
        """Have the leaves below follow the frontier, or stop."""

    def leaves(self):
        """The leaves below."""
        return []

    def family(self):
        """This chooser and all below it."""
        return [self]


class Single(Chooser):
    LEARNED = ()

    def __init__(self, leaf):
        self.leaf = leaf

    def choose(self, step):
        return self.leaf.number

    def switch(self, on):
        if on:
            self.leaf.activate()
        else:
            self.leaf.active = False

    def leaves(self):
        return [self.leaf]


class Hybrid(Chooser):
    """The first for so many steps, then the second, which has learned from the start."""

    LEARNED = ("switched",)
    PARTS = ("first", "second")

    def __init__(self, first, second, steps):
        self.first = first
        self.second = second
        self.steps = steps
        self.switched = False
        self.second.switch(False)

    def turn(self, step):
        if not self.switched and step >= self.steps:
            self.switched = True
            self.first.switch(False)
            self.second.switch(True)

    def choose(self, step):
        self.turn(step)
        return self.second.choose(step) if self.switched else self.first.choose(step)

    def follow(self, step, leaf):
        self.turn(step)
        if self.switched:
            self.second.follow(step, leaf)
        else:
            self.first.follow(step, leaf)

    def reward(self, leaf, gain):
        self.first.reward(leaf, gain)
        self.second.reward(leaf, gain)

    def witness(self, snapshot, gain):
        self.first.witness(snapshot, gain)
        self.second.witness(snapshot, gain)

    def switch(self, on):
        if self.switched:
            self.second.switch(on)
        else:
            self.first.switch(on)

    def leaves(self):
        return self.first.leaves() + self.second.leaves()

    def family(self):
        return [self, *self.first.family(), *self.second.family()]


class Armed(Chooser):
    """Arms, which leaves are theirs, and dice."""

    PARTS = ("arms",)

    def __init__(self, arms, dice, leaf_count):
        self.arms = arms
        self.dice = dice
        self.arm_of = np.full(leaf_count, -1, dtype=np.intc)
        for number, arm in enumerate(arms):
            for leaf in arm.leaves():
                self.arm_of[leaf.number] = number

    def witness(self, snapshot, gain):
        arm: Chooser
        for arm in self.arms:
            arm.witness(snapshot, gain)

    def switch(self, on):
        arm: Chooser
        for arm in self.arms:
            arm.switch(on)

    def leaves(self):
        return [leaf for arm in self.arms for leaf in arm.leaves()]

    def family(self):
        return [self] + [chooser for arm in self.arms for chooser in arm.family()]


class Bandit(Armed):
    """Epsilon-greedy, epsilon-first, or a succession of epsilon-first runs (`renewed`).

    With `exploring` = -1 a random arm is pulled with probability epsilon at every step; otherwise
    for the first `exploring` steps. With `renewed` that many steps begin each period, and the
    averages start afresh. A period is first as short as exploration allows (each arm once); it
    doubles when the leader of a period leads the next one too, and halves when it does not: a
    stable context should not pay for exploring again, a changing one should not be held to old
    averages.
    """

    LEARNED = ("age", "period", "leader", "pulls", "told", "rewards")

    def __init__(self, arms, dice, epsilon, exploring, renewed, leaf_count):
        Armed.__init__(self, arms, dice, leaf_count)
        self.epsilon = epsilon
        self.exploring = exploring
        self.renewed = renewed
        self.leader = -1
        self.age = 0
        self.period = int(np.ceil(len(arms) / epsilon)) if renewed else 0
        self.pulls = np.zeros(len(arms), dtype=np.int64)
        self.told = np.zeros(len(arms), dtype=np.int64)
        self.rewards = np.zeros(len(arms))

    def leading(self):
        lead: cython.int = 0
        highest: cython.double = -1.0
        average: cython.double
        i: cython.int
        for i in range(self.pulls.shape[0]):
            average = self.rewards[i] / self.told[i] if self.told[i] > 0 else 0.0
            if average > highest:
                highest = average
                lead = i
        return lead

    def renew(self):
        shortest: cython.longlong = cython.cast(
            cython.longlong, np.ceil(self.pulls.shape[0] / self.epsilon)
        )
        leader: cython.int = self.leading()
        if leader == self.leader:
            self.period *= 2
        else:
            self.period = max(self.period // 2, shortest)
        self.leader = leader
        self.age = 0
        i: cython.int
        for i in range(self.pulls.shape[0]):
            self.pulls[i] = 0
            self.told[i] = 0
            self.rewards[i] = 0.0

    def arm_for(self, step):
        count: cython.int = self.pulls.shape[0]
        i: cython.int
        for i in range(count):
            if self.pulls[i] == 0:
                return i
        if self.renewed:
            if self.age < cython.cast(cython.longlong, self.epsilon * self.period):
                return cython.cast(cython.int, self.dice.below(count))
        elif self.exploring >= 0:
            if step < self.exploring:
                return cython.cast(cython.int, self.dice.below(count))
        elif self.dice.uniform() < self.epsilon:
            return cython.cast(cython.int, self.dice.below(count))
        return self.leading()

    def pull(self, arm):
        self.pulls[arm] += 1
        self.age += 1
        return self.arms[arm]

    def choose(self, step):
        if self.renewed and self.age >= self.period:
            self.renew()
        chosen: Chooser = self.pull(self.arm_for(step))
        return chosen.choose(step)

    def follow(self, step, leaf):
        if self.renewed and self.age >= self.period:
            self.renew()
        self.pull(self.arm_of[leaf]).follow(step, leaf)

    def reward(self, leaf, gain):
        if leaf >= self.arm_of.shape[0]:
            return  # a leaf that grew after this bandit, in another branch
        arm: cython.int = self.arm_of[leaf]
        if arm < 0:
            return
        self.told[arm] += 1
        self.rewards[arm] += gain
        chosen: Chooser = self.arms[arm]
        chosen.reward(leaf, gain)
