"""What building from source costs, against a commit in which every kernel was built for itself.

Both are built in turn, each from nothing in a folder of its own; the processor time of the whole
build is counted, translation to C included. Then one kernel is edited and built again, and today's
kernels are also built at -O3: where there is valgrind, it counts the instructions of the hot loops
at either level. Needs the repository with its history, for the commit.

    python benchmarks/build.py -o benchmarks/results/build.md
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from instructions import count, missing
from machine import describe

ROOT = Path(__file__).resolve().parent.parent

BASE = "5523d06"
"""The commit before kernels shared a runtime: each for itself, at -O3."""

BAR = 0.3
"""The most that building may cost, as a share of what it cost then."""


@dataclass(frozen=True)
class Build:
    """A build from nothing: CPU seconds, and the bytes of its modules."""

    seconds: float
    size: int
    package: Path


def children() -> float:
    """CPU seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build(folder: Path) -> float:
    """Build what is out of date in a copy of the sources; CPU seconds."""
    before = children()
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build"],
        cwd=folder,
        env=os.environ | {"CCACHE_DISABLE": "1"},
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return children() - before


def from_nothing(folder: Path) -> Build:
    """Build the sources in a folder."""
    seconds = build(folder)
    (package,) = (folder / "build").glob("lib*")
    modules = list(package.rglob("*.so"))
    assert modules, "nothing was compiled"
    return Build(seconds, sum(path.stat().st_size for path in modules), package)


def checkout(folder: Path, commit: str) -> Path:
    """The sources of a commit."""
    folder.mkdir()
    packed = subprocess.run(
        ["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE
    ).stdout
    subprocess.run(["tar", "x", "-C", str(folder)], input=packed, check=True)
    return folder


def copy(folder: Path, level: str = "-O2") -> Path:
    """Today's sources, to be compiled at a level."""
    shutil.copytree(
        ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.so", "*.egg-info")
    )
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    assert '"-O2"' in setup
    (folder / "setup.py").write_text(setup.replace('"-O2"', f'"{level}"'), encoding="utf-8")
    return folder


def edited(folder: Path, kernel: str) -> tuple[float, list[str]]:
    """CPU seconds of a build after an edit of one kernel, and which modules are new."""
    (package,) = (folder / "build").glob("lib*")
    before = {path: path.stat().st_mtime_ns for path in package.rglob("*.so")}
    source = folder / "src" / "sonde" / "kernels" / f"{kernel}.py"
    source.write_text(source.read_text(encoding="utf-8") + "\n# an edit\n", encoding="utf-8")
    seconds = build(folder)
    new = [
        path.relative_to(package / "sonde" / "kernels").with_name(path.name.partition(".")[0])
        for path, made in before.items()
        if path.stat().st_mtime_ns != made
    ]
    return seconds, [path.as_posix() for path in new]


def report(base: str, rounds: int, kernel: str) -> str:
    """The result, as a page."""
    then: list[Build] = []
    now: list[Build] = []
    with tempfile.TemporaryDirectory(prefix="sonde-build-") as folder:
        place = Path(folder)
        for number in range(rounds):
            then.append(from_nothing(checkout(place / f"then{number}", base)))
            now.append(from_nothing(copy(place / f"now{number}")))
        third = from_nothing(copy(place / "o3", "-O3"))
        seconds, new = edited(place / "now0", kernel)
        counts = [] if missing() else [count(each.package) for each in (third, now[0])]
    old, young = (min(each.seconds for each in builds) for builds in (then, now))
    share = young / old

    def row(how: str, seconds: float, built: Build) -> str:
        return f"| {how} | {seconds:.0f} | {seconds / old:.2f} | {built.size / 1e6:.1f} |"

    lines = [
        "# Building from source",
        "",
        f"{describe()}. Builds from nothing, in turn, {rounds} of each: the least of each.",
        "",
        "| how | CPU seconds | share | modules (MB) |",
        "|---|---:|---:|---:|",
        row(f"commit {base}: every kernel for itself, -O3", old, then[0]),
        row("today: one shared runtime, -O2", young, now[0]),
        row("today's at -O3, once", third.seconds, third),
        "",
        f"The bar is {BAR}: {'kept' if share <= BAR else 'MISSED'}.",
        "",
        (
            f"An edit of `{kernel}.py` builds {', '.join(f'`{name}`' for name in new)} again, and"
            f" takes {seconds:.1f} CPU seconds."
        ),
    ]
    if counts:
        loud = [
            name for name, cost in counts[0].items() if cost >= 1e6 and not name.startswith("_")
        ]
        loud.sort(key=lambda name: counts[1][name] / counts[0][name])
        rows: list[tuple[str, int, int]] = [
            (f"`{loud[0]}` (the best)", counts[0][loud[0]], counts[1][loud[0]]),
            (f"`{loud[-1]}` (the worst)", counts[0][loud[-1]], counts[1][loud[-1]]),
            ("all kernels", sum(counts[0].values()), sum(counts[1].values())),
        ]
        lines += [
            "",
            (
                "Instructions of the hot loops, counted by valgrind (`benchmarks/instructions.py`),"
                f" of {len(loud)} kernels with a million or more:"
            ),
            "",
            "| kernel | -O3 | -O2 | ratio |",
            "|---|---:|---:|---:|",
            *(f"| {name} | {a:,} | {b:,} | {b / a:.3f} |" for name, a, b in rows),
        ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--base", default=BASE, metavar="COMMIT")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--edit", default="text/wikidump", metavar="KERNEL")
    args = parser.parse_args()
    text = report(args.base, args.rounds, args.edit)
    print(text)
    if args.output:
        args.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
