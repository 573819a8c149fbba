"""The torture campaign: everything that a server, a clock, a disk or a kill can do, on loopback.

    make torture
    python tests/torture/campaign.py --kills 1000 --bombs 99 --fuzz 200 -o docs/results/torture.md

Every part is bounded; ``--short`` is what ``make test`` runs of it. What was tried, how much of it
held, and what it came to goes to a page. The exit status is 1 where anything did not hold.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from outcome import HEAD, Part

ROOT = Path(__file__).parents[2]


def fuzzers(rounds: int, sanitized: bool) -> Part:
    """The readers under mutations, by kernels that were built with sanitizers."""
    part = Part("fuzzers", "a reader reads what was changed at random, or refuses it")
    script = "sanitized.py" if sanitized else "mutations.py"
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "fuzz" / script), "--rounds", str(rounds)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    part.check(done.returncode == 0, (done.stderr or done.stdout).strip()[-300:])
    built = "AddressSanitizer and UBSan" if sanitized else "the usual build"
    part.figures.append(f"{rounds:,} rounds of every reader, {built}")
    return part


def planned(args: argparse.Namespace, folder: Path) -> dict[str, Callable[[], Part]]:
    """The parts, by name, in their order."""
    from addresses import addresses
    from bombs import bombs
    from clocks import clocks
    from disks import disks
    from interrupts import interrupts
    from kills import kills
    from trap_part import traps

    return {
        "kills": lambda: kills(folder / "kills", args.kills),
        "bombs": lambda: bombs(folder / "bombs", args.bombs),
        "signals": lambda: interrupts(folder / "signals", args.signals),
        "traps": lambda: traps(folder / "traps", args.trapped),
        "addresses": addresses,
        "clocks": lambda: clocks(folder / "clocks", args.clocks),
        "disks": lambda: disks(folder / "disks", args.disks),
        "fuzz": lambda: fuzzers(args.fuzz, args.sanitized),
    }


def kept_rows(path: Path, run: list[str]) -> list[str]:
    """The rows of an earlier page for the parts that were not run now."""
    if not path.exists():
        return []
    rows = [line for line in path.read_text(encoding="utf-8").splitlines() if line[:2] == "| "][1:]
    return [row for row in rows if row.split("|")[1].strip() not in run]


def page(parts: list[Part], seconds: float, words: str, kept: list[str]) -> str:
    """What came of it, with what had come of other parts before."""
    lines = [
        "# The torture campaign",
        "",
        "`make torture` tries, on loopback, what a hostile server, a clock, a disk or a kill can",
        "do to a crawl. Run anew:",
        "",
        f"    python tests/torture/campaign.py {words}",
        "",
        f"The last run took {seconds / 60:.0f} minutes; a part that it left out is as an earlier",
        "run found it. What is promised, and which test holds it, is in",
        "[security](../concepts/security.md).",
        "",
        *HEAD,
        *(row for part in parts for row in part.rows()),
        *kept,
        "",
    ]
    broken = [f"- {part.name}: {what}" for part in parts for what in part.broken]
    lines += ["## What did not hold", "", *(broken or ["Nothing."]), ""]
    return "\n".join(lines)


def main() -> int:
    """Run the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--bombs", type=int, default=99)
    parser.add_argument("--trapped", type=int, default=600, help="requests beside each trap")
    parser.add_argument("--signals", type=int, default=40)
    parser.add_argument("--clocks", type=int, default=20)
    parser.add_argument("--disks", type=int, default=20)
    parser.add_argument("--fuzz", type=int, default=300, help="rounds")
    parser.add_argument("--sanitized", action="store_true", help="fuzz kernels under sanitizers")
    parser.add_argument("--only", action="append", help="a part, by name; may be repeated")
    parser.add_argument("-o", "--output", type=Path)
    args = parser.parse_args()
    sys.path[:0] = [str(ROOT / "tests" / "crawl")]
    began = time.monotonic()
    parts = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        for name, run in planned(args, Path(made)).items():
            if args.only and name not in args.only:
                continue
            (Path(made) / name).mkdir()
            started = time.monotonic()
            part = run()
            parts.append(part)
            took = time.monotonic() - started
            print(f"{name}: {part.held:,} of {part.tried:,} held ({took:.0f} s)", flush=True)
            for what in part.broken:
                print(f"  {what}", flush=True)
    words = " ".join(word for word in sys.argv[1:] if word not in ("-o", str(args.output)))
    if args.output is not None:
        kept = kept_rows(args.output, [part.name for part in parts])
        told = page(parts, time.monotonic() - began, words, kept)
        args.output.write_text(told, encoding="utf-8")
    return int(any(part.broken for part in parts))


if __name__ == "__main__":
    sys.exit(main())
