"""Run every experiment of the lab on a folder of graphs, and write docs/results/lab anew.

    python benchmarks/lab.py GRAPHS -o docs/results/lab --work WORK

GRAPHS holds graph folders (see `sonde data build`); WORK keeps finished units, so that a second
run goes on where the first one stopped. Tables, figures and the check of each published claim go
to the output folder, and the claims also into the page beside it, between its two marks.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

from lab_claims import claims

from sonde.cli import main as sonde

ESTIMATORS = (
    "bfs,opic,opic:ne,nr,n,n:max,e,e:max,ne,ne:max,n2,lnh,lnh:max,hybrid[n,lnh,100],"
    "hybrid[ne,lnh,100],hybrid[bfs,lnh,100],hybrid[ne,lnh,1000],"
    "mab:eps=0.1[n,e,ne,lnh],mab:var[n,e,ne,lnh]"
)
SLOW = "lnh2"  # up to a minute a crawl on the largest graphs: in the league alone
COUNTED = "bfs,opic,nr,n,n:max,e,ne,lnh,hybrid[ne,lnh,1000],mab:eps=0.1[n,e,ne,lnh]"
EXPERIMENTS: dict[str, list[str]] = {  # without options: the published protocol
    "steering": [],
    "refresh": [],
    "lead": ["--objectives", "sum", "--estimators", ESTIMATORS],
    "global": ["--estimators", f"{ESTIMATORS},{SLOW}"],
    "count": ["--objectives", "sum,count", "--estimators", COUNTED],
    "bandits": [],
    "precision": ["--estimators", ESTIMATORS],
    "time": ["--estimators", ESTIMATORS],
}
FIGURES = (
    "steering",
    "refresh",
    "precision",
    "time",
    "lead-sum-relative",
    "lead-sum-short",
    "lead-count-relative",
    "bandits",
)
START, END = "<!-- claims: generated -->", "<!-- end of claims -->"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("graphs", type=Path, help="a folder of graph folders")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="where finished work is kept")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    graphs = sorted(str(path) for path in args.graphs.iterdir() if path.is_dir())
    for name, options in EXPERIMENTS.items():
        folder, experiment = args.work, name
        if name == "count":  # the same experiment once more, under both objectives
            folder, experiment = args.work / name, "lead"
            _share_units(args.work, folder)
        line = ["lab", "run", experiment, *graphs, "-o", str(folder), "--seed", str(args.seed)]
        status = sonde([*line, *options])
        if status:
            return status
    (args.output / "figures").mkdir(parents=True, exist_ok=True)
    for name in EXPERIMENTS:
        made = args.work / "count/lead.md" if name == "count" else args.work / f"{name}.md"
        shutil.copy(made, args.output / f"{name}.md")
    for name in FIGURES:
        folder = args.work / "count" if "-count" in name else args.work
        for path in sorted((folder / "figures").glob(f"{name}*")):
            if path.stem.removeprefix(name).lstrip("-").isdecimal() or path.stem == name:
                shutil.copy(path, args.output / "figures")
    for path in args.output.glob("*.md"):
        _drop_missing_figures(path)
    table = claims(args.work)
    (args.output / "claims.md").write_text(f"# Claims\n\n{table}\n", encoding="utf-8")
    page = args.output.with_suffix(".md")
    if page.exists():
        text = page.read_text(encoding="utf-8")
        before, _, rest = text.partition(START)
        after = rest.partition(END)[2]
        page.write_text(f"{before}{START}\n\n{table}\n\n{END}{after}", encoding="utf-8")
    print(table)
    return 0


def _share_units(work: Path, folder: Path) -> None:
    """What one experiment has finished, the other need not run again."""
    folder.mkdir(parents=True, exist_ok=True)
    (work / "units").mkdir(exist_ok=True)
    if not (folder / "units").exists():
        (folder / "units").symlink_to((work / "units").resolve())


def _drop_missing_figures(path: Path) -> None:
    """Not every figure is kept: pages show those that are."""
    text = path.read_text(encoding="utf-8")
    for mark, target in re.findall(r"(!\[[^\]]*\]\(([^)]*)\)\n*)", text):
        if not (path.parent / target).exists():
            text = text.replace(mark, "")
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
