"""Draws the figures of the documentation, and measures what its pages quote.

    python docs/figures.py        # or: make figures

All of it comes from simulated crawls of generated graphs, so that it is the same on every machine.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np

from sonde import Explorer, simulate
from sonde.simulation import recorded_visits
from sonde.sources.graph import topical

IMAGES = Path(__file__).parent / "images"
PROJECT = Path(__file__).parent.parent / "pyproject.toml"

SHOWN = {
    "oracle": "oracle (knows every score)",
    "auto": "auto (the default)",
    "n": "n (scores of the pages that link to it)",
    "opic": "opic",
    "bfs": "bfs (breadth first)",
}
COLOURS = ("#888888", "#c44e52", "#4c72b0", "#55a868", "#8172b3")


def draw_harvest(path: Path, *, nodes: int = 100_000, budget: int = 5_000) -> dict[str, float]:
    """What crawls of one graph have brought after each visit; the total of each."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    graph = topical(nodes, 10 * nodes, seed=7, topics=40)
    totals: dict[str, float] = {}
    with mpl.rc_context({"svg.hashsalt": "sonde", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(7.2, 4.8), layout="constrained")
        axes = figure.add_subplot()
        for (estimator, label), colour in zip(SHOWN.items(), COLOURS, strict=True):
            run = simulate(graph, random_seeds=10, estimator=estimator, budget=budget, seed=7)
            totals[estimator] = run.gain
            shown = np.unique(np.linspace(1, len(run.harvest), 250).astype(int))
            axes.plot(
                shown,
                run.harvest[shown - 1],
                label=label,
                color=colour,
                linestyle="--" if estimator == "oracle" else "-",
            )
        axes.set_xlabel("visits")
        axes.set_ylabel("sum of the scores found")
        axes.set_xlim(0, budget)
        axes.set_ylim(0, None)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(frameon=False, loc="outside lower center", ncols=2)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
    return totals


def draw_expectations(path: Path, *, nodes: int = 100_000, budget: int = 5_000) -> None:
    """What `auto` expected of the nodes that it picked, and what they brought."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    graph = topical(nodes, 10 * nodes, seed=7, topics=40)
    with mpl.rc_context({"svg.hashsalt": "sonde", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(7.2, 3.6), layout="constrained")
        axes = figure.add_subplot()
        for estimator, colour in (("yield", "#4c72b0"), ("auto", "#c44e52")):
            run = simulate(graph, random_seeds=10, estimator=estimator, budget=budget, seed=7)
            order = np.argsort(run.predictions, kind="stable")
            groups = [part for part in np.array_split(order, 25) if len(part)]
            axes.plot(
                [run.predictions[part].mean() for part in groups],
                [run.gains[part].mean() for part in groups],
                marker="o",
                markersize=3,
                color=colour,
                label=estimator,
            )
        axes.set_xlabel("estimate when picked (means of 25 groups of visits)")
        axes.set_ylabel("mean gain")
        axes.set_xlim(0, None)
        axes.set_ylim(0, None)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="upper left")
        figure.savefig(path, metadata={"Date": None})


def nr_error(nodes: int, steps: int, keep: float) -> tuple[float, float]:
    """How far `nr` is from `nr:exact` along one crawl, at worst, as a share of the highest score;
    and what a crawl by `nr` brings, as a share of what one by `nr:exact` does."""
    graph = topical(nodes, 10 * nodes, seed=7, topics=20)
    visits = recorded_visits(graph)
    names = (f"nr:exact:d={keep:g}", f"nr:d={keep:g}")
    seeds = np.flatnonzero(graph.scores)[:5].tolist()
    explorers = [Explorer(name, budget=steps, free_seeds=True) for name in names]
    exact, fast = explorers
    for explorer in explorers:
        explorer.add_seeds(seeds)
    worst = 0.0
    while leases := exact.ask():
        (lease,) = leases
        if lease.arm >= 0:
            rows = [
                np.asarray(each._model.frontier.features)[: each._model.frontier.rows, 0]
                for each in explorers
            ]
            waiting = np.asarray(fast._model.frontier.row_live)[: len(rows[1])] == 1
            worst = max(worst, float(np.abs(rows[0] - rows[1])[waiting].max()))
        fast.relet(lease)
        for explorer in explorers:
            explorer.tell(lease, visits(lease.node))
    gains = [simulate(graph, seeds=seeds, estimator=name, budget=steps).gain for name in names]
    return worst / float(graph.scores.max()), gains[1] / gains[0]


def draw_rooms(path: Path) -> None:
    """The rooms of the package as the import contract in pyproject.toml stacks them."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    contracts = tomllib.loads(PROJECT.read_text())["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each["type"] == "layers")
    rows = [[room.strip(" ()") for room in layer.split("|")] for layer in layers]
    with mpl.rc_context({"svg.hashsalt": "sonde", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(7.2, 0.42 * len(rows)), layout="constrained")
        axes = figure.add_subplot()
        for height, rooms in enumerate(reversed(rows)):
            width = 1 / len(rooms)
            for number, room in enumerate(rooms):
                corner = (number * width + 0.004, height + 0.09)
                box = Rectangle(
                    corner, width - 0.008, 0.82, facecolor="#e8eef7", edgecolor="#4c72b0"
                )
                axes.add_patch(box)
                middle = (number + 0.5) * width
                axes.text(middle, height + 0.5, room, ha="center", va="center", color="#222222")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, len(rows))
        axes.axis("off")
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Draw and measure everything."""
    draw_rooms(IMAGES / "rooms.svg")
    for estimator, total in draw_harvest(IMAGES / "harvest.svg").items():
        print(f"{estimator:<22} {total:10,.1f}")
    draw_expectations(IMAGES / "expectations.svg")
    for keep in (0.5, 0.2):
        worst, share = nr_error(5_000, 2_000, keep)
        print(
            f"nr:d={keep:g}: off by at most {worst:.1e} of the highest score in 2,000 steps; its"
            f" own crawl brings {share:.1%} of what nr:exact does"
        )


if __name__ == "__main__":
    main()
