"""Copies the measured tables into the README, between its bench marks.

python benchmarks/readme.py
"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = {
    "explorer.md": "Choosing, on a recorded graph (`make bench`):",
    "web.md": "Crawling real HTML on loopback (`make bench-web`):",
    "seeds.md": "Choosing seeds: [the results](benchmarks/results/seeds.md) (`make bench-seeds`).",
}
START, END = "<!-- bench:start -->", "<!-- bench:end -->"


def table_of(text: str) -> str:
    """The lines of a result from its machine to the end of its first table."""
    lines = text.splitlines()[2:]
    last = max(number for number, line in enumerate(lines) if line.startswith("|"))
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    end = first
    while end <= last and lines[end].startswith("|"):
        end += 1
    return "\n".join(lines[:end])


def main() -> None:
    """Rewrite the block."""
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    parts = []
    for name, title in PARTS.items():
        result = ROOT / "benchmarks" / "results" / name
        if result.exists():
            whole = "[" not in title
            parts.append(f"{title}\n\n{table_of(result.read_text('utf-8'))}" if whole else title)
    readme.write_text(
        before + START + "\n" + "\n\n".join(parts) + "\n" + END + after, encoding="utf-8"
    )


if __name__ == "__main__":
    main()
