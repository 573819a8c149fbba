"""Posts into a graph of who mentions whom.

A node is an account, named in small letters: who posts, and who is only mentioned. Its score is
f(occurrences in all its posts). An edge goes from an author to each account that a post mentions;
its score is f(occurrences in all the author's posts that mention the other), and it keeps the time
of each of them.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from sonde.data.draft import listed
from sonde.data.folders import Folders
from sonde.data.pairs import NEVER, Pairs, scoring
from sonde.data.posts.postfiles import PostFormat, post_blocks
from sonde.data.rowfiles import seconds_from
from sonde.data.streams import open_raw
from sonde.data.topics import Counts, Topics, f_of
from sonde.errors import InputError
from sonde.meter import Meter
from sonde.pool import in_order

_URL = re.compile(r"https?://\S+")
_MENTION = re.compile(r"@(?<![\w@]@)(\w+(?:@[\w-]+(?:\.[\w-]+)+)?)")


@dataclass
class PostBatch:
    """A block of posts as a worker has read it: a row a post, with all that it mentions."""

    authors: list[str] = field(default_factory=list)
    counts: Counts = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    times: list[int] = field(default_factory=list)
    mentions: list[list[str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class PostReader:
    """What a worker must know to read posts."""

    form: PostFormat
    topics: Topics
    keep_text: bool

    def read(self, block: bytes) -> PostBatch:
        """The posts of one block, counted."""
        posts = PostBatch()
        texts: list[str] = []
        timed = "time" in self.form.names or self.form.form == "snap"
        for post in self.form.read(block, posts.problems):
            text = " ".join(post.text.split())
            named = mentioned(text) if post.mentions is None else post.mentions
            time = seconds_from(post.time) if timed else NEVER
            if time is None:
                posts.problems["posts without a readable time"] += 1
                time = NEVER
            posts.authors.append(_account(post.author))
            texts.append(text)
            posts.times.append(time)
            posts.mentions.append(
                list(dict.fromkeys(filter(None, map(_account, named)))) if named else []
            )
        posts.counts = self.topics.counts(texts)
        if self.keep_text:
            posts.texts = texts
        return posts


def mentioned(text: str) -> list[str]:
    """The accounts that a text mentions: @name, or @name@host, but not in URLs and addresses."""
    if "/@" in text:
        text = _URL.sub(" ", text)
    return _MENTION.findall(text)


def _account(name: str) -> str:
    return name.strip().lstrip("@").lower()


def build_posts(
    path: Path,
    form: PostFormat,
    topics: Topics,
    folders: Folders,
    *,
    keep_text: bool,
    jobs: int,
    problems: Counter[str],
    meter: Meter,
) -> tuple[dict[str, int], list[dict[str, int]]]:
    """Write the graphs; gives counts of all, and of what scores in each."""
    accounts: dict[str, int] = {}
    totals = np.zeros((1024, len(topics)), np.int64)
    texts: dict[int, list[str]] = {}
    pairs = Pairs(len(topics), timed=True, words=["context"] if keep_text else [])
    count = 0
    with open_raw(path) as raw:
        tasks = post_blocks(raw, path, form.form, problems, jobs)
        for posts in in_order(PostReader(form, topics, keep_text).read, tasks, jobs):
            meter.at(raw.tell())
            problems.update(posts.problems)
            count += len(posts.authors)
            if not posts.authors:
                continue
            rows = [index for index, named in enumerate(posts.mentions) for _ in named]
            authors, targets = [], []
            for author, named in zip(posts.authors, posts.mentions, strict=True):
                number = accounts.setdefault(author, len(accounts))
                authors.append(number)
                targets += [accounts.setdefault(each, len(accounts)) for each in named]
            if len(accounts) > len(totals):
                room = np.zeros((2 * len(accounts), len(topics)), np.int64)
                room[: len(totals)] = totals
                totals = room
            np.add.at(totals, authors, posts.counts)
            times = np.asarray(posts.times, np.int64)
            words = []
            if keep_text:
                words = [pa.array([posts.texts[row] for row in rows], pa.string())]
            pairs.add(np.asarray(authors)[rows], targets, posts.counts[rows], times[rows], words)
            if keep_text:
                for number, text in zip(authors, posts.texts, strict=True):
                    texts.setdefault(number, []).append(text)
    if not count:
        raise InputError(
            f"{path}: no posts in it that can be read{listed(problems)}; "
            "say where they are, as in --columns author=user.name,text=body"
        )
    grouped = pairs.grouped()
    betas, alphas = f_of(totals[: len(accounts)]), f_of(grouped.sums)
    names = pa.array(list(accounts), pa.string())
    nodes = {"node": names}
    if keep_text:
        joined = ["\n".join(texts.get(number, ())) for number in range(len(accounts))]
        nodes["text"] = pa.array(joined, pa.string())
    folders.add("nodes", pa.table(nodes), betas)
    ends = {
        "source": names.take(pa.array(grouped.sources)),
        "target": names.take(pa.array(grouped.targets)),
    }
    folders.add("edges", pa.table(ends | grouped.columns), alphas)
    counted = {
        "nodes": len(accounts),
        "edges": len(grouped.sources),
        "posts": count,
        "self_links": grouped.self_loops,
        "parallel_links_merged": grouped.merged,
    }
    return counted, scoring(betas, alphas)
