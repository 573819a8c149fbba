"""The embedding scorer: how close in meaning is a text to the topic?

A text's vector is the mean of the vectors of its words (or tokens); its score is the cosine to the
topic's vector, and 0 where that is negative or no word is known. Static models only: a table of
vectors, no network to run. Three formats on disk:

- ``.npz`` with two arrays, ``words`` (strings) and ``vectors``;
- ``.vec`` or ``.txt``: a word and its numbers on each line (word2vec, GloVe, fastText as text);
- a folder with ``model.safetensors`` and ``tokenizer.json``, as model2vec writes it (needs
  ``tokenizers``, the extra ``embedding``).

Words are looked up in lower case as they stand, then folded (see ``folding``). The topic's vector
is the mean over the words of its phrases, each with its phrase's weight; a text that has what is
excluded (see ``keyword_matcher``) scores 0.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sonde.errors import InputError
from sonde.scorers.document import Document, Scores, texts_of
from sonde.scorers.folding import fold
from sonde.scorers.keyword_matcher import TopicMatcher
from sonde.scorers.topic import Topic

Matrix = NDArray[np.float32]
Rows = Callable[[str], list[int]]
"""Gives the rows of the table that a text's words stand for."""

_WORD = re.compile(r"\w+")
_LONGEST = 20_000  # characters of a text that are looked at
_TENSOR = {"F32": "<f4", "F16": "<f2", "F64": "<f8"}


class EmbeddingScorer:
    """Scores by the cosine to a topic."""

    def __init__(self, path: str | Path, topic: str | Topic) -> None:
        self.path = Path(path)
        self.topic = Topic.of(topic) if isinstance(topic, str) else topic
        self._rows, self._table = _load(self.path)
        sums = [phrase.weight * self._sum(phrase.spelt) for phrase in self.topic.wanted]
        self._target = _direction(np.sum(sums, axis=0, dtype=np.float32))
        if not self._target.any():
            said = ", ".join(phrase.spelt for phrase in self.topic.wanted)
            raise InputError(f"{self.path} knows no word of the topic {said!r}")
        unwanted = tuple(phrase for phrase in self.topic.phrases if phrase.excluded)
        self._unwanted = TopicMatcher(Topic(unwanted)) if unwanted else None

    def score(self, document: Document) -> Scores:
        beta, *alphas = (self._value(text, document.language) for text in texts_of(document))
        return Scores(beta, alphas)

    def rescore(self, document: Document) -> float:
        """The beta of a document whose main text has changed since it was scored."""
        return self.score(document).beta

    def _value(self, text: str, language: str) -> float:
        if self._unwanted is not None and self._unwanted.speaking(language).spans(text):
            return 0.0
        return max(0.0, float(_direction(self._sum(text)) @ self._target))

    def _sum(self, text: str) -> Matrix:
        """The vectors of a text's words, added up."""
        rows = self._rows(text[:_LONGEST])
        if not rows:
            return np.zeros(self._table.shape[1], dtype=np.float32)
        total: Matrix = self._table[rows].sum(axis=0, dtype=np.float32)
        return total


def _direction(vector: Matrix) -> Matrix:
    """A vector of length one, or zero."""
    length = np.float32(np.linalg.norm(vector))
    return vector / length if length > 0.0 else vector


def _load(path: Path) -> tuple[Rows, Matrix]:
    try:
        if path.is_dir():
            return _load_folder(path)
        if path.suffix == ".npz":
            words, table = _read_npz(path)
        elif path.suffix in (".vec", ".txt"):
            words, table = _read_text(path)
        else:
            raise InputError(f"{path}: an embedding is a .npz, .vec or .txt file, or a folder")
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot read the embedding {path}: {error}") from None
    return _by_word(words), _checked(path, table, len(words))


def _checked(path: Path, table: Matrix, rows: int) -> Matrix:
    if table.ndim != 2 or len(table) != rows or not np.isfinite(table).all():
        raise InputError(f"{path}: expected one finite vector for each of {rows} words")
    return table


def _by_word(words: list[str]) -> Rows:
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        rows.setdefault(word, row)

    def look_up(text: str) -> list[int]:
        found = []
        for word in _WORD.findall(text.lower()):
            row = rows.get(word)
            if row is None and not word.isascii():
                row = rows.get(fold(word))
            if row is not None:
                found.append(row)
        return found

    return look_up


def _read_npz(path: Path) -> tuple[list[str], Matrix]:
    with np.load(path, allow_pickle=False) as arrays:
        return [str(word) for word in arrays["words"]], arrays["vectors"].astype(np.float32)


def _read_text(path: Path) -> tuple[list[str], Matrix]:
    words: list[str] = []
    vectors: list[Matrix] = []
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines):
            word, *numbers = line.rstrip().split(" ")
            if number == 0 and len(numbers) == 1:  # word2vec begins with its size
                continue
            words.append(word)
            vectors.append(np.array(numbers, dtype=np.float32))
    return words, np.stack(vectors)


def _load_folder(path: Path) -> tuple[Rows, Matrix]:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise InputError(f"{path} needs tokenizers: pip install 'sonde[embedding]'") from None
    table = _read_safetensors(path / "model.safetensors")
    try:
        tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
    except Exception as error:  # the library raises bare Exception
        raise InputError(f"cannot read {path / 'tokenizer.json'}: {error}") from None
    if tokenizer.get_vocab_size() > len(table):
        raise InputError(f"{path}: the tokenizer has more tokens than the table has rows")

    def tokens(text: str) -> list[int]:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    return tokens, _checked(path, table, len(table))


def _read_safetensors(path: Path) -> Matrix:
    """The tensor ``embeddings``: a length, a JSON header, then the numbers."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    entry = header["embeddings"]
    begin, end = entry["data_offsets"]
    numbers = np.frombuffer(raw[8 + size + begin : 8 + size + end], dtype=_TENSOR[entry["dtype"]])
    return numbers.reshape(entry["shape"]).astype(np.float32)
