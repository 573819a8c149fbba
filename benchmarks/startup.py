"""What it costs to start: CPU seconds of imports and of the shortest commands, in turn.

python benchmarks/startup.py -o benchmarks/results/startup.md
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
from pathlib import Path

from machine import describe

COMMAND = "import sys; from sonde.cli import main; sys.argv[1:] = ['{}']; main()"
CASES = {
    "`python -c pass`": ("pass", None, None),
    "`import numpy`": ("import numpy", None, None),
    "`import sonde`": ("import sonde", "`python -c pass`", None),
    "`import sonde; sonde.Explorer`": ("import sonde; sonde.Explorer", "`import numpy`", 0.2),
    "an explorer, made": (
        "import sonde; sonde.Explorer(estimator='auto', budget=9)",
        "`import numpy`",
        None,
    ),
    "`sonde --version`": (COMMAND.format("--version"), "`python -c pass`", 0.15),
    "`sonde --help`": (COMMAND.format("--help"), "`python -c pass`", 0.15),
    "`sonde simulate --help`": (COMMAND.replace("'{}'", "'simulate', '--help'"), None, None),
    "`sonde crawl --help`": (COMMAND.replace("'{}'", "'crawl', '--help'"), None, None),
}
"""What is run; with what it is compared; and how many seconds more it may take."""


def cpu(code: str) -> float:
    """CPU seconds of a new process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    seconds: dict[str, list[float]] = {name: [] for name in CASES}
    for number in range(args.rounds + 1):
        for name, (code, _, _) in CASES.items():
            took = cpu(code)
            if number:  # the first round reads files that later ones find in memory
                seconds[name].append(took)
    median = {name: statistics.median(each) for name, each in seconds.items()}
    lines = [
        "# What it costs to start",
        "",
        f"{describe()}. Medians of {args.rounds} rounds in turn.",
        "",
        "| what | CPU seconds | more than | by | bar |",
        "|---|---:|---|---:|---|",
    ]
    for name, (_, other, bar) in CASES.items():
        more = median[name] - median[other] if other else 0.0
        kept = f"{bar}: {'kept' if more <= bar else 'MISSED'}" if bar else ""
        beside = f"{other} | {more:.3f}" if other else " | "
        lines.append(f"| {name} | {median[name]:.3f} | {beside} | {kept} |")
    text = "\n".join(lines) + "\n"
    print(text)
    if args.output:
        args.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
