"""The datasheet of a data set (Gebru and others, 2021): of what it is made, how, what to mind."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from sonde.store.reader import RunReader

if TYPE_CHECKING:
    from sonde.store.dataset import Dataset, DatasetPlan

_SHOWN = 20

_SHEET = """---
language: {codes}
license: other
configs:
- config_name: default
  data_files: data-*.{form}
---

# Datasheet

## Motivation

Pages that a focused crawl brought for {topic}.

## Composition

{rows:,} texts, {words:,} words, {characters:,} characters, in {shards:,} shards ({form}). A row is
one page: `id`, `url`, `title`, `text` (without navigation), `language` (declared, else detected),
`licence` (what the page says of its licence), `score` (how much it speaks of the topic), `visited`,
`media_type`, `words`.

{languages}
{hosts}
{media_types}
## Collection

Crawled by sonde from {seeds}, between {first} and {last} (UTC). robots.txt was obeyed, and of pages
that ask not to be indexed nothing was kept. Pages were chosen by what they promised for the topic,
not at random: they are no sample of their sites.

```json
{config}
```

## Processing

Each text stands once: of equal texts the page that was visited first, and near duplicates (by the
Jaccard similarity of runs of three words) were {near}. `left_out.jsonl` names every page that is
not here, with the reason and, for a duplicate, the page that it repeats.

{left_out}
## Licences and rights

What pages say of their licence is a hint and no advice: `rel=license` links, links to Creative
Commons, `license`, `copyright` and `dcterms` metadata, reservations of text and data mining. A page
that says nothing is not free for that.

{licences}
## Uses, limits, upkeep

Texts are what sites published, with their errors, views and personal data; nothing was checked or
made anonymous. Nothing keeps the data set up to date: it can be made again from its run (`sonde
export RUN --dataset`), and a page can be taken out of the run before that (`sonde forget`).
"""


def datasheet(run: RunReader, made: Dataset, plan: DatasetPlan) -> str:
    """The datasheet in Markdown, with a head that data-set hubs read."""
    config: dict[str, Any] = run.meta("config") or {}
    topic = config.get("question") or config.get("topic") or config.get("scorer") or ""
    seeds = [str(seed) for seed in config.get("seeds", [])]
    more = f" and {len(seeds) - 5:,} more" if len(seeds) > 5 else ""
    near = "left as they are" if plan.near is None else f"left out from {plan.near:g} alike on"
    return _SHEET.format(
        codes=json.dumps(sorted(code for code in made.languages if code != "unknown")),
        form=plan.shards,
        topic=_said(str(topic)) or "no topic",
        rows=made.rows,
        words=made.words,
        characters=made.characters,
        shards=made.shards,
        languages=_table("language", made.languages, made.rows),
        hosts=_table("host", made.hosts, made.rows),
        media_types=_table("media type", made.media_types, made.rows),
        seeds=_said(", ".join(seeds[:5])) + more,
        first=made.first or "-",
        last=made.last or "-",
        config=json.dumps(config, indent=1, ensure_ascii=False).replace("`", "'"),
        near=near,
        left_out=_table("left out because", Counter(made.left_out), sum(made.left_out.values())),
        licences=_table("stated", made.licences, made.rows),
    )


def _said(text: str) -> str:
    """A text of somebody else in one line of Markdown."""
    line = " ".join(text.split()).replace("`", "'")[:300]
    return f"`{line}`" if line else ""


def _table(noun: str, counts: Counter[str], whole: int) -> str:
    if not counts:
        return ""
    lines = [f"| {noun} | rows | share |", "|---|---:|---:|"]
    for name, count in counts.most_common(_SHOWN):
        said = _said(name).replace("|", "\\|") or "-"
        lines.append(f"| {said} | {count:,} | {count / max(1, whole):.1%} |")
    if len(counts) > _SHOWN:
        lines.append(f"| {len(counts) - _SHOWN:,} others | | |")
    return "\n".join([*lines, ""])
