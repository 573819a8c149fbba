"""``sonde sources``: list the kinds of sources: those built in, and those of installed packages.

examples:
  sonde sources
  sonde sources --json

A package adds a source by an entry point in the group sonde.sources; see the guide to a source of
your own.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import MISSING, Field, fields
from typing import Any

from sonde.cli._print import harmless
from sonde.crawling.settings import heeded
from sonde.errors import InputError
from sonde.sources.kind import Kind
from sonde.sources.kinds import BUILT_IN, built_in, loaded, offered


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """List the kinds. One that cannot be loaded is listed with the reason."""
    found = [_described(built_in(name), "sonde") for name in BUILT_IN]
    for name, point in offered().items():
        package = "" if point.dist is None else f"{point.dist.name} {point.dist.version}"
        try:
            found.append(_described(loaded(point), package or point.value))
        except InputError as error:
            found.append({"name": name, "package": package or point.value, "problem": str(error)})
    if args.json:
        print(json.dumps({"sources": found}))
        return 0
    for source in found:
        _print(source)
    return 0


def _described(kind: Kind[Any], package: str) -> dict[str, Any]:
    return {
        "name": kind.name,
        "package": package,
        "summary": kind.summary,
        "nodes": kind.nouns[1],
        "place": kind.place,
        "settings": sorted(heeded(kind.heeds)),
        "options": {field.name: _option(field) for field in fields(kind.options)},
    }


def _option(field: Field[Any]) -> dict[str, Any]:
    told: dict[str, Any] = {"type": str(field.type), "needed": field.default is MISSING}
    if field.default is not MISSING:
        told["default"] = field.default
    return told


def _print(source: dict[str, Any]) -> None:
    name = harmless(source["name"])
    if "problem" in source:
        print(f"{name}  ({harmless(source['package'])}) cannot be used")
        print(f"  {harmless(source['problem'])}")
        return
    place = f":{source['place'].upper()}" if source["place"] else ""
    origin = "" if source["package"] == "sonde" else f"  ({harmless(source['package'])})"
    print(f"{name}{place}  {harmless(source['summary'])}{origin}")
    for option, told in source["options"].items():
        default = told.get("default")
        value = "" if default in (None, "", ()) else f"  (default: {harmless(str(default), 80)})"
        if told["needed"]:
            value = "  (needed)"
        print(f"  --option {harmless(option)}={harmless(told['type'])}{value}")
