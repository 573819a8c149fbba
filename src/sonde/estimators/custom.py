"""The user's own estimator, as part of a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sonde.errors import EstimatorError
from sonde.estimators.builder import (
    ASSOCIATED,
    FEATURES,
    SECOND_LEVEL,
    ModelBuilder,
    SingleEstimator,
    associated,
)
from sonde.protocols import Chooser, CustomEstimator, Floats, Numbers


@dataclass(frozen=True)
class Custom(SingleEstimator):
    """Scores the whole frontier by ``predict`` at every pick, and passes visits to ``learn``."""

    estimator: CustomEstimator

    def __post_init__(self) -> None:
        for name in self.estimator.features:
            if name not in FEATURES:
                raise EstimatorError(
                    f"{self}: unknown feature {name!r} (one of: {', '.join(FEATURES)})"
                )

    def __str__(self) -> str:
        return type(self.estimator).__name__

    @property
    def _owner(self) -> str:
        """Whose feedback it is: that of this very object."""
        return f"custom{id(self.estimator)}"

    @property
    def _associated(self) -> bool:
        return any(name in ASSOCIATED for name in self.estimator.features)

    def _columns(self) -> list[str]:
        return [
            f"{self._owner}|{name}" if name in ASSOCIATED else name
            for name in self.estimator.features
        ]

    def features(self) -> tuple[str, ...]:
        return (*self._columns(), *(associated(self._owner) if self._associated else ()))

    def remembers(self) -> bool:
        return self._associated or any(name in SECOND_LEVEL for name in self.estimator.features)

    def build(self, builder: ModelBuilder) -> Chooser:
        columns = [builder.columns[name] for name in self._columns()]
        frontier = builder.frontier
        feedback = builder.feedback(self._owner) if self._associated else None

        def predict(slots: Numbers) -> Floats:
            rows = np.asarray(frontier.features)[slots][:, columns]
            return self.checked(self.estimator.predict(rows), len(slots))

        def learn(snapshot: Floats, gain: float) -> None:
            row = snapshot[columns]
            if feedback is not None:
                feedback.heard(gain - self.checked(self.estimator.predict(row[None]), 1)[0])
            self.estimator.learn(row, gain)

        return builder.single(builder.kernels.Custom(frontier, predict, learn))

    def checked(self, predictions: npt.ArrayLike, rows: int) -> Floats:
        """The predictions as doubles, or a clear word on what is wrong with them."""
        if np.iscomplexobj(predictions):
            raise EstimatorError(f"{self}.predict gave complex numbers")
        values = np.asarray(predictions, dtype=np.float64)
        if values.shape != (rows,):
            raise EstimatorError(
                f"{self}.predict gave an array of shape {values.shape} for {rows} rows"
            )
        if not np.isfinite(values).all():
            raise EstimatorError(f"{self}.predict gave a value that is not a finite number")
        return values
