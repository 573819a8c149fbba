"""Charts of audits as SVG, written by hand: a few shapes need no library.

Every chart has a legend of its own, since it may be looked at alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from sonde.audit.measuring import SiteAudit

_COLOURS = ("#3465a4", "#cc7000", "#4e9a06", "#a40000", "#75507b", "#555753")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 480, 230, 56, 14, 26, 40
_LINE = 16  # of the legend
_LONGEST = 64  # letters of a site's name
_BINS = 10
_FONT = 'font-family="sans-serif" font-size="11"'


def colour(number: int) -> str:
    """The colour of a site, by its place."""
    return _COLOURS[number % len(_COLOURS)]


class Axis(NamedTuple):
    """What is measured along it, where it is marked, and how a mark is written."""

    name: str
    marks: tuple[float, ...]
    unit: str = ""
    times: float = 1.0

    def share(self, value: float) -> float:
        """How far along a value is, between 0 and 1."""
        return value / self.marks[-1]

    def written(self, mark: float) -> str:
        return f"{self.times * mark:,.10g}{self.unit}"


def marks(highest: float, *, whole: bool = False) -> tuple[float, ...]:
    """Round numbers from 0 to the first that is not below `highest`, four to seven of them.

    >>> marks(0.97)
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    >>> marks(2, whole=True)
    (0.0, 1.0, 2.0)
    """
    highest = highest if highest > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    step = next(s * power for s in (0.2, 0.5, 1.0, 2.0) if s * power * 6 >= highest * (1 - 1e-9))
    step = max(step, 1.0) if whole else step
    count = math.ceil(highest / step * (1 - 1e-9))
    return tuple(float(f"{place * step:.12g}") for place in range(count + 1))


def _x(share: float) -> float:
    return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)


def _y(share: float) -> float:
    return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'


def _chart(
    title: str, across: Axis, up: Axis | None, audits: Sequence[SiteAudit], body: Sequence[str]
) -> str:
    height = _HEIGHT + 8 + _LINE * len(audits)
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_FONT} role="img">',
        f"<title>{escape(title)}</title>",
        _text(_WIDTH / 2, 14, title),
    ]
    for mark in across.marks:
        x = _x(across.share(mark))
        parts.append(f'<path d="M{x} {_y(1)}V{_y(0)}" stroke="#e4e4e4"/>')
        parts.append(_text(x, _y(0) + 15, across.written(mark)))
    parts.append(_text(_x(0.5), _y(0) + 32, across.name))
    if up is not None:
        for mark in up.marks:
            y = _y(up.share(mark))
            parts.append(f'<path d="M{_x(0)} {y}H{_x(1)}" stroke="#e4e4e4"/>')
            parts.append(_text(_LEFT - 6, y + 4, up.written(mark), "end"))
        upright = f'transform="translate(12 {_y(0.5)}) rotate(-90)" text-anchor="middle"'
        parts.append(f"<text {upright}>{escape(up.name)}</text>")
    parts.append(f'<path d="M{_x(0)} {_y(1)}V{_y(0)}H{_x(1)}" fill="none" stroke="#888"/>')
    parts += body
    for number, site in enumerate(audits):
        y = _HEIGHT + 12 + _LINE * number
        name = site.url if len(site.url) <= _LONGEST else f"{site.url[: _LONGEST - 1]}…"
        parts.append(
            f'<rect x="{_LEFT}" y="{y - 9}" width="10" height="10" fill="{colour(number)}"/>'
        )
        parts.append(_text(_LEFT + 16, y, name, "start"))
    return "\n".join([*parts, "</svg>"])


def spread_chart(audits: Sequence[SiteAudit], measure: str) -> str:
    """How RFU or BFU is spread over the pages of each site."""
    shares = []
    for site in audits:
        values = [float(getattr(page, measure)) for page in site.pages]
        counts = [0] * _BINS
        for value in values:
            counts[min(int(value * _BINS), _BINS - 1)] += 1
        shares.append([count / max(len(values), 1) for count in counts])
    up = Axis("share of pages", marks(max(map(max, shares), default=0.0)), " %", 100)
    width = 0.9 / _BINS / max(len(audits), 1)
    body = []
    for number, bins in enumerate(shares):
        for place, share in enumerate(bins):
            if share:
                left = place / _BINS + 0.05 / _BINS + number * width
                top = _y(up.share(share))
                body.append(
                    f'<rect x="{_x(left)}" y="{top}" width="{round(_x(width) - _x(0), 1)}"'
                    f' height="{round(_y(0) - top, 1)}" fill="{colour(number)}"/>'
                )
    name = measure.upper()
    return _chart(f"{name} of pages", Axis(name, marks(1.0)), up, audits, body)


def links_chart(audits: Sequence[SiteAudit], most: int = 400) -> str:
    """How often URLs are linked (ID) against the BFU of the links to them."""
    leaders = [leader for site in audits for leader in site.leaders[:most]]
    across = Axis(
        "mean BFU of the links to a URL", marks(max((each.bfu for each in leaders), default=0.0))
    )
    highest = max((leader.pages for leader in leaders), default=0)
    up = Axis("pages that link to it", marks(highest, whole=True))
    body = [
        f'<circle cx="{_x(across.share(leader.bfu))}" cy="{_y(up.share(leader.pages))}" r="3"'
        f' fill="{colour(number)}" fill-opacity="0.45"/>'
        for number, site in enumerate(audits)
        for leader in site.leaders[:most]
    ]
    return _chart("How often URLs are linked, against BFU", across, up, audits, body)


def rtt_chart(audits: Sequence[SiteAudit]) -> str:
    """Round-trip times: lowest to highest, the median marked."""
    known = [(number, site.rtt) for number, site in enumerate(audits) if site.rtt is not None]
    slowest = max((spread.highest for _, spread in known), default=0.0)
    across = Axis("milliseconds", marks(1000 * slowest))
    body = []
    for place, (number, spread) in enumerate(known):
        y = _y(1 - (place + 0.5) / len(known))
        lowest, median, highest = (
            _x(across.share(1000 * seconds))
            for seconds in (spread.lowest, spread.median, spread.highest)
        )
        body.append(
            f'<path d="M{lowest} {y}H{highest}" stroke="{colour(number)}" stroke-width="3"/>'
            f'<circle cx="{median}" cy="{y}" r="5" fill="{colour(number)}"/>'
        )
    title = "Round-trip times, lowest to highest, median marked"
    return _chart(title, across, None, audits, body)
