"""The whole suite over kernels that were built with bounds checks, in a folder of their own.

python tests/fuzz/checked.py [what pytest is given]
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BASE = ROOT / "build" / "checked"


def built(base: Path, **env: str) -> Path:
    """The package with kernels built in a certain way."""
    subprocess.run(
        [sys.executable, "setup.py", "-q", "build", "--build-base", str(base)],
        cwd=ROOT,
        env=os.environ | env,
        check=True,
    )
    (package,) = base.glob("lib*")
    return package


def main() -> int:
    """Build and test; the status of pytest."""
    package = built(BASE, SONDE_CHECKED="1")
    where = subprocess.run(
        [sys.executable, "-c", "import sonde; print(sonde.__file__)"],
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert Path(where.strip()).is_relative_to(package), where
    words = sys.argv[1:] or ["-n", "2", "--dist", "worksteal", "-q"]
    # Counts of instructions are for kernels as they are given away.
    leave = ["--ignore", "tests/guard", "--ignore", "tests/packaging"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words, *leave],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(package)},
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
