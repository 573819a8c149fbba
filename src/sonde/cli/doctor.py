"""``sonde doctor``: what is installed, what is missing, and what that means."""

from __future__ import annotations

import argparse
import json
import platform
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

from sonde.estimators import compiled


def add_parser(commands: Any) -> None:
    """Add ``sonde doctor``."""
    parser = commands.add_parser(
        "doctor",
        help="say what is installed and what is missing",
        description="Say what is installed, what is missing, and whether kernels are compiled.",
        epilog="example: sonde doctor --json",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def examine() -> dict[str, Any]:
    """Versions, engine, and each optional package with its version or None."""
    found: dict[str, Any] = {
        "sonde": version("sonde"),
        "python": platform.python_version(),
        "kernels": "compiled" if compiled() else "uncompiled",
        "packages": {},
        "extras": {},
    }
    for requirement in requires("sonde") or ():
        name, _, marker = requirement.partition(";")
        package = name.strip().split("[")[0].rstrip("<>=!~.0123456789, ")
        extra = marker.partition("extra ==")[2].strip().strip("\"'")
        if extra == "dev":
            continue
        place = found["extras"].setdefault(extra, {}) if extra else found["packages"]
        try:
            place[package] = version(package)
        except PackageNotFoundError:
            place[package] = None
    return found


def run(args: argparse.Namespace) -> int:
    """Print the findings; status 1 when something that is always needed is missing."""
    found = examine()
    healthy = None not in found["packages"].values()
    if args.json:
        print(json.dumps(found | {"healthy": healthy}))
        return 0 if healthy else 1
    print(f"sonde {found['sonde']} on Python {found['python']}")
    if found["kernels"] == "compiled":
        print("kernels: compiled")
    else:
        print("kernels: NOT compiled: results are the same, but crawls are hundreds of times")
        print("         slower. Install a C compiler, then: pip install --force-reinstall sonde")
    for package, installed in found["packages"].items():
        print(f"  {package:<20} {installed or 'MISSING'}")
    for extra, packages in found["extras"].items():
        missing = [package for package, installed in packages.items() if installed is None]
        state = f"missing: {', '.join(missing)} (pip install 'sonde[{extra}]')" if missing else "ok"
        print(f"extra {extra:<14} {state}")
    return 0 if healthy else 1
