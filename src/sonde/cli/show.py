"""``sonde show``: say what came of a run: the best pages, what was spent on what, hosts, errors,
and why it stopped. Also while the crawl is going on.

example: sonde show run/ --top 20
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sonde.cli._print import amount, counted, harmless, number, print_table
from sonde.cli._progress import fact, label
from sonde.crawling.progress import STOPS
from sonde.crawling.retelling import request_limit
from sonde.metrics import checked_threshold
from sonde.store import summary
from sonde.store.reader import RunReader

_BARS = "▁▂▃▄▅▆▇█"
_CHART = 40


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_folder", metavar="run", type=Path, help="a run folder")
    parser.add_argument("--top", type=_count, default=10, help="best pages (default: %(default)s)")
    parser.add_argument(
        "--translations", action="store_true", help="best pages in all their languages"
    )
    parser.add_argument("--hosts", type=_count, default=10, help="hosts (default: %(default)s)")
    parser.add_argument(
        "--threshold",
        type=float,
        default=0.0,
        metavar="X",
        help="scores above it count as finds (default: 0)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print what came of a run."""
    checked_threshold(args.threshold)
    with RunReader(args.run_folder) as reader:
        if args.json:
            print(json.dumps(as_json(reader, args.top, args.threshold, args.translations)))
        else:
            _print(reader, args.top, args.hosts, args.threshold, args.translations)
    return 0


def as_json(
    reader: RunReader, top: int, threshold: float = 0.0, translations: bool = False
) -> dict[str, Any]:
    """The object that ``--json`` prints; all hosts are in it."""
    merit = summary.merit(reader, threshold)
    return {
        "run": str(reader.folder),
        "stop": reader.stop,
        "budget": request_limit(reader),
        "source": (reader.meta("config") or {}).get("source", "web"),
        "facts": reader.meta("facts") or {},
        **asdict(summary.totals(reader)),
        "best": [
            asdict(page) for page in summary.best_pages(reader, top, translations=translations)
        ],
        "spend": [asdict(reason) for reason in summary.reasons(reader)],
        "hosts": [asdict(host) for host in summary.hosts(reader)],
        "robots_unreachable": summary.unreachable(reader),
        "refused_by_reason": summary.refusals(reader),
        "flags": summary.flags(reader),
        "records": summary.records(reader),
        "ranks": asdict(summary.ranks(reader)),
        "threshold": threshold,
        "merit": None if merit is None else asdict(merit),
        "harvest": [asdict(point) for point in summary.harvest(reader)],
    }


def _print(
    reader: RunReader, top: int, most_hosts: int, threshold: float, translations: bool
) -> None:
    totals = summary.totals(reader)
    stop = harmless(reader.stop or "")
    meaning = STOPS.get(stop, stop) or "not finished"
    if stop and not meaning.startswith("stopped"):
        meaning = f"stopped: {meaning}"
    print(f"{reader.folder}: {meaning}")
    limit = request_limit(reader)
    units = units_of(reader)
    spent = counted(totals.requests, *units)
    if limit is not None:
        spent = f"{totals.requests:,} of {counted(limit, *units)}"
    received = f" and {amount(totals.bytes)}" if totals.bytes else ""
    print(
        f"{counted(totals.visits, 'visit')} brought {number(totals.value)} for {spent}{received}"
        f"{_span(totals)}"
    )
    print(
        f"{totals.known:,} {_nodes(reader)} known, {totals.frontier:,} of them still on the"
        f" frontier; {totals.refused:,} refused"
    )
    facts = reader.meta("facts") or {}
    if facts:
        print(", ".join(f"{label(name)} {fact(value)}" for name, value in facts.items()))
    if totals.in_flight:
        print(f"{counted(totals.in_flight, *units)} in flight")
    _print_harvest(reader)
    merit = summary.merit(reader, threshold)
    if merit is not None:
        print(
            f"harvest rate {merit.harvest_rate:.3f} (scores above {threshold:g}), efficiency"
            f" {merit.efficiency:.3f} (of the same visits best first), GPR {merit.gpr:.3f}"
        )
    _print_ranks(reader)
    best = summary.best_pages(reader, top, translations=translations)
    if best:
        several = nouns_of(reader)[1]
        print(f"\nbest {several}")
        print_table(
            (">score", ">predicted", "url" if several == "pages" else nouns_of(reader)[0], "title"),
            [
                (number(page.score), number(page.predicted), page.url, harmless(page.title, 60))
                for page in best
            ],
        )
    print("\nspend")
    fetched = units[0] == "request"  # and not asked by a person: then there are bytes and times
    print_table(
        ("outcome", "reason", ">times", f">{units[1]}", *(">received", ">seconds")[: 2 * fetched]),
        [
            (
                row.outcome,
                row.reason or "-",
                f"{row.leases:,}",
                f"{row.requests:,}",
                *(amount(row.bytes), f"{row.seconds:,.1f}")[: 2 * fetched],
            )
            for row in summary.reasons(reader)
        ],
    )
    _print_hosts(reader, most_hosts)
    for title, counts in (
        (f"{_nodes(reader)} not taken", summary.refusals(reader)),
        ("pages marked", summary.flags(reader)),
        ("records", summary.records(reader)),
    ):
        if counts:
            print(f"\n{title}: " + ", ".join(f"{harmless(k)} {v:,}" for k, v in counts.items()))


def nouns_of(reader: RunReader) -> tuple[str, str]:
    """What the nodes of the run are called, one and several."""
    config = reader.meta("config") or {}
    one, several = config.get("kind", {}).get("nouns", ("page", "pages"))
    return harmless(one, 40), harmless(several, 40)


def units_of(reader: RunReader) -> tuple[str, str]:
    """What the budget of the run counts, one and several."""
    config = reader.meta("config") or {}
    one, several = config.get("kind", {}).get("units", ("request", "requests"))
    return harmless(one, 40), harmless(several, 40)


def _nodes(reader: RunReader) -> str:
    several = nouns_of(reader)[1]
    return "URLs" if several == "pages" else several


def _print_hosts(reader: RunReader, most: int) -> None:
    hosts = summary.hosts(reader)
    if not hosts:
        return
    print(f"\nhosts ({min(most, len(hosts))} of {len(hosts):,})")
    print_table(
        ("host", ">requests", ">failures", ">visits", ">value", ">received", ">rtt", ">delay"),
        [
            (
                row.host,
                f"{row.requests:,}",
                f"{row.failures:,}",
                f"{row.visits:,}",
                number(row.value),
                amount(row.bytes),
                "-" if row.rtt is None else f"{row.rtt * 1000:,.0f} ms",
                "-" if row.delay is None else f"{row.delay:g} s",
            )
            for row in hosts[:most]
        ],
    )
    closed = summary.unreachable(reader)
    if closed:
        some = [f"{harmless(origin)} {harmless(why)}" for origin, why in closed.items()][:most]
        print(f"\nrobots.txt out of reach ({len(some)} of {len(closed):,}): {', '.join(some)}")


def _print_harvest(reader: RunReader) -> None:
    curve = summary.harvest(reader, _CHART)
    if not curve or curve[-1].requests == 0:
        return
    last = curve[-1]
    heights = [
        _BARS[round(point.value / last.value * (len(_BARS) - 1))] if last.value else _BARS[0]
        for point in curve
    ]
    middle = curve[len(curve) // 2]
    late = last.requests - middle.requests
    recent = f", {(last.value - middle.value) / late:.3f} in the second half" if late else ""
    unit = units_of(reader)[0]
    print(f"harvest {''.join(heights)} {last.value / last.requests:.3f} a {unit}{recent}")


def _print_ranks(reader: RunReader) -> None:
    ranks = summary.ranks(reader)
    if not ranks.picks:
        return
    beyond = f", {ranks.beyond:,} beyond {summary.RANKED}" if ranks.beyond else ""
    mean = "" if ranks.mean is None else f", rank {ranks.mean:.1f} on average{beyond}"
    polite = (reader.meta("config") or {}).get("kind", {}).get("grouped", True)
    print(
        f"{'politeness' if polite else 'order'}: {ranks.first / ranks.picks:.0%} of"
        f" {ranks.picks:,} picks were the best of all{mean}"
    )


def _span(totals: summary.Totals) -> str:
    if totals.started is None or totals.ended is None:
        return ""
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(totals.started))
    return f", from {began} on, for {totals.ended - totals.started:,.0f} s"


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)
