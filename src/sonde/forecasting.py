"""Forecast of a crawl's harvest: what the next requests will bring, with an interval.

Everything here is a function of what a run's ledger says, in the order of its log: the gain of each
request, what was predicted when its node was picked, and what the estimator says of the frontier
now. Nothing is fitted outside the run but the seven constants named below, which were chosen on
recorded graphs, each source left out in turn.

Notation: H(u) is the harvest after u requests, t the requests so far, m = sum g^2 / sum g the size
of a typical find, c = m / 2.

The point forecast is the geometric mean of four simple ones, which err in different directions:

``power``    the rate of the harvest follows a power of the number of requests
``decay``    the rate falls exponentially (weighted least squares over the last two thirds)
``scaled``   the best predictions of the frontier, times what predictions have brought lately
``binned``   the same, by eighths of the predictions, recent visits counting more

The interval is the mean, in logarithms, of two. One is the run's own: the curves' forecasts as they
would have been made at 25 earlier moments against what came (adaptive conformal inference). The
other takes the spread of errors on other sources, scaled by how this run's errors compare.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from sonde.errors import InputError

Floats = npt.NDArray[np.float64]

FEWEST = 40
"""Requests until a run can be forecast: before that there is no curve."""

_MOMENTS = 25  # earlier moments at which the run is forecast again
_MISS = 0.2  # share of outcomes that may fall outside
_STEP = 0.05  # by which the share is adapted after each moment
_LOW, _HIGH = -2.24, 1.13  # quantiles of scaled errors on other sources
_NOISE, _GROWTH = 0.03, 0.3  # spread of errors: at no horizon, and by the horizon's logarithm


@dataclass(frozen=True)
class HarvestForecast:
    """What ``requests`` more requests bring: ``expected``, and an interval of 80 %."""

    requests: int
    expected: float
    low: float
    high: float
    spent: int
    harvest: float

    @property
    def rate(self) -> float:
        """Expected gain a request."""
        return self.expected / self.requests

    @property
    def past_rate(self) -> float:
        """Gain a request so far."""
        return self.harvest / self.spent

    def as_json(self) -> dict[str, float]:
        """Plain data."""
        return {**asdict(self), "rate": self.rate, "past_rate": self.past_rate}


@dataclass(frozen=True)
class Ledger:
    """What a run has paid and got, in the order of its log.

    ``gains`` has an entry for each request (0 for those that brought nothing: robots.txt,
    redirects, failures); ``predicted`` and ``brought`` have one for each visit that an estimator
    chose: what it said, and the gain.
    """

    gains: Floats
    predicted: Floats
    brought: Floats

    @classmethod
    def of(cls, settled: Sequence[tuple[float | None, float, int]]) -> Ledger:
        """From (prediction, gain, requests) of each settled lease."""
        gains: list[float] = []
        for _, gain, requests in settled:
            gains += [0.0] * (requests - 1) + [gain] * (requests > 0)
        chosen = [(said, gain) for said, gain, _ in settled if said is not None]
        said, got = zip(*chosen, strict=True) if chosen else ((), ())
        return cls(np.array(gains), np.array(said, dtype=float), np.array(got, dtype=float))


def forecast(ledger: Ledger, frontier: Sequence[float] | Floats, requests: int) -> HarvestForecast:
    """What so many more requests bring. ``frontier`` has the estimator's predictions, best first;
    no more than the first ``requests`` of them are read."""
    spent = len(ledger.gains)
    if requests < 1:
        raise InputError(f"a forecast is for 1 or more requests, not {requests}")
    if spent < FEWEST:
        raise InputError(f"a forecast needs {FEWEST} requests to go by; this run has spent {spent}")
    curve = np.concatenate([[0.0], np.cumsum(ledger.gains)])
    size = typical(ledger.gains)
    harvest = float(curve[-1])
    if size == 0.0:  # nothing was ever found: nothing is expected, and no error can be scaled
        best = float(np.sum(np.asarray(frontier[:requests], dtype=float)))
        return HarvestForecast(requests, 0.0, 0.0, max(0.0, best), spent, harvest)
    best_rows = np.maximum(np.asarray(frontier[:requests], dtype=float), 0.0)
    curves = [power(curve, size, requests), decay(curve, size, requests)]
    if len(ledger.predicted) and len(best_rows):
        ways = [*curves, scaled(ledger, size, best_rows), binned(ledger, size, best_rows)]
    else:
        ways = curves
    floor = size / 2
    centre = math.exp(sum(math.log(way + floor) for way in ways) / len(ways))
    low, high = _interval(ledger.gains, curve, size, requests, centre)
    return HarvestForecast(
        requests,
        max(0.0, centre - floor),
        max(0.0, centre * math.exp(low) - floor),
        max(0.0, centre * math.exp(high) - floor),
        spent,
        harvest,
    )


def typical(gains: Floats) -> float:
    """The size of a typical find: the mean gain, weighted by gain."""
    total = float(gains.sum())
    return float((gains * gains).sum()) / total if total > 0 else 0.0


# -- four point forecasts --------------------------------------------------------------------------


def power(curve: Floats, size: float, requests: int) -> float:
    """The rate follows a power of the number of requests, read off the last two halvings."""
    now = len(curve) - 1
    half, quarter = now // 2, now // 4
    prior = 4 * size
    early = (curve[half] - curve[quarter] + prior) / (half - quarter)
    late = (curve[now] - curve[half] + prior * (now - half) / (half - quarter)) / (now - half)
    exponent = min(max(math.log2(late / early), -1.5), 0.3)
    rate = (curve[now] - curve[half]) / (now - half) / _mean_power(exponent, 0.5, 1.0)
    return float(requests * rate * _mean_power(exponent, 1.0, 1.0 + requests / now))


def decay(curve: Floats, size: float, requests: int) -> float:
    """The rate falls exponentially, by weighted least squares over eight blocks."""
    now = len(curve) - 1
    begin = now // 3
    edges = np.linspace(begin, now, 9).astype(int)
    widths = np.diff(edges)
    finds = np.diff(curve[edges]) / size
    rates = np.log((finds + finds.sum() / 16 + 1e-12) / (1.5 * widths))
    places = ((edges[:-1] + edges[1:]) / 2 - now) / now
    weights = finds + 0.5
    middle = np.average(places, weights=weights)
    level = np.average(rates, weights=weights)
    spread = float((weights * (places - middle) ** 2).sum()) + 1.0
    slope = float((weights * (places - middle) * (rates - level)).sum()) / spread
    slope = min(max(slope, -6.0), 1.0)
    rate = (curve[now] - curve[begin]) / (now - begin) / _mean_exp(slope, begin / now - 1.0, 0.0)
    return float(requests * rate * _mean_exp(slope, 0.0, requests / now))


def scaled(ledger: Ledger, size: float, best: Floats) -> float:
    """The frontier's best predictions, times what predictions have brought lately."""
    window = max(200, len(ledger.gains) // 4)
    said, got = ledger.predicted[-window:], ledger.brought[-window:]
    ratio = (got.sum() + 3 * size) / (np.maximum(said, 0.0).sum() + 3 * size)
    return float(ratio * best.sum())


def binned(ledger: Ledger, size: float, best: Floats) -> float:
    """The same by eighths of the predictions, recent visits counting more."""
    window = max(300, len(ledger.gains) // 2)
    said, got = np.maximum(ledger.predicted[-window:], 0.0), ledger.brought[-window:]
    weights = np.linspace(0.0, 1.0, len(said)) if len(said) > 1 else np.ones(len(said))
    overall = ((weights * got).sum() + 3 * size) / ((weights * said).sum() + 3 * size)
    edges = np.quantile(said, np.arange(1, 8) / 8)
    bins = np.searchsorted(edges, said, side="right")
    brought = np.bincount(bins, weights * got, minlength=8)
    promised = np.bincount(bins, weights * said, minlength=8)
    ratios = (brought + 5 * size * overall) / (promised + 5 * size)
    return float((best * ratios[np.searchsorted(edges, best, side="right")]).sum())


def _mean_power(exponent: float, low: float, high: float) -> float:
    """The mean of x ** exponent over an interval of positive numbers."""
    if abs(exponent + 1.0) < 1e-9:
        return math.log(high / low) / (high - low)
    raised = exponent + 1.0
    return (high**raised - low**raised) / (raised * (high - low))


def _mean_exp(slope: float, low: float, high: float) -> float:
    """The mean of exp(slope * x) over an interval."""
    if abs(slope) * (high - low) < 1e-9:
        return math.exp(slope * low)
    return (math.exp(slope * high) - math.exp(slope * low)) / (slope * (high - low))


# -- the interval ----------------------------------------------------------------------------------


def _interval(
    gains: Floats, curve: Floats, size: float, requests: int, centre: float
) -> tuple[float, float]:
    """The interval's ends, as logarithms of ratios to the forecast."""
    now = len(gains)
    moments = _moments(now, requests)
    squares = np.concatenate([[0.0], np.cumsum(gains * gains)])
    errors: list[float] = []
    scales: list[float] = []
    shares: list[float] = []
    for moment in moments:
        if curve[moment] <= 0:
            continue
        horizon = max(1, moment * requests // now)
        then = float(squares[moment] / curve[moment])
        past = curve[: moment + 1]
        ways = (power(past, then, horizon), decay(past, then, horizon))
        floor = then / 2
        said = sum(math.log(way + floor) for way in ways) / 2
        came = curve[min(moment + horizon, now)] - curve[moment]
        errors.append(math.log(came + floor) - said)
        scales.append(_spread(math.exp(said) / then, horizon / moment))
        shares.append(moment / now)
    low, high = _foreign(errors, scales, shares, centre / size, requests / now)
    if len(errors) < 6:
        return low, high
    own_low, own_high = conformal(errors)
    return (low + own_low) / 2, (high + own_high) / 2


def _moments(now: int, requests: int) -> list[int]:
    """Earlier moments, evenly spread in logarithms, whose horizon has passed."""
    first, last = max(10.0, 0.08 * now), now / (1 + requests / now)
    if last <= first:
        return []
    spread = np.unique(np.geomspace(first, last, _MOMENTS).astype(int))
    return [int(moment) for moment in spread]


def conformal(errors: Sequence[float]) -> tuple[float, float]:
    """Quantiles of past errors, at a share that was adapted by how often they had held."""
    miss = _MISS
    for number in range(4, len(errors)):
        low, high = _quantiles(errors[:number], miss)
        outside = not low <= errors[number] <= high
        miss += _STEP * (_MISS - outside)
    low, high = _quantiles(errors, miss)
    if miss <= 0:
        wider = (high - low) / 4
        low, high = low - wider, high + wider
    return low, high


def _quantiles(errors: Sequence[float], miss: float) -> tuple[float, float]:
    share = min(max(miss, 0.0), 1.0)
    low, high = np.quantile(errors, [share / 2, 1 - share / 2])
    return float(low), float(high)


def _spread(finds: float, horizon: float) -> float:
    """How far a forecast of so many finds is usually off, as a logarithm."""
    return math.sqrt(_NOISE**2 + (_GROWTH * math.log1p(horizon)) ** 2 + 1.0 / max(finds, 1e-9))


def _foreign(
    errors: Sequence[float],
    scales: Sequence[float],
    shares: Sequence[float],
    finds: float,
    horizon: float,
) -> tuple[float, float]:
    """The spread of errors on other sources, scaled by how this run's own compare."""
    weights = [share * share for share in shares]
    kept = 5 / max(5, len(errors))
    seen = sum(
        weight * min(4.0, abs(error) / scale)
        for weight, error, scale in zip(weights, errors, scales, strict=True)
    )
    scale = (2 + kept * seen / 0.8) / (2 + kept * sum(weights))
    spread = _spread(finds, horizon) * scale
    return _LOW * spread, _HIGH * spread


# -- calibration -----------------------------------------------------------------------------------

_LEVELS = 80
_KEPT = 0.98  # of what a level knew, at each further visit of that level
_PRIOR = 3.0  # visits that the overall mean counts for in a level


class Calibration:
    """What predictions of this run have brought: a monotone map from estimates to expected gains.

    Visits are counted by level of prediction (two to the octave), recent ones more; the levels'
    means, drawn towards the overall mean where they know little, are made monotone by pooling
    neighbours that disagree (isotonic regression). State and answers depend on the order of visits
    alone, so that a retold log gives the same.
    """

    def __init__(self) -> None:
        self.gains_ = np.zeros(_LEVELS)
        self.visits_ = np.zeros(_LEVELS)
        self.gain_ = 0.0
        self.count_ = 0.0
        self._means: Floats | None = None

    def learn(self, predicted: float, gain: float) -> None:
        """A visit that was predicted to bring this much has brought that."""
        level = level_of(predicted)
        self.gains_[level] = _KEPT * self.gains_[level] + gain
        self.visits_[level] = _KEPT * self.visits_[level] + 1.0
        self.gain_ += gain
        self.count_ += 1.0
        self._means = None

    def expected(self, predicted: float) -> float:
        """The gain that such a prediction stands for; the prediction itself before any visit."""
        if not self.count_:
            return predicted
        if self._means is None:
            overall = self.gain_ / self.count_
            weights = self.visits_ + 1e-9
            raw = (self.gains_ + _PRIOR * overall * (self.visits_ > 0)) / (
                self.visits_ + _PRIOR * (self.visits_ > 0) + 1e-9
            )
            known = np.flatnonzero(self.visits_ > 0)
            means = monotone(raw[known], weights[known])
            self._means = np.interp(np.arange(_LEVELS), known, means)
        return float(self._means[level_of(predicted)])


def level_of(predicted: float) -> int:
    """Two levels to the octave; 0 for nothing."""
    if not predicted > 1e-12:
        return 0
    return min(max(math.floor(2 * math.log2(predicted)) + 40, 1), _LEVELS - 1)


def monotone(values: Floats, weights: Floats) -> Floats:
    """The nearest rising sequence in weighted squares (pool adjacent violators)."""
    blocks: list[list[float]] = []  # mean, weight, length
    for value, weight in zip(values, weights, strict=True):
        blocks.append([float(value), float(weight), 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, heavy, long = blocks.pop()
            before = blocks[-1]
            total = before[1] + heavy
            before[0] = (before[0] * before[1] + mean * heavy) / total
            before[1] = total
            before[2] += long
    return np.concatenate([np.full(int(length), mean) for mean, _, length in blocks])


