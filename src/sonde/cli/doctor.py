"""``sonde doctor``: say what is installed, what is missing, whether kernels are compiled, and what
cannot be promised on this system.

example: sonde doctor --json
"""

from __future__ import annotations

import argparse
import json
import platform
import re
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

import sonde
from sonde.errors import InputError
from sonde.net.browsers import find_browser, unsandboxed
from sonde.system import weaknesses

_NOT_FOR_USERS = ("bench", "dev", "docs", "test")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def examine() -> dict[str, Any]:
    """Versions, engine, system, and each package with its version or None."""
    # Seen from outside: the kernels themselves cannot be imported where something is missing.
    compiled = any(Path(sonde.__file__).parent.glob("kernels/_cyutility.*"))
    found: dict[str, Any] = {
        "sonde": sonde.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "kernels": "compiled" if compiled else "uncompiled",
        "weaknesses": weaknesses(),
        "browser": _browser(),
        "packages": {},
        "extras": {},
    }
    for requirement in requires("sonde") or ():
        name, _, marker = requirement.partition(";")
        package = re.split(r"[\[<>=!~ ]", name.strip())[0]
        extra = marker.partition("extra ==")[2].strip().strip("\"'")
        if extra in _NOT_FOR_USERS or (extra == "uncompiled" and compiled):
            continue
        place = found["extras"].setdefault(extra, {}) if extra else found["packages"]
        place[package] = _version(package)
    if not compiled:
        found["packages"] |= found["extras"].pop("uncompiled", {})
    return found


def _browser() -> str | None:
    try:
        return find_browser("chromium")
    except InputError:
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def run(args: argparse.Namespace) -> int:
    """Print the findings; status 1 when something that is always needed is missing."""
    found = examine()
    healthy = None not in found["packages"].values()
    if args.json:
        print(json.dumps(found | {"healthy": healthy}))
        return 0 if healthy else 1
    print(f"sonde {found['sonde']} on Python {found['python']}, {found['system']}")
    if found["kernels"] == "compiled":
        print("kernels: compiled")
    else:
        print("kernels: NOT compiled: results are the same, but crawls are hundreds of times")
        print("         slower. Install a C compiler, then: pip install --force-reinstall sonde")
    for weakness in found["weaknesses"]:
        print(f"this system: {weakness}")
    if found["browser"] is None:
        print("browser: none (--render needs one: install chromium)")
    else:
        sandbox = ", without its own sandbox, because this is root"
        print(f"browser: {found['browser']}{sandbox if unsandboxed(found['browser']) else ''}")
    for package, installed in found["packages"].items():
        print(f"  {package:<20} {installed or 'MISSING'}")
    for extra, packages in found["extras"].items():
        missing = [package for package, installed in packages.items() if installed is None]
        state = f"missing: {', '.join(missing)} (pip install 'sonde[{extra}]')" if missing else "ok"
        print(f"extra {extra:<14} {state}")
    return 0 if healthy else 1
