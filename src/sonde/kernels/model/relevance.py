"""Fetch relevance: a weighted sum of URL measures, its weights learned or given.

Learned weights are those of the regression over the first columns. What a prediction missed, the
error, is passed to the feedback. With a column of quickness at the end, quick hosts get a bonus
that scores cannot teach: a share of the mean gain so far, times the quickness. It is part of the
ranking, not of the prediction that is learned from.
"""

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.sonde.kernels.model.regression import Regression
else:
    from sonde.kernels.model.regression import Regression


class Relevance(Regression):
    def __init__(self, frontier, columns, given=None, feedback=None, quick=-1, share=0.0):
        """`given` are weights that do not change; `quick` is the column of quickness, or -1."""
        bonus = [quick] if quick >= 0 else []
        Regression.__init__(self, frontier, [*columns, *bonus], given=len(bonus))
        self.fixed = given is not None
        if self.fixed:
            self.weights = np.array([*given, *(0.0 for _ in bonus)])
        self.feedback = feedback
        self.share = share
        self.samples = 0
        self.gained = 0.0

    def learn(self, snapshot, gain):
        if self.fixed:
            self.error = gain - self.predicted(snapshot)
        else:
            Regression.learn(self, snapshot, gain)
        if self.feedback is not None:
            self.feedback.heard(self.error)
        if self.regressed < self.terms:
            self.samples += 1
            self.gained += gain
            self.weights[self.regressed] = self.share * (self.gained / self.samples)
