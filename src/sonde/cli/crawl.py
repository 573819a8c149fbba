"""``sonde crawl``: bring back the most relevant pages that a budget can buy."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from sonde.cli import Commands
from sonde.cli.display import Display, display_for, duration, nouns_of
from sonde.cli.ending import print_best, say_end
from sonde.cli.printing import harmless
from sonde.cli.stopping import heeding_signals
from sonde.crawling import Crawl, CrawlResult, Settings, read_config
from sonde.crawling.beginning import Intent
from sonde.crawling.kinds import chosen, kind_named
from sonde.crawling.loop import new_loop
from sonde.errors import InputError
from sonde.sources.options import as_data, texts_to_data
from sonde.sources.web.address import group_of
from sonde.store.reading import DATABASE, RunReader

_EPILOG = """examples:
  sonde crawl https://a.example https://b.example/docs --topic "sea level" --budget 500 -o run/
  sonde crawl --config crawl.toml -o run/
  sonde crawl - --topic "tide gauge" --budget 500 -o run/ < seeds.tsv
  sonde crawl run/ --resume --budget +500
  sonde crawl https://a.example --topic "tide gauge" --requests 300 --per 15m --for 7d -o run/
  sonde crawl SOURCE:PLACE NODE NODE --option NAME=VALUE --topic "tide gauge" --budget 500 -o run/

A secret (password, cookie, token) is given as env:VARIABLE or file:PATH, and belongs to one host:
  --auth "a.example me:env:PASSWORD"  --header "a.example X-Token: file:token"
"""

_TICK = 0.25
_KEY = "~/.config/sonde/pseudonyms.key"


def add_parser(commands: Commands) -> None:
    """Add ``sonde crawl``."""
    parser = commands.add_parser(
        "crawl",
        description="Spend a budget of requests on the pages that promise most.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
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

    what = parser.add_argument_group("what to bring")
    what.add_argument("--topic", help="phrases separated by commas")
    what.add_argument("--scorer", metavar="SPEC", help="keywords, bm25, regex:PATTERN, ...")
    what.add_argument("--allow-pickle", action="store_true", default=None)
    what.add_argument("--estimator", metavar="SPEC")
    what.add_argument("--strategy", metavar="SPEC")
    what.add_argument("--objective", metavar="NAME")
    what.add_argument("--seed", type=int, metavar="N", help="of the dice")

    cost = parser.add_argument_group("what it may cost")
    cost.add_argument("--budget", metavar="N", help="requests; +N on resume for so many more")
    cost.add_argument("--bytes", type=int, metavar="N")
    cost.add_argument("--seconds", metavar="T", help="such as 90s or 2h")
    cost.add_argument("--requests", type=int, metavar="K", help="a rate plan: K requests a host")
    cost.add_argument("--per", metavar="D", help="... in each window, such as 15m")
    cost.add_argument("--for", dest="duration", metavar="T", help="... for so long, such as 7d")
    cost.add_argument("--host-budget", type=int, metavar="N")
    cost.add_argument("--domain-budget", type=int, metavar="N")
    cost.add_argument(
        "--stop-when-harvest-below",
        nargs="+",
        metavar=("X", "over N"),
        help="end when a request brings less than X on average: X over N requests",
    )

    where = parser.add_argument_group("what belongs to it")
    where.add_argument("--scope", choices=("host", "domain", "prefix", "web"))
    where.add_argument("--host", dest="hosts", action="append", metavar="HOST")
    where.add_argument("--domain", dest="domains", action="append", metavar="DOMAIN")
    where.add_argument("--prefix", dest="prefixes", action="append", metavar="URL")
    where.add_argument("--language", dest="languages", action="append", metavar="CODE")
    where.add_argument("--type", dest="types", action="append", metavar="MIME")
    where.add_argument("--depth", type=int, metavar="N")
    where.add_argument("--ignore-nofollow", dest="nofollow", action="store_false", default=None)

    how = parser.add_argument_group("how to ask")
    how.add_argument("--delay", type=float, metavar="S", help="between requests to a host")
    how.add_argument("--concurrency", type=int, metavar="N", help="requests in flight at most")
    how.add_argument("--per-host", type=int, metavar="N", help="connections to one host")
    how.add_argument("--retries", type=int, metavar="N")
    how.add_argument("--redirects", type=int, metavar="N")
    how.add_argument("--timeout", type=float, metavar="S")
    how.add_argument("--max-size", type=int, metavar="BYTES", help="of one page")
    how.add_argument("--contact", metavar="WHO", help="a URL or an e-mail address for servers")
    how.add_argument("--user-agent", metavar="TEXT")
    how.add_argument("--header", dest="headers", action="append", metavar="[HOST ]NAME: VALUE")
    how.add_argument("--cookie", dest="cookies", action="append", metavar="HOST NAME=SECRET")
    how.add_argument("--auth", action="append", metavar="HOST USER:SECRET")
    how.add_argument("--proxy", metavar="URL")
    how.add_argument("--ca-file", metavar="FILE")
    how.add_argument(
        "--allow-private",
        action="store_true",
        default=None,
        help="also loopback and private addresses: for one's own network",
    )
    keep = parser.add_argument_group("what to keep")
    keep.add_argument("--no-pages", dest="pages", action="store_false", default=None)
    keep.add_argument("--no-text", dest="text", action="store_false", default=None)
    keep.add_argument(
        "--pseudonymise",
        nargs="?",
        const=f"file:{_KEY}",
        metavar="KEY",
        help="keep names out of the run folder; the key is env:VARIABLE or file:PATH, which is"
        f" made if it is not there (default: {_KEY})",
    )
    parser.set_defaults(run=run)


_OPTIONS = tuple(field.name for field in fields(Settings) if not field.name.startswith("harvest"))


def run(args: argparse.Namespace) -> int:
    """Crawl, or say what would be done."""
    given = {name: value for name in _OPTIONS if (value := getattr(args, name)) is not None}
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
        return _dry_run(Intent.of(chosen(seeds, options), given), args)
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
        print_best(result)
    return say_end(result, folder, nouns_of(crawl))


async def _watched(crawl: Crawl, display: Display) -> CrawlResult:
    """Run with the display kept up, and with Ctrl-C understood."""
    with heeding_signals(crawl, "what is"):
        task = asyncio.create_task(crawl.run())
        while not task.done():
            await asyncio.wait([task], timeout=_TICK)
            if not task.done():
                display.tick(crawl)
        result = task.result()
        if crawl.beginning is not None and crawl.beginning.notice:
            print(harmless(crawl.beginning.notice), file=sys.stderr)
        return result


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


def _dry_run(intent: Intent, args: argparse.Namespace) -> int:
    """What would be done, and what it would cost. Nothing is sent."""
    settings, seeds = intent.settings, intent.seeds
    limits = settings.limits
    budget = {"requests": limits.requests, "bytes": limits.bytes, "seconds": limits.seconds}
    if intent.kind.name != "web":
        plan = {
            "source": intent.kind.name,
            "options": as_data(intent.options),
            "seeds": seeds,
            **intent.kind.plan(intent.options),
            "budget": budget,
            "folder": args.output,
        }
        if args.json:
            print(json.dumps(plan))
            return 0
        print(f"would start from {_some(seeds)} of {intent.kind.name}")
        for name, value in {**plan["options"], **intent.kind.plan(intent.options)}.items():
            if value in ("", [], None):
                continue
            print(f"{name.replace('_', ' ')}: {harmless(str(value), 300)}")
        _print_limits(budget)
        return 0
    return _dry_run_of_the_web(intent, budget, args)


def _some(seeds: list[str]) -> str:
    named = ", ".join(harmless(seed, 60) for seed in seeds[:5])
    return named if len(seeds) <= 5 else f"{named} and {len(seeds) - 5:,} more nodes"


def _print_limits(budget: dict[str, Any]) -> None:
    limits = [f"{value:,} {unit}" for unit, value in budget.items() if value is not None]
    print(f"budget: {', '.join(limits) or 'none: until nothing is left'}")


def _dry_run_of_the_web(intent: Intent, budget: dict[str, Any], args: argparse.Namespace) -> int:
    settings, seeds = intent.settings, intent.seeds
    hosts = len({group_of(seed) for seed in seeds})
    slots = min(settings.concurrency, hosts * settings.per_host)
    least = None
    if budget["requests"] is not None:
        least = budget["requests"] * settings.delay / max(1, hosts)
        if settings.rate is not None:
            least = max(least, budget["requests"] * settings.rate[1] / settings.rate[0] / hosts)
    plan = {
        "seeds": seeds,
        "hosts": hosts,
        "scope": list(settings.hosts + settings.domains + settings.prefixes) or settings.scope,
        "user_agent": intent.client.agent,
        "robots_requests": hosts,
        "budget": budget,
        "at_once": slots,
        "seconds_on_these_hosts": least,
        "folder": args.output,
        "pages": settings.pages,
    }
    if args.json:
        print(json.dumps(plan))
        return 0
    print(f"would start from {len(seeds)} URLs on {hosts} hosts, as {intent.client.agent}")
    print(f"scope: {plan['scope']}; at most {slots} requests at once on these hosts")
    _print_limits(budget)
    if least is not None:
        print(
            f"time: about {duration(least)} if only these hosts answer"
            f" ({settings.delay:g} s between requests to a host), less with more hosts"
        )
    print(f"of that, {hosts} requests for robots.txt of the hosts named")
    return 0
