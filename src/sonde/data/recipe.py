"""From raw material to graph folders: what ``sonde data build`` does."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sonde.data.draft import Draft
from sonde.data.edges.edge_scores import EdgeScores, build_edges
from sonde.data.folders import Folders, places
from sonde.data.posts.mentions import build_posts
from sonde.data.posts.postfiles import format_of
from sonde.data.topics import Topics
from sonde.data.web.pagefiles import base_from
from sonde.data.web.webpages import index_pages, read_webpages, size_of
from sonde.data.wiki.mediawiki import read_mediawiki
from sonde.errors import InputError
from sonde.interruption import interruptible
from sonde.meter import BYTES, Meter, Shown, Silent
from sonde.pool import cores

SMALL = 1 << 20
"""Bytes of a source, compressed as it is, that are read here: sharing them would take longer."""

KINDS = ("mediawiki", "html", "posts", "edges")

Counted = tuple[dict[str, int], list[dict[str, int]]]


@dataclass(frozen=True)
class Recipe:
    """What to build, and how. Each kind reads the options that concern it."""

    kind: str
    source: Path
    keywords: tuple[str, ...] = ()
    keep_text: bool = False
    namespaces: frozenset[int] | None = frozenset((0,))  # mediawiki; None for all
    base: str | None = None  # html: the address of the folder
    columns: Mapping[str, str] = field(default_factory=dict)  # posts: the columns of the fields
    names: tuple[str, ...] | None = None  # edges: the columns of a file without a header
    nodes: Path | None = None  # edges: a table of nodes
    time: str | None = None  # edges: the column of times
    kept: tuple[str, ...] | None = None  # edges: the further columns to keep; None for all
    scores: EdgeScores = field(default_factory=EdgeScores)  # edges

    @property
    def labels(self) -> tuple[str, ...]:
        """What each graph is called."""
        if self.kind == "edges":
            return tuple(spec.removeprefix("column:") for spec in self.scores.specs)
        return self.keywords


@dataclass(frozen=True)
class Built:
    """What came of it: the folders, and what ``about.json`` says in each."""

    folders: list[Path]
    about: list[dict[str, Any]]
    notes: tuple[str, ...] = ()  # what a user may not expect of them


def build(recipe: Recipe, target: Path, *, jobs: int | None = None, quiet: bool = True) -> Built:
    """Build one graph folder for each keyword (or score): ``target``, or folders inside it."""
    if not recipe.source.exists():
        raise InputError(f"{recipe.source}: no such file or folder")
    if recipe.kind != "html" and recipe.source.is_dir():
        raise InputError(f"{recipe.source}: a folder; {recipe.kind} reads a file")
    makers: dict[str, Callable[[Recipe, Folders, int, Counter[str], Meter], Counted]] = {
        "mediawiki": _wiki,
        "html": _pages,
        "posts": _posts,
        "edges": _edges,
    }
    if recipe.kind not in makers:
        raise InputError(f"unknown kind {recipe.kind!r}; known are {', '.join(KINDS)}")
    problems: Counter[str] = Counter()
    processes = jobs_from(jobs, size_of(recipe.source))
    began = time.monotonic()
    shown: AbstractContextManager[Meter] = nullcontext(Silent())
    if not quiet:
        shown = Shown(f"reading {recipe.source.name}", size_of(recipe.source), BYTES)
    with interruptible(), Folders(places(target, recipe.labels)) as folders, shown as meter:
        counts, scoring = makers[recipe.kind](recipe, folders, processes, problems, meter)
        about = [
            _about(recipe, label, counts | own, problems, time.monotonic() - began)
            | ({"notes": folders.notes} if folders.notes else {})
            for label, own in zip(recipe.labels, scoring, strict=True)
        ]
        folders.finish(about)
    return Built(folders.folders, about, tuple(folders.notes))


def jobs_from(asked: int | None, size: int) -> int:
    """How many processes to use for a source of this size in bytes.

    As many as asked, or all the cores that this process may use, but one for little.
    """
    return 1 if size < SMALL else cores() if asked is None else asked


def _wiki(
    recipe: Recipe, folders: Folders, jobs: int, problems: Counter[str], meter: Meter
) -> Counted:
    topics = Topics(recipe.keywords)
    with Draft(len(topics), recipe.keep_text, problems) as draft:
        read_mediawiki(
            recipe.source,
            draft,
            topics,
            namespaces=recipe.namespaces,
            keep_text=recipe.keep_text,
            jobs=jobs,
            meter=meter,
        )
        return draft.write(folders)


def _pages(
    recipe: Recipe, folders: Folders, jobs: int, problems: Counter[str], meter: Meter
) -> Counted:
    topics = Topics(recipe.keywords)
    with Draft(len(topics), recipe.keep_text, problems, index_pages) as draft:
        read_webpages(
            recipe.source,
            draft,
            topics,
            base=base_from(recipe.base),
            keep_text=recipe.keep_text,
            jobs=jobs,
            meter=meter,
        )
        return draft.write(folders)


def _posts(
    recipe: Recipe, folders: Folders, jobs: int, problems: Counter[str], meter: Meter
) -> Counted:
    return build_posts(
        recipe.source,
        format_of(recipe.source, recipe.columns),
        Topics(recipe.keywords),
        folders,
        keep_text=recipe.keep_text,
        jobs=jobs,
        problems=problems,
        meter=meter,
    )


def _edges(
    recipe: Recipe, folders: Folders, jobs: int, problems: Counter[str], meter: Meter
) -> Counted:
    # Arrow parses rows faster than processes could pass them on.
    return build_edges(
        recipe.source,
        recipe.nodes,
        recipe.scores,
        folders,
        columns=recipe.names,
        time=recipe.time,
        kept=recipe.kept,
        jobs=jobs,
        problems=problems,
        meter=meter,
    )


def _about(
    recipe: Recipe, label: str, counts: dict[str, int], problems: Counter[str], seconds: float
) -> dict[str, Any]:
    """Where a graph is from."""
    return {
        "kind": recipe.kind,
        "source": recipe.source.name,
        "source_bytes": size_of(recipe.source),
        ("score" if recipe.kind == "edges" else "keyword"): label,
        "parameters": _parameters(recipe),
        "counts": counts,
        "problems": {words: count for words, count in sorted(problems.items()) if count},
        "built": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
    }


def _parameters(recipe: Recipe) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if recipe.kind != "edges":
        found["text"] = recipe.keep_text
    if recipe.kind == "mediawiki":
        spaces = recipe.namespaces
        found["namespaces"] = "all" if spaces is None else sorted(spaces)
    elif recipe.kind == "html":
        found["base"] = recipe.base
    elif recipe.kind == "posts":
        found["columns"] = dict(recipe.columns)
    else:
        found["columns"] = _listed(recipe.names)
        found["nodes"] = None if recipe.nodes is None else recipe.nodes.name
        found["time"] = recipe.time
        found["kept"] = _listed(recipe.kept)
        found |= asdict(recipe.scores)
        del found["specs"]
    return found


def _listed(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)
