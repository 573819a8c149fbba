"""Audits side by side: as rows for a terminal, and as one HTML page with its charts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from sonde.audit.charts import colour, links_chart, rtt_chart, spread_chart
from sonde.audit.measuring import SiteAudit, Spread
from sonde.store.replacing import new_folder

_STYLE = """
body { font-family: sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222 }
table { border-collapse: collapse; margin: 1em 0 }
th, td { padding: .2em .7em; border-bottom: 1px solid #ddd; text-align: right }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere }
svg { max-width: 100%; height: auto }
"""


def comparison(audits: Sequence[SiteAudit]) -> list[list[str]]:
    """A row a measure, a column a site."""
    return [
        ["pages (requests)", *(f"{len(site.pages):,} ({site.requests:,})" for site in audits)],
        ["not HTML, or failed", *(f"{site.invalid:,}" for site in audits)],
        ["links", *(f"{site.links:,}" for site in audits)],
        ["distinct domains", *(f"{site.domains:,}" for site in audits)],
        ["distinct basenames", *(f"{site.basenames:,}" for site in audits)],
        ["RFU, median (lowest to highest)", *(_spread(site.rfu) for site in audits)],
        ["BFU, median (lowest to highest)", *(_spread(site.bfu) for site in audits)],
        ["ID with BFU, rank correlation", *(_number(site.id_with_bfu) for site in audits)],
        ["round trip, smoothed ± deviation", *(_round_trip(site) for site in audits)],
        ["round trip, median (lowest to highest)", *(_times(site.rtt) for site in audits)],
        ["order of folders", *(_number(site.order) for site in audits)],
        ["verdict", *(site.level for site in audits)],
    ]


def leader_rows(site: SiteAudit, most: int) -> list[list[str]]:
    """The most linked URLs of a site."""
    return [
        [
            leader.url,
            f"{leader.pages:,}",
            f"{leader.repeats:,}",
            "-" if leader.hop is None else str(leader.hop),
            f"{leader.bfu:.4f}",
        ]
        for leader in site.leaders[:most]
    ]


LEADER_HEADS = ("url", ">pages", ">repeats", ">hop", ">BFU")
_PAGE_HEADS = ("page", ">links", ">domains", ">basenames", ">RFU", ">BFU", ">hop", ">round trip")


def save(audits: Sequence[SiteAudit], folder: Path, most: int = 20) -> None:
    """Write ``audit.html`` and its charts into a new folder."""
    charts = {
        "rfu": spread_chart(audits, "rfu"),
        "bfu": spread_chart(audits, "bfu"),
        "links": links_chart(audits),
        "rtt": rtt_chart(audits),
    }
    with new_folder(folder) as partial:
        for name, chart in charts.items():
            (partial / f"{name}.svg").write_text(chart + "\n", encoding="utf-8")
        page = html(audits, list(charts.values()), most)
        (partial / "audit.html").write_text(page, encoding="utf-8", errors="replace")


def html(audits: Sequence[SiteAudit], charts: Sequence[str], most: int) -> str:
    """One self-contained page."""
    sites = [site.url for site in audits]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Site audit</title>',
        f"<style>{_STYLE}</style></head><body><h1>Site audit</h1>",
        "<ul>",
        *(
            f'<li><b style="color:{colour(number)}">{escape(site.url)}</b>:'
            f" {escape(site.verdict)}</li>"
            for number, site in enumerate(audits)
        ),
        "</ul>",
        _table(["", *(f">{url}" for url in sites)], comparison(audits)),
        *charts,
    ]
    for site in audits:
        parts += [
            f"<h2>{escape(site.url)}</h2><h3>Most linked</h3>",
            _table(LEADER_HEADS, leader_rows(site, most)),
            "<h3>Pages</h3>",
            _table(_PAGE_HEADS, _page_rows(site)),
        ]
    return "\n".join([*parts, "</body></html>", ""])


def _page_rows(site: SiteAudit) -> list[list[str]]:
    return [
        [
            page.url,
            f"{page.links:,}",
            f"{page.domains:,}",
            f"{page.basenames:,}",
            f"{page.rfu:.4f}",
            f"{page.bfu:.4f}",
            str(page.hop),
            "-" if page.rtt is None else _milliseconds(page.rtt),
        ]
        for page in site.pages
    ]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name.removeprefix('>'))}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n" for row in rows
    )
    return f"<table><tr>{head}</tr>\n{body}</table>"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _spread(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    return f"{spread.median:.3f} ({spread.lowest:.3f} to {spread.highest:.3f})"


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.1f} ms"


def _times(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    low, high = _milliseconds(spread.lowest), _milliseconds(spread.highest)
    return f"{_milliseconds(spread.median)} ({low} to {high})"


def _round_trip(site: SiteAudit) -> str:
    if site.rtt_smoothed is None or site.rtt_deviation is None:
        return "-"
    return f"{_milliseconds(site.rtt_smoothed)} ± {_milliseconds(site.rtt_deviation)}"
