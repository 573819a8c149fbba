"""The shared folder of a peer: its files, what they are worth for a topic, and their words."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from sonde.errors import InputError
from sonde.scorers.folding import fold
from sonde.scorers.keyword_matcher import KeywordMatcher
from sonde.scorers.keywords import log_count
from sonde.scorers.topic import Topic
from sonde.sources.peers.messages import LONGEST

MOST_FILES = 10_000
LARGEST = 1_000_000  # bytes of a file that are read
ROOM = 64_000_000  # bytes of all files together
PROFILE = 500
"""Words that a peer tells its neighbours, unless it is told otherwise."""

_WORD = re.compile(r"\w{3,40}")


@dataclass(frozen=True, slots=True)
class Holding:
    """What a folder has for a topic."""

    score: float
    files: tuple[str, ...]  # the best first
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    text: str
    digest: str


class SharedFolder:
    """The text files below a folder, as they were when last looked at."""

    def __init__(self, folder: Path, profile: int = PROFILE) -> None:
        if not folder.is_dir():
            raise InputError(f"{folder}: not a folder")
        self.folder = folder
        self.size = profile
        self.profile: dict[str, int] = {}
        self.edition = 0
        """Grows whenever the folder has changed."""
        self._files: list[_File] = []
        self._stamp: list[tuple[str, int, int]] = []
        self.look()

    def __len__(self) -> int:
        return len(self._files)

    def look(self) -> None:
        """Look at the folder again, and read it if anything has changed."""
        found, stamp = [], []
        room = ROOM
        for path in sorted(self.folder.rglob("*"))[:MOST_FILES]:
            try:
                about = path.stat()
                if path.is_file() and not path.is_symlink() and room > 0:
                    found.append(path)
                    stamp.append((str(path), about.st_size, about.st_mtime_ns))
                    room -= min(about.st_size, LARGEST)
            except OSError:
                continue  # it went while we looked
        if stamp == self._stamp:
            return
        self._files = [read for path in found if (read := self._read(path)) is not None]
        self._stamp = stamp
        self.profile = self._words()
        self.edition += 1

    def _read(self, path: Path) -> _File | None:
        try:
            with path.open("rb") as file:
                body = file.read(LARGEST)
        except OSError:
            return None
        if b"\0" in body[:1024]:
            return None  # not text
        name = str(path.relative_to(self.folder))[:LONGEST]
        text = " ".join(body.decode("utf-8", "replace").split())
        return _File(name, text, hashlib.sha256(body).hexdigest()[:16])

    def _words(self) -> dict[str, int]:
        """The words that tell this folder from others: frequent, and not in every one of its files.

        Of equal ones the first in the alphabet.
        """
        counts: Counter[str] = Counter()
        files: Counter[str] = Counter()
        for file in self._files:
            words = Counter(_WORD.findall(fold(file.text)))
            counts.update(words)
            files.update(words.keys())
        weights = {
            word: count * math.log(1 + len(self._files) / files[word])
            for word, count in counts.items()
        }
        best = sorted(weights, key=lambda word: (-weights[word], word))[: self.size]
        return {word: counts[word] for word in best}

    def holding(self, topic: str) -> Holding:
        """What the files say of a topic: log_count(occurrences in all of them), and which ones.

        Words count as they stand: peers agree on what a file is worth, whatever its language.
        """
        matcher = KeywordMatcher(Topic.of(topic, exact=True).phrases)
        found = [(matcher.worth(matcher.spans(file.text)), file) for file in self._files]
        found = [(count, file) for count, file in found if count]
        found.sort(key=lambda one: (-one[0], one[1].name))
        return Holding(
            score=log_count(sum(count for count, _ in found)),
            files=tuple(file.name for _, file in found),
            records=tuple(dict.fromkeys(file.digest for _, file in found)),
        )


def promise(profile: dict[str, int], topic: str) -> float:
    """What a profile promises for a topic: log_count(occurrences), where a phrase counts as its
    rarest word."""
    count = 0.0
    for phrase in Topic.of(topic, exact=True).wanted:
        words = _WORD.findall(fold(phrase.spelt))
        if words:
            count += phrase.weight * min(profile.get(word, 0) for word in words)
    return log_count(count)
