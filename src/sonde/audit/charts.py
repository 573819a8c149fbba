"""Charts of audits as SVG, written by hand: a few shapes need no library."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from sonde.audit.measuring import SiteAudit

_COLOURS = ("#3465a4", "#cc7000", "#4e9a06", "#a40000", "#75507b", "#555753")
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 460, 220, 46, 24, 34
_BINS = 10
_FONT = 'font-family="sans-serif" font-size="11"'


def colour(number: int) -> str:
    """The colour of a site, by its place."""
    return _COLOURS[number % len(_COLOURS)]


def _x(share: float) -> float:
    return round(_LEFT + share * (_WIDTH - _LEFT - 10), 1)


def _y(share: float) -> float:
    return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'


def _frame(
    title: str, across: str, up: str, ends: tuple[str, str], top: str, body: Sequence[str]
) -> str:
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    upright = f'transform="translate(12 {_y(0.5)}) rotate(-90)" text-anchor="middle"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_FONT} role="img">',
        f"<title>{escape(title)}</title>",
        _text(_WIDTH / 2, 14, title),
        f'<path d="M{_LEFT} {_TOP}V{_y(0)}H{_WIDTH - 10}" fill="none" stroke="#888"/>',
        _text(_x(0), _HEIGHT - 18, ends[0]),
        _text(_x(1), _HEIGHT - 18, ends[1], "end"),
        _text(_x(0.5), _HEIGHT - 4, across),
        _text(_LEFT - 4, _TOP + 8, top, "end"),
        _text(_LEFT - 4, _y(0), "0", "end"),
        f"<text {upright}>{escape(up)}</text>",
        *body,
        "</svg>",
    ]
    return "\n".join(parts)


def spread_chart(audits: Sequence[SiteAudit], measure: str) -> str:
    """How RFU or BFU is spread over the pages of each site."""
    shares = []
    for site in audits:
        values = [float(getattr(page, measure)) for page in site.pages]
        counts = [0] * _BINS
        for value in values:
            counts[min(int(value * _BINS), _BINS - 1)] += 1
        shares.append([count / max(len(values), 1) for count in counts])
    highest = max((max(bins) for bins in shares), default=0.0) or 1.0
    width = 0.9 / _BINS / max(len(audits), 1)
    body = []
    for number, bins in enumerate(shares):
        for place, share in enumerate(bins):
            if share:
                left = place / _BINS + 0.05 / _BINS + number * width
                top = _y(share / highest)
                body.append(
                    f'<rect x="{_x(left)}" y="{top}" width="{round(_x(width) - _x(0), 1)}"'
                    f' height="{round(_y(0) - top, 1)}" fill="{colour(number)}"/>'
                )
    name = measure.upper()
    return _frame(
        f"{name} of pages", name, "share of pages", ("0", "1"), f"{100 * highest:.0f} %", body
    )


def links_chart(audits: Sequence[SiteAudit], most: int = 400) -> str:
    """How often URLs are linked (ID) against the BFU of the links to them."""
    leaders = [leader for site in audits for leader in site.leaders[:most]]
    furthest = max((leader.bfu for leader in leaders), default=0.0) or 1.0
    highest = max((leader.pages for leader in leaders), default=0) or 1
    body = [
        f'<circle cx="{_x(leader.bfu / furthest)}" cy="{_y(leader.pages / highest)}" r="2.5"'
        f' fill="{colour(number)}" fill-opacity="0.5"/>'
        for number, site in enumerate(audits)
        for leader in site.leaders[:most]
    ]
    return _frame(
        "How often URLs are linked, against BFU",
        "mean BFU of the links to a URL",
        "pages that link to it",
        ("0", f"{furthest:.3g}"),
        f"{highest}",
        body,
    )


def rtt_chart(audits: Sequence[SiteAudit]) -> str:
    """Round-trip times: lowest to highest, the median marked."""
    known = [(number, site.rtt) for number, site in enumerate(audits) if site.rtt is not None]
    slowest = max((spread.highest for _, spread in known), default=0.0) or 1.0
    body = []
    for place, (number, spread) in enumerate(known):
        y = _y(1 - (place + 0.5) / len(known))
        body.append(
            f'<path d="M{_x(spread.lowest / slowest)} {y}H{_x(spread.highest / slowest)}"'
            f' stroke="{colour(number)}" stroke-width="3"/>'
            f'<circle cx="{_x(spread.median / slowest)}" cy="{y}" r="5" fill="{colour(number)}"/>'
        )
    return _frame(
        "Round-trip times, lowest to highest, median marked",
        "milliseconds",
        "sites",
        ("0", f"{1000 * slowest:,.0f}"),
        "",
        body,
    )
