"""Checks a sonde that was installed from a wheel: its kernels are compiled, it simulates the crawl
that it simulates everywhere, and it crawls a site on loopback.

    python .ci/installed.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import sonde
from sonde.cli.demo import documentation
from sonde.cli.doctor import examine
from sonde.sources.graph import topical


def main() -> None:
    """Fail loudly where something is wrong."""
    found = examine()
    print(f"sonde {found['sonde']} in {Path(sonde.__file__).parent}: {found['kernels']}")
    assert found["kernels"] == "compiled"
    assert None not in found["packages"].values(), found["packages"]
    graph = topical(20_000, 200_000, seed=7)
    simulated = sonde.simulate(graph, random_seeds=10, budget=1_000, seed=7)
    assert round(simulated.gain, 2) == 726.4, simulated.gain
    with documentation() as root, tempfile.TemporaryDirectory() as folder:
        crawled = sonde.crawl(
            f"{root}/socket.html",
            topic="socket, network",
            budget=20,
            path=Path(folder, "run"),
            delay=0,
            allow_private=True,
            contact="installed@localhost",
        )
    assert crawled.requests == 20
    assert crawled.total > 0
    print(f"simulated {simulated.gain:.1f}, crawled {crawled.total:.1f} for {crawled.requests}")


if __name__ == "__main__":
    main()
