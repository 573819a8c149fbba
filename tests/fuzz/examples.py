"""The property tests with examples that nobody has seen, in several rounds.

python tests/fuzz/examples.py --rounds 5
"""

from __future__ import annotations

import argparse
import secrets
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Stop at the first round that fails: its seed is printed, and its examples are kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    for number in range(parser.parse_args().rounds):
        seed = secrets.randbits(63)
        print(
            f"round {number + 1}: --hypothesis-profile explore --hypothesis-seed {seed}", flush=True
        )
        words = ["-q", "-n", "2", "--dist", "worksteal", "-m", "hypothesis"]
        profile = ["--hypothesis-profile", "explore", "--hypothesis-seed", str(seed)]
        status = subprocess.run([sys.executable, "-m", "pytest", *words, *profile], cwd=ROOT)
        if status.returncode:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
