"""``sonde crawl``: spend a budget of requests on the pages that promise most.

examples:
  sonde crawl https://a.example https://b.example/docs --topic "sea level" --budget 500 -o run/
  sonde crawl --config crawl.toml -o run/
  sonde crawl - --topic "tide gauge" --budget 500 -o run/ < seeds.tsv
  sonde crawl https://a.example --question "how is sea level measured?" --budget 500 -o run/
  sonde crawl run/ --resume --budget +500
  sonde crawl https://a.example --topic "tide gauge" --requests 300 --per 15m --for 7d -o run/
  sonde crawl SOURCE:PLACE NODE NODE --option NAME=VALUE --topic "tide gauge" --budget 500 -o run/

A secret (password, cookie, token) is given as env:VARIABLE or file:PATH, and belongs to one host:
  --auth "a.example me:env:PASSWORD"  --header "a.example X-Token: file:token"
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

from sonde.cli._print import counted, harmless
from sonde.cli._progress import Display, display_for, duration
from sonde.cli._signals import heeding_signals
from sonde.crawling import STOPS, Crawl, CrawlResult, Settings, read_config
from sonde.crawling.crawler import new_loop
from sonde.crawling.settings import SETTINGS, Setting
from sonde.crawling.setup import CrawlRequest
from sonde.errors import InputError
from sonde.net.urls import host_of
from sonde.sources.kinds import chosen, kind_named
from sonde.sources.options import as_data, texts_to_data
from sonde.sources.web.url_shapes import shapes_of
from sonde.store import summary
from sonde.store.answer import written
from sonde.store.atomic import new_file
from sonde.store.reader import DATABASE, RunReader

_TICK = 0.25
_SHOWN = 5
_HINTS = {
    "blocked-address": "--allow-private is for servers of your own network",
    "tls": "--ca-file names certificates to trust beside the system's",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "seeds",
        nargs="*",
        metavar="URL",
        help="where to start, or another source than the Web (such as mastodon:mastodon.example)"
        " and then nodes of it; - reads lines; a run to resume",
    )
    add(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of a source that is not the Web",
    )
    add("-o", "--output", metavar="RUN", help="the run folder to make")
    add("--config", metavar="FILE", help="settings in TOML; options given here come first")
    add("--resume", action="store_true", help="go on with the run folder that is named")
    add("--dry-run", action="store_true", help="say what would be done and what it would cost")
    add("--json", action="store_true", help="print events, one JSON object a line")

    add_settings(parser)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add an option for each setting, under the heading of its family."""
    groups: dict[str, argparse._ArgumentGroup] = {}
    for each in fields(Settings):
        declared = SETTINGS[each.name]
        if declared.family not in groups:
            groups[declared.family] = parser.add_argument_group(declared.family)
        if declared.flag is not None:
            flag = declared.flag or f"--{each.name.replace('_', '-')}"
            groups[declared.family].add_argument(flag, dest=each.name, **_spelling(each, declared))
        elif each.name == "harvest_below":  # one option for two settings
            groups[declared.family].add_argument(
                "--stop-when-harvest-below",
                nargs="+",
                metavar=("X", "over N"),
                help="end when a request brings less than X on average, over the last N"
                " requests (default: 200)",
            )


def _spelling(setting: Field[Any], declared: Setting) -> dict[str, Any]:
    """How the option of a setting is read."""
    said = declared.help or ""
    if setting.default not in (None, ()) and not isinstance(setting.default, bool):
        default = setting.default
        said += (
            f" (default: {default:g})" if isinstance(default, float) else f" (default: {default})"
        )
    told: dict[str, Any] = {"help": said}
    if isinstance(setting.default, bool):
        action = "store_false" if setting.default else "store_true"
        return told | {"action": action, "default": None}
    told |= {"metavar": declared.metavar, "choices": declared.choices}
    if isinstance(setting.default, tuple):
        told["action"] = "append"
    elif setting.name != "budget":  # +N is no number
        kinds = str(setting.type).split(" | ")
        told["type"] = str if "str" in kinds else int if "int" in kinds else float
    if declared.const is not None:
        told |= {"nargs": "?", "const": declared.const}
    return told


def run(args: argparse.Namespace) -> int:
    """Crawl, or say what would be done."""
    if args.skip == ["list"]:
        return _list_presets()
    given = {name: value for name in SETTINGS if (value := getattr(args, name, None)) is not None}
    given |= _harvest(args.stop_when_harvest_below)
    seeds = _lines() if args.seeds == ["-"] else list(args.seeds)
    if args.resume:
        return _resume(args, seeds, given)
    written: dict[str, Any] = {}
    if args.config is not None:
        config = read_config(args.config)
        seeds = seeds or config.starts
        written = config.options
        given = {**config.settings, **given}
    if len(seeds) == 1 and (Path(seeds[0]) / DATABASE).exists():
        raise InputError(f"{seeds[0]} is a run already: add --resume to go on with it")
    if "budget" in given:
        given["budget"] = _count(given["budget"])
    kind = chosen(seeds, {}).kind
    options = {**written, **texts_to_data(kind.options, args.option)}
    if args.dry_run:
        return _dry_run(CrawlRequest.of(chosen(seeds, options), given), args)
    if not seeds:
        raise InputError("name a URL to start from, or several (see sonde crawl --help)")
    if args.output is None:
        raise InputError("name a folder for the run: -o run/")
    display = display_for(as_json=args.json)
    crawl = Crawl(seeds, options=options, path=args.output, on_event=display.heard, **given)
    return _drive(crawl, display, args.output, as_json=args.json)


def _resume(args: argparse.Namespace, seeds: list[str], given: dict[str, Any]) -> int:
    if len(seeds) != 1:
        raise InputError("name the one run folder to resume")
    budget = given.pop("budget", None)
    options: dict[str, Any] = {}
    if args.option:
        with RunReader(Path(seeds[0])) as reader:
            kind = kind_named((reader.meta("config") or {}).get("source", "web"))
        options = texts_to_data(kind.options, args.option)
    display = display_for(as_json=args.json)
    crawl = Crawl.resume(seeds[0], options=options, budget=budget, on_event=display.heard, **given)
    return _drive(crawl, display, seeds[0], as_json=args.json)


def _drive(crawl: Crawl, display: Display, folder: str, *, as_json: bool) -> int:
    loop = new_loop()
    try:
        result = loop.run_until_complete(_watched(crawl, display))
    finally:
        display.close()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    if not as_json:
        session = crawl.session
        _print_best(result, session is not None and len(session.settings.languages) > 1)
    if crawl.session is not None and crawl.session.settings.question is not None:
        _write_passages(result, Path(folder))
    return _say_end(crawl, result, folder)


async def _watched(crawl: Crawl, display: Display) -> CrawlResult:
    """Run with the display kept up, and with Ctrl-C understood."""
    with heeding_signals(crawl, "what is"):
        task = asyncio.create_task(crawl.run())
        while not task.done():
            await asyncio.wait([task], timeout=_TICK)
            if not task.done():
                display.tick(crawl)
        result = task.result()
        if crawl.session is not None and crawl.session.notice:
            print(harmless(crawl.session.notice), file=sys.stderr)
        return result


def _list_presets() -> int:
    """What --skip can name, and the patterns behind each name."""
    from sonde.sources.web.rules import PRESETS

    for name, preset in PRESETS.items():
        print(f"{name}: {preset.summary}")
        print("  " + "  ".join(preset.patterns))
    return 0


def _lines() -> list[str]:
    """The first column of each line of standard input."""
    columns = (line.split("\t")[0].strip() for line in sys.stdin)
    return [column for column in columns if column and not column.startswith("#")]


def _count(text: object) -> int:
    try:
        return int(str(text))
    except ValueError:
        raise InputError(f"a budget is a number of requests, not {text!r}") from None


def _harvest(words: list[str] | None) -> dict[str, Any]:
    if not words:
        return {}
    numbers = [word for word in words if word != "over"]
    try:
        if len(numbers) not in (1, 2):
            raise ValueError
        told: dict[str, Any] = {"harvest_below": float(numbers[0])}
        if len(numbers) == 2:
            told["harvest_over"] = int(numbers[1])
    except ValueError:
        raise InputError(
            "--stop-when-harvest-below takes a number, or X over N, as in: 0.05 over 200"
        ) from None
    return told


def _dry_run(request: CrawlRequest, args: argparse.Namespace) -> int:
    """What would be done, and what it would cost. Nothing is sent."""
    kind, settings, seeds = request.kind, request.settings, request.seeds
    limits = settings.limits
    budget = {"requests": limits.requests, "bytes": limits.bytes, "seconds": limits.seconds}
    options = as_data(request.options)
    plan = kind.plan(request.options, settings, seeds, limits.requests)
    if args.json:
        told = {"source": kind.name, "options": options, "seeds": seeds, **plan}
        print(json.dumps({**told, "budget": budget, "folder": args.output}))
        return 0
    print(f"would start from {_some(seeds)} of {kind.name}")
    for name, value in {**options, **plan}.items():
        if value in ("", [], None):
            continue
        said = f"about {duration(value)}" if name.startswith("seconds") else str(value)
        label = name.replace("_", " ").replace("seconds", "time", 1)
        print(f"{label}: {harmless(said, 300)}")
    _print_limits(budget)
    return 0


def _some(seeds: list[str]) -> str:
    named = ", ".join(harmless(seed, 60) for seed in seeds[:5])
    return named if len(seeds) <= 5 else f"{named} and {len(seeds) - 5:,} more nodes"


def _print_limits(budget: dict[str, Any]) -> None:
    limits = [f"{value:,} {unit}" for unit, value in budget.items() if value is not None]
    print(f"budget: {', '.join(limits) or 'none: until nothing is left'}")


# -- when it has ended -----------------------------------------------------------------------------


def _print_best(result: CrawlResult, translations: bool) -> None:
    """The best pages that score, a line each."""
    for page in result.best(10, translations=translations):
        if page["score"] > 0:
            title = harmless(page["title"], 60)
            print(f"{page['score']:.3f}\t{harmless(page['node'])}\t{title}")


def _write_passages(result: CrawlResult, folder: Path) -> None:
    """Leave the answer to the question in the run folder."""
    found = result.answer()
    path = folder / "passages.md"
    stopped = STOPS.get(result.stop_reason, result.stop_reason)
    with new_file(path) as partial:
        partial.write_text(written(found, path, stopped), encoding="utf-8")
    _say(
        f"wrote {len(found.passages):,} passages of {len(found.sources):,} pages, about"
        f" {found.used:,} of {found.tokens:,} tokens, to {harmless(str(path))}"
    )


def _say_end(crawl: Crawl, result: CrawlResult, folder: str) -> int:
    """Say what came, and how to go on; the exit status."""
    kind = None if crawl.session is None else crawl.session.request.kind
    nouns = ("page", "pages") if kind is None else kind.nouns
    words = STOPS.get(result.stop_reason, result.stop_reason)
    _say(
        f"{counted(result.visits, *nouns)} for {counted(result.requests, 'request')},"
        f" value {result.total:.2f}: {words}"
    )
    if not result.visits:
        _say_why(Path(folder), {} if kind is None else kind.reasons)
    elif not result.total:
        _say_why_none_scores(Path(folder), nouns[1], crawl.hint(1))
    _say_needs(Path(folder))
    status = 0 if result.visits else 1
    if result.stop_reason != "frontier":
        more = " --budget +N" if result.stop_reason == "budget" else ""
        _say(f"to go on: sonde crawl {shlex.quote(folder)} --resume{more}")
    if result.stop_reason == "harvest" and crawl.session is not None:
        told = crawl.session.settings
        _say(
            f"it ends again when the next {told.harvest_over:,} requests bring less than"
            f" {told.harvest_below:g} on average; with --stop-when-harvest-below 0 it does not"
        )
    if kind is not None and "traps" in kind.heeds:
        _say_left_out(Path(folder))
    return 130 if result.stop_reason in ("interrupted", "cut") else status


def _say_left_out(folder: Path) -> None:
    """How many URLs were left out as traps, why, and how to visit them all the same."""
    with RunReader(folder) as reader:
        places = Counter(shapes_of(url).place for url in summary.left_out(reader.database, "trap"))
    if not places:
        return
    told = ", ".join(f"{harmless(place, 80)} ({count:,})" for place, count in places.most_common(3))
    more = f" and {len(places) - 3:,} more places" if len(places) > 3 else ""
    count = places.total()
    again = f"sonde crawl {shlex.quote(str(folder))} --resume --traps off"
    _say(
        f"{count:,} {'URL was' if count == 1 else 'URLs were'} left out, where pages had stopped to"
        f" say anything new: {told}{more}; to visit them too: {again}, or --allow PATTERN"
    )


def _say_needs(folder: Path) -> None:
    """How to read pages that a plain fetch does not show."""
    with RunReader(folder) as reader:
        count = summary.flags(reader).get("needs-script", 0)
    if count:
        pages = counted(count, "page needs", "pages need")
        _say(f"{pages} a browser: --render auto (sonde doctor says which there is)")


def _say_why(folder: Path, meanings: Mapping[str, str]) -> None:
    """Why a crawl has nothing to show."""
    with RunReader(folder) as reader:
        reasons = {row.reason: row.leases for row in summary.reasons(reader) if row.reason}
        missed = summary.unvisited(reader, _SHOWN)
        closed = summary.unreachable(reader)
    if reasons:
        met = ", ".join(f"{reason} {count:,}" for reason, count in reasons.items())
        _say(f"nothing was fetched: {harmless(met)}")
    for each in missed:
        if each.redirect is not None:
            why = (
                f"redirects to {harmless(each.redirect)}, which is out of scope: start there, or"
                f" add --host {harmless(host_of(each.redirect))}"
            )
        else:
            meaning = meanings.get(each.reason, "")
            why = f"{harmless(each.reason)}{', ' + meaning if meaning else ''}"
        _say(f"{harmless(each.url, 300)}: {why}")
    for origin, why in list(closed.items())[:_SHOWN]:
        meaning = f", {meanings[why]}" if why in meanings else ""
        _say(f"robots.txt of {harmless(origin)} could not be fetched: {harmless(why)}{meaning}")
    for reason, hint in _HINTS.items():
        if reason in reasons or reason in closed.values():
            _say(hint)


def _say_why_none_scores(folder: Path, several: str, hint: str) -> None:
    """A page that asks not to be indexed scores nothing, whatever the topic."""
    with RunReader(folder) as reader:
        unindexed, visits = summary.flags(reader).get("noindex", 0), summary.totals(reader).visits
    if unindexed:
        ask = "asks" if unindexed == 1 else "ask"
        _say(f"{unindexed:,} of {visits:,} {several} {ask} not to be indexed, and score nothing")
    if unindexed < visits:
        other = "others" if unindexed else several
        doubt = f"none of these {other} scores: does the topic say it in their words?"
        _say(harmless(hint, 500) or doubt)


def _say(line: str) -> None:
    print(line, file=sys.stderr)
