"""The audit report: sites side by side, as rows for a terminal and as an HTML page with charts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from sonde.audit.charts import (
    colour,
    distribution_chart,
    links_chart,
    order_chart,
    rtt_chart,
    short_names,
)
from sonde.audit.measuring import Distribution, SiteAudit

_STYLE = """
:root { color-scheme: light dark; --ink: #24292f; --soft: #656d76; --paper: #fff; --line: #d8dde3;
  --card: #f6f8fa }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e8eb; --soft: #9aa4b0; --paper: #16191d; --line: #343b43; --card: #1e2329 } }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--ink); background: var(--paper) }
h1 { margin-bottom: 0 } h2 { margin-top: 2.5rem; overflow-wrap: anywhere }
a { color: inherit; text-decoration-color: var(--soft) }
.soft, small { color: var(--soft) }
.cards, .charts { display: grid; gap: 1rem; margin: 1.5rem 0;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)) }
.card { border: 1px solid var(--line); border-left: 6px solid; border-radius: 6px; padding: 1rem;
  background: var(--card) }
.card p { margin: .4rem 0 0 } .card b { overflow-wrap: anywhere }
.level { display: block; font-size: 1.3rem; font-weight: 600 }
.charts svg { width: 100%; height: auto }
.wide { overflow-x: auto }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .75rem; border-bottom: 1px solid var(--line); text-align: right;
  vertical-align: top; white-space: nowrap }
th { font-weight: 600; overflow-wrap: anywhere; white-space: normal; max-width: 18rem }
.sites th + th { min-width: 10rem }
th:first-child, td:first-child { text-align: left; padding-left: 0 }
td.url { overflow-wrap: anywhere; white-space: normal; min-width: 14rem }
@media (max-width: 44rem) { td:first-child { white-space: normal; min-width: 8rem } }
summary { cursor: pointer; font-weight: 600; margin: 1rem 0 }
dt { font-weight: 600; margin-top: .6rem } dd { margin-left: 0 }
"""

_QUESTION = "How well organised for focused crawling: do URLs say where links lead?"
_WORDS = {
    "RFU": "The share of a page's links that have the page's own domain, divided by the number of"
    " distinct domains among them: 1 where all stay, 1/4 where half go to one other domain.",
    "BFU": "The same with basenames, that is folders: the URL up to the last slash of its path.",
    "ID": "How many pages link to a URL; further links on the same page are counted apart, as"
    " repeats. URLs that turned out not to be HTML pages do not count. ID with BFU, a rank"
    " correlation, says whether URLs that share their folder with many of a page's links are linked"
    " more often (1), less often (-1) or neither (0).",
    "RTT": "Round-trip time, from sending a request to the head of its answer. Smoothed mean and"
    " deviation as TCP keeps them, of the host asked most; median and range over pages.",
    "Order of folders": "How much more than links at large a page's links stay in its own folder:"
    " 0 where folders say nothing of where links lead, 1 where they say everything.",
}


def comparison(audits: Sequence[SiteAudit]) -> list[list[str]]:
    """A row a measure, a column a site."""
    return [
        ["pages read", *(f"{len(site.pages):,}" for site in audits)],
        ["requests spent", *(f"{site.requests:,}" for site in audits)],
        ["not HTML, or failed", *(f"{site.invalid:,}" for site in audits)],
        ["links", *(f"{site.links:,}" for site in audits)],
        ["distinct domains", *(f"{site.domains:,}" for site in audits)],
        ["distinct basenames", *(f"{site.basenames:,}" for site in audits)],
        ["RFU, median", *(_median(site.rfu) for site in audits)],
        ["RFU, range", *(_range(site.rfu) for site in audits)],
        ["BFU, median", *(_median(site.bfu) for site in audits)],
        ["BFU, range", *(_range(site.bfu) for site in audits)],
        ["ID with BFU", *(_number(site.id_with_bfu) for site in audits)],
        ["RTT, smoothed ± deviation", *(_round_trip(site) for site in audits)],
        ["RTT, median", *(_time(site.rtt.median if site.rtt else None) for site in audits)],
        ["RTT, range", *(_times(site.rtt) for site in audits)],
        ["links that stay in a folder", *(_share(site, site.stay) for site in audits)],
        ["... by chance", *(_share(site, site.chance) for site in audits)],
        ["order of folders", *(_number(site.order) for site in audits)],
        ["verdict", *(site.level for site in audits)],
    ]


LEADER_HEADS = ("url", ">pages", ">repeats", ">hop", ">BFU")
_PAGE_HEADS = ("page", ">links", ">domains", ">basenames", ">RFU", ">BFU", ">hop", ">RTT")
_HOST_HEADS = ("host", ">requests", ">RTT, smoothed", ">deviation")


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


def unread(site: SiteAudit) -> str:
    """Why URLs were not read, the most frequent reason first."""
    return ", ".join(f"{reason} {count:,}" for reason, count in site.unread.items())


def write(audits: Sequence[SiteAudit], folder: Path, most: int = 20) -> None:
    """Write ``audit.html`` and its charts into a folder."""
    charts = {
        "order": order_chart(audits),
        "links": links_chart(audits),
        "rfu": distribution_chart(audits, "rfu"),
        "bfu": distribution_chart(audits, "bfu"),
        "rtt": rtt_chart(audits),
    }
    for name, chart in charts.items():
        (folder / f"{name}.svg").write_text(chart + "\n", encoding="utf-8")
    page = html(audits, list(charts.values()), most)
    (folder / "audit.html").write_text(page, encoding="utf-8", errors="replace")


def html(audits: Sequence[SiteAudit], charts: Sequence[str], most: int) -> str:
    """One self-contained page."""
    names = short_names(audits)
    when = audits[0].polled[:16].replace("T", " ") if audits else ""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>Site audit: {escape(', '.join(names))}</title>",
        f"<style>{_STYLE}</style></head><body><h1>Site audit</h1>",
        f'<p class="soft">{_QUESTION} Polled breadth first, {when} UTC.</p>',
        '<div class="cards">',
        *(_card(number, site) for number, site in enumerate(audits)),
        "</div>",
        '<div class="sites">',
        _table(["", *(f">{name}" for name in names)], comparison(audits)),
        "</div>",
        '<div class="charts">',
        *charts,
        "</div><h2>In words</h2><dl>",
        *(f"<dt>{term}</dt><dd>{escape(meaning)}</dd>" for term, meaning in _WORDS.items()),
        "</dl>",
    ]
    for site in audits:
        parts += [
            f"<h2>{_link(site.url)}</h2><h3>Most linked</h3>",
            _table(LEADER_HEADS, leader_rows(site, most)),
            f"<details><summary>{len(site.pages):,} pages</summary>",
            _table(_PAGE_HEADS, _page_rows(site)),
            "</details>",
        ]
        if len(site.hosts) > 1:
            parts += ["<h3>Hosts</h3>", _table(_HOST_HEADS, _host_rows(site))]
        if site.unread:
            parts.append(f"<p><b>Not read:</b> {escape(unread(site))}</p>")
    return "\n".join([*parts, "</body></html>", ""])


def _card(number: int, site: SiteAudit) -> str:
    _, _, why = site.verdict.partition(": ")
    return (
        f'<div class="card" style="border-left-color: {colour(number)}"><b>{_link(site.url)}</b>'
        f' <span class="level">{escape(site.level.capitalize())}</span>'
        f"<p>{escape(why[:1].upper() + why[1:])}.</p></div>"
    )


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
            _time(page.rtt),
        ]
        for page in site.pages
    ]


def _host_rows(site: SiteAudit) -> list[list[str]]:
    return [
        [host.host, f"{host.requests:,}", _time(host.rtt), _time(host.deviation)]
        for host in site.hosts
    ]


def _link(url: str) -> str:
    """A URL to click on; all are http or https."""
    return f'<a href="{escape(url)}" rel="noreferrer">{escape(url)}</a>'


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{_breakable(name.removeprefix('>'))}</th>" for name in heads)
    body = "".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>\n" for row in rows)
    return f'<div class="wide"><table><tr>{head}</tr>\n{body}</table></div>'


def _breakable(name: str) -> str:
    """A name of a site that may go on in the next line behind a dot."""
    return escape(name).replace(".", ".<wbr>")


def _cell(text: str) -> str:
    if text.startswith(("http://", "https://")):
        return f'<td class="url">{_link(text)}</td>'
    return f"<td>{escape(text)}</td>"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _share(site: SiteAudit, value: float) -> str:
    return "-" if not site.pages else f"{100 * value:.0f} %"


def _median(found: Distribution | None) -> str:
    return "-" if found is None else f"{found.median:.3f}"


def _range(found: Distribution | None) -> str:
    return "-" if found is None else f"{found.lowest:.3f} to {found.highest:.3f}"


def _milliseconds(seconds: float) -> str:
    """With three digits or so."""
    milliseconds = 1000 * seconds
    digits = 2 if milliseconds < 10 else 1 if milliseconds < 100 else 0
    return f"{milliseconds:,.{digits}f}"


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else f"{_milliseconds(seconds)} ms"


def _times(found: Distribution | None) -> str:
    return "-" if found is None else f"{_milliseconds(found.lowest)} to {_time(found.highest)}"


def _round_trip(site: SiteAudit) -> str:
    if site.rtt_smoothed is None or site.rtt_deviation is None:
        return "-"
    return f"{_milliseconds(site.rtt_smoothed)} ± {_time(site.rtt_deviation)}"
