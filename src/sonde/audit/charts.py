"""Charts of audits as SVG, written by hand: a few shapes need no library.

Every chart has a legend of its own, since it may be looked at alone, and colours for dark screens
as well. Shares that are divided by a number of folders or domains stand on a square-root scale: k
folders with equally many links have BFU 1 / k², which is 1 / k of the way along.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from sonde.audit.measuring import FAIRLY, WELL, SiteAudit

_COLOURS = ("#3b7dd8", "#d97706", "#2e9e5b", "#d6455d", "#8b63c7", "#7a8290")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 480, 250, 60, 20, 34, 42
_LINE = 18  # of the legend
_LONGEST = 52  # letters of a line of the legend
_BINS = 10
_STYLE = """
.paper { fill: #fff } .ink { fill: #24292f } .soft { fill: #656d76 }
.grid { stroke: #e3e6ea; fill: none } .axis { stroke: #8c959f; fill: none } .band { fill: #eef1f4 }
text { font: 12px system-ui, sans-serif } .title { font-size: 14px; font-weight: 600 }
@media (prefers-color-scheme: dark) {
.paper { fill: #16191d } .ink { fill: #e6e8eb } .soft { fill: #9aa4b0 }
.grid { stroke: #2e343b } .axis { stroke: #6b7682 } .band { fill: #22272d } }
"""


def colour(number: int) -> str:
    """The colour of a site, by its place."""
    return _COLOURS[number % len(_COLOURS)]


def short_names(audits: Sequence[SiteAudit]) -> list[str]:
    """What sites are called: their URLs without the scheme, where that tells them apart."""
    names = [site.url.partition("://")[2].rstrip("/") for site in audits]
    return names if len(set(names)) == len(names) else [site.url for site in audits]


@dataclass(frozen=True)
class Axis:
    """What is measured along it, where it is marked, and how far along a value is."""

    name: str
    marks: Sequence[float]
    unit: str = ""
    times: float = 1.0
    scale: Callable[[float], float] = float
    foot: float = 0.0  # room below the first mark

    def share(self, value: float) -> float:
        """How far along a value is, between 0 and 1."""
        start, end = self.scale(self.marks[0]), self.scale(self.marks[-1])
        return self.foot + (1 - self.foot) * (self.scale(value) - start) / (end - start)

    def written(self, mark: float) -> str:
        return f"{self.times * mark:,.10g}{self.unit}"


def marks(highest: float) -> tuple[float, ...]:
    """Round numbers from 0 to the first that is not below `highest`, four to seven of them.

    >>> marks(0.97)
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """
    highest = highest if highest > 0 else 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    step = next(s * power for s in (0.2, 0.5, 1.0, 2.0) if s * power * 6 >= highest * (1 - 1e-9))
    count = math.ceil(highest / step * (1 - 1e-9))
    return tuple(float(f"{place * step:.12g}") for place in range(count + 1))


def doublings(highest: float) -> tuple[float, ...]:
    """Numbers from 1 to one that is not below `highest`, by a constant factor, at most seven
    of them.

    >>> doublings(57)
    (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
    """
    for times in (2.0, 4.0, 10.0, 100.0):
        count = max(1, math.ceil(math.log(max(highest, 1.0), times) - 1e-9))
        if count <= 6:
            break
    return tuple(times**power for power in range(count + 1))


def decades(lowest: float, highest: float) -> tuple[float, ...]:
    """Powers of ten around a range, from a thousandth on.

    >>> decades(0.4, 60)
    (0.1, 1.0, 10.0, 100.0)
    """
    start = math.floor(math.log10(max(lowest, 0.001)))
    end = max(start + 1, math.ceil(math.log10(max(highest, 0.001))))
    return tuple(float(f"1e{power}") for power in range(start, end + 1))


_ROOTS = (0.0, 0.01, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)


def _x(share: float) -> float:
    return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)


def _y(share: float) -> float:
    return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)


def _text(x: float, y: float, words: str, anchor: str = "middle", look: str = "soft") -> str:
    return f'<text class="{look}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'


def _chart(
    title: str, across: Axis, up: Axis | None, legend: Sequence[str], body: Sequence[str]
) -> str:
    height = _HEIGHT + 10 + _LINE * len(legend)
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    named = f'role="img" aria-label="{escape(title)}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {named}>',
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{_WIDTH}" height="{height}"/>',
        _text(_LEFT, 18, title, "start", "ink title"),
    ]
    for mark in across.marks:
        x = _x(across.share(mark))
        parts.append(f'<path class="grid" d="M{x} {_y(1)}V{_y(0)}"/>')
        parts.append(_text(x, _y(0) + 16, across.written(mark)))
    parts.append(_text(_x(0.5), _y(0) + 34, across.name))
    if up is not None:
        for mark in up.marks:
            y = _y(up.share(mark))
            parts.append(f'<path class="grid" d="M{_x(0)} {y}H{_x(1)}"/>')
            parts.append(_text(_LEFT - 7, y + 4, up.written(mark), "end"))
        upright = f'transform="translate(14 {_y(0.5)}) rotate(-90)" text-anchor="middle"'
        parts.append(f'<text class="soft" {upright}>{escape(up.name)}</text>')
    parts.append(f'<path class="axis" d="M{_x(0)} {_y(1)}V{_y(0)}H{_x(1)}"/>')
    parts += body
    for number, words in enumerate(legend):
        y = _HEIGHT + 14 + _LINE * number
        shown = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
        swatch = f'<rect x="{_LEFT}" y="{y - 10}" width="11" height="11" rx="2"'
        parts.append(f'{swatch} fill="{colour(number)}"/>')
        parts.append(_text(_LEFT + 18, y, shown, "start", "ink"))
    return "\n".join([*parts, "</svg>"])


def order_chart(audits: Sequence[SiteAudit]) -> str:
    """The order of each site's folders, on the scale of the verdicts."""
    across = Axis("order of folders", marks(1.0))
    body = []
    for words, start, end in (("poorly", 0, FAIRLY), ("fairly", FAIRLY, WELL), ("well", WELL, 1)):
        if words == "fairly":
            left, width = _x(start), round(_x(end) - _x(start), 1)
            body.append(
                f'<rect class="band" x="{left}" y="{_y(1)}" width="{width}"'
                f' height="{round(_y(0) - _y(1), 1)}"/>'
            )
        body.append(_text(_x((start + end) / 2), _y(1) + 14, words))
    legend = []
    for number, (name, site) in enumerate(zip(short_names(audits), audits, strict=True)):
        legend.append(f"{_cut(name)}: {site.level}")
        y = _y(0.85 * (1 - (number + 0.5) / len(audits)))
        if site.order is not None:
            x = _x(min(max(site.order, 0.0), 1.0))
            body.append(f'<path d="M{_x(0)} {y}H{x}" stroke="{colour(number)}" stroke-width="4"/>')
            body.append(f'<circle cx="{x}" cy="{y}" r="6" fill="{colour(number)}"/>')
            room = x < _x(0.85)
            body.append(
                _text(x + (11 if room else -11), y + 4, f"{site.order:.2f}", "start", "ink")
                if room
                else _text(x - 11, y - 6, f"{site.order:.2f}", "end", "ink")
            )
        else:
            body.append(
                _text(
                    _x(0) + 8,
                    y + 4,
                    "none" if site.level == "unknown" else "none: one folder",
                    "start",
                )
            )
    return _chart("How well links keep to folders", across, None, legend, body)


def distribution_chart(audits: Sequence[SiteAudit], measure: str) -> str:
    """How RFU or BFU is distributed over the pages of each site."""
    shares = []
    for site in audits:
        values = [float(getattr(page, measure)) for page in site.pages]
        bins = Counter(min(int(math.sqrt(value) * _BINS + 1e-9), _BINS - 1) for value in values)
        shares.append([bins[place] / max(len(values), 1) for place in range(_BINS)])
    up = Axis("share of pages", marks(max(map(max, shares), default=0.0)), " %", 100)
    width = 0.9 / _BINS / max(len(audits), 1)
    body = []
    for number, heights in enumerate(shares):
        for place, share in enumerate(heights):
            if share:
                left = place / _BINS + 0.05 / _BINS + number * width
                top = _y(up.share(share))
                body.append(
                    f'<rect x="{_x(left)}" y="{top}" width="{round(_x(width) - _x(0), 1)}"'
                    f' height="{round(_y(0) - top, 1)}" fill="{colour(number)}"/>'
                )
    name = measure.upper()
    across = Axis(f"{name} (square-root scale)", _ROOTS, scale=math.sqrt)
    return _chart(f"{name} of pages", across, up, short_names(audits), body)


def links_chart(audits: Sequence[SiteAudit]) -> str:
    """How often URLs are linked (ID) against the BFU of the links to them."""
    highest = max((site.leaders[0].pages for site in audits if site.leaders), default=1)
    across = Axis("mean BFU of the links to a URL (square-root scale)", _ROOTS, scale=math.sqrt)
    up = Axis("pages that link to it", doublings(highest), scale=math.log, foot=0.08)
    body = []
    legend = []
    for number, (name, site) in enumerate(zip(short_names(audits), audits, strict=True)):
        points = Counter(
            (_x(across.share(leader.bfu)), _y(up.share(leader.pages))) for leader in site.leaders
        )
        body += [
            f'<circle cx="{x}" cy="{y}" r="{min(2.5 + math.log2(count), 7):.1f}"'
            f' fill="{colour(number)}" fill-opacity="0.5"/>'
            for (x, y), count in points.items()
        ]
        tie = "none" if site.id_with_bfu is None else f"{site.id_with_bfu:.2f}"
        legend.append(f"{_cut(name)}: rank correlation {tie}")
    return _chart("How often URLs are linked (ID), against BFU", across, up, legend, body)


def rtt_chart(audits: Sequence[SiteAudit]) -> str:
    """Round-trip times of each site's pages: lowest to highest, quartiles, and the median."""
    known = [site.rtt for site in audits if site.rtt is not None]
    scale = decades(
        1000 * min((rtt.lowest for rtt in known), default=0.001),
        1000 * max((rtt.highest for rtt in known), default=0.001),
    )
    across = Axis("milliseconds (logarithmic scale)", scale, scale=math.log)
    body = []
    for number, site in enumerate(audits):
        y = _y(1 - (number + 0.5) / len(audits))
        if site.rtt is None:
            body.append(_text(_x(0) + 8, y + 4, "no answer", "start"))
            continue
        spread = (
            site.rtt.lowest,
            site.rtt.lower,
            site.rtt.median,
            site.rtt.upper,
            site.rtt.highest,
        )
        lowest, lower, median, upper, highest = (
            _x(across.share(max(1000 * seconds, scale[0]))) for seconds in spread
        )
        shade = colour(number)
        body += [
            f'<path d="M{lowest} {y}H{highest}" stroke="{shade}" stroke-width="2"/>',
            f'<path d="M{lower} {y}H{upper}" stroke="{shade}" stroke-width="12" opacity="0.5"/>',
            f'<circle cx="{median}" cy="{y}" r="5" fill="{shade}"/>',
        ]
    title = "Round-trip times: range, quartiles, median"
    return _chart(title, across, None, short_names(audits), body)


def _cut(name: str) -> str:
    """A name that leaves room for words behind it."""
    return name if len(name) <= 28 else f"{name[:27]}…"
