"""For the site: pages that lie outside docs/ (benchmarks, changes, contributing) become pages of
it, and links to and from them go where these pages are. mkdocs calls these functions."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def further_pages() -> dict[str, str]:
    """Where a file of the repository is found on the site."""
    results = sorted((ROOT / "benchmarks" / "results").glob("*.md"))
    return {f"benchmarks/results/{path.name}": f"benchmarks/{path.name}" for path in results} | {
        name: f"project/{name.lower()}"
        for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
    }


def on_files(files: Files, *, config: Any) -> Files:
    """Add them."""
    for source, place in further_pages().items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Send links where their targets are; what is no page of the site stays as text."""
    further = further_pages()
    here = next(
        (source for source, place in further.items() if place == page.file.src_uri),
        f"docs/{page.file.src_uri}",
    )

    def moved(found: re.Match[str]) -> str:
        mark, text, target, anchor = found.groups()
        if re.match(r"[a-z]+:", target):
            return found[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(here), target))
        place = further.get(path) or (
            path.removeprefix("docs/") if path.startswith("docs/") else ""
        )
        if not place:
            return f"{text} (`{path}`)"
        link = posixpath.relpath(place, posixpath.dirname(page.file.src_uri) or ".")
        return f"{mark}[{text}]({link}{anchor or ''})"

    parts = []
    end = 0
    for fence in _FENCE.finditer(markdown):
        parts += [_LINK.sub(moved, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(moved, markdown[end:])])
