"""The answer to a question out of a run: passages of its pages, cited, within a budget of tokens.

A passage is worth what it says of the question (BM25 over all passages, each term by its rarity)
times the share of its facts that none of those taken before it has: the best by its length is
taken, again and again, while there is room.
"""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sonde.errors import InputError
from sonde.scorers.question import WORDS, Excerpt, Question, tokens_of
from sonde.store.reader import RunReader
from sonde.store.run_pages import RunPage, run_pages

TOKENS = 20_000
_MOST = 20_000  # passages that are weighed, the best ones
_EACH = 50  # of one page
_CITING = 12  # tokens of a citation, with what stands around a passage
_K1, _B = 1.2, 0.75
_FEW = 40  # words: what has fewer is seldom an answer


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage, word for word, and where it stands; ``source`` is the number of its page among
    those that are cited."""

    source: int
    url: str
    title: str
    visited: str
    text: str
    score: float
    tokens: int


@dataclass(frozen=True)
class Answer:
    """What a run has to say to a question."""

    question: str
    tokens: int
    passages: Sequence[CitedPassage]
    pages: int
    missing: Sequence[str] = ()
    """Words of the question that no passage has."""
    stop: str | None = field(default=None)

    @property
    def used(self) -> int:
        """Tokens of what is quoted, about."""
        return sum(each.tokens for each in self.passages)

    @property
    def sources(self) -> dict[int, CitedPassage]:
        """One passage of each page that is cited, by its number."""
        return {each.source: each for each in reversed(self.passages)}


@dataclass(slots=True)
class _Candidate:
    page: RunPage
    passage: Excerpt
    text: str
    tokens: int
    worth: float = 0.0


def answer(run: RunReader, question: str | None = None, tokens: int | None = None) -> Answer:
    """The passages of a run that answer a question: the run's own, unless another one is asked."""
    config = run.meta("config") or {}
    asked = question or config.get("question")
    if not asked:
        raise InputError(f"{run.folder}: was crawled without a question: give one")
    limit = tokens or int(config.get("tokens") or TOKENS)
    parsed = Question(str(asked))
    found, pages, with_term = _candidates(run, parsed)
    chosen = _chosen(found, limit)
    numbers: dict[str, int] = {}
    passages = [
        CitedPassage(
            source=numbers.setdefault(each.page.node, len(numbers) + 1),
            url=each.page.url,
            title=each.page.title,
            visited=f"{each.page.visited:%Y-%m-%d}",
            text=each.text,
            score=round(each.worth, 4),
            tokens=each.tokens,
        )
        for each in chosen
    ]
    missing = [word for number, word in enumerate(parsed.words) if not with_term.get(number)]
    return Answer(parsed.text, limit, passages, pages, missing, run.stop)


def _candidates(run: RunReader, question: Question) -> tuple[list[_Candidate], int, dict[int, int]]:
    """The passages that are worth weighing, the pages that were read, and how many passages have
    each term."""
    kept: list[tuple[float, int, _Candidate]] = []
    with_term: dict[int, int] = {}
    pages = count = order = 0
    for page in run_pages(run):
        text = page.text
        if not text:
            continue
        pages += 1
        own = []
        for passage in question.passages(text):
            count += 1
            for term in passage.counts:
                with_term[term] = with_term.get(term, 0) + 1
            rough = len(passage.counts) + min(1.0, sum(passage.counts.values()) / WORDS)
            own.append((rough, passage))
        own.sort(key=lambda each: (-each[0], each[1].start))
        for rough, passage in own[:_EACH]:
            said = " ".join(text[passage.start : passage.end].split())
            candidate = _Candidate(page, passage, said, tokens_of(said) + _CITING)
            order += 1
            entry = (rough, -order, candidate)
            if len(kept) < _MOST:
                heapq.heappush(kept, entry)
            elif entry > kept[0]:
                heapq.heapreplace(kept, entry)
    found = [candidate for _, _, candidate in sorted(kept, key=lambda each: -each[1])]
    rarity = {
        term: math.log(1.0 + (count - known + 0.5) / (known + 0.5))
        for term, known in with_term.items()
    }
    for candidate in found:
        passage = candidate.passage
        damp = _K1 * (1.0 - _B + _B * passage.words / WORDS)
        candidate.worth = sum(
            rarity[term] * times * (_K1 + 1.0) / (times + damp)
            for term, times in passage.counts.items()
        ) * min(1.0, passage.words / _FEW)
    return found, pages, with_term


def _chosen(found: list[_Candidate], limit: int) -> list[_Candidate]:
    """The best passages by their length that have room, each by what it adds to those before."""
    known: set[int] = set()
    said: set[str] = set()
    queue = [(-each.worth / _length(each), number) for number, each in enumerate(found)]
    heapq.heapify(queue)
    chosen = []
    left = limit
    while queue:
        before, number = heapq.heappop(queue)
        each = found[number]
        if each.tokens > left or each.text in said:
            continue
        facts = each.passage.facts
        new = len(facts - known) / len(facts) if facts else 0.0
        now = -each.worth * new / _length(each)
        if now >= 0:
            continue
        if now > before:  # it was worth more when it was last looked at
            heapq.heappush(queue, (now, number))
            continue
        chosen.append(each)
        known |= facts
        said.add(each.text)
        left -= each.tokens
    return chosen


def _length(each: _Candidate) -> int:
    """What a passage is weighed by: a few words are no answer, however short they are."""
    return max(each.tokens, WORDS)


def written(found: Answer, path: Path, stopped: str = "") -> str:
    """An answer as a file has it: JSON lines or Markdown, by its name. What pages say is quoted, so
    that none of it can pass for anything else."""
    if path.suffix == ".jsonl":
        lines = (asdict(each) | {"question": found.question} for each in found.passages)
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return "\n".join(_markdown(found, stopped)) + "\n"


def _markdown(found: Answer, stopped: str) -> Iterator[str]:
    yield f"# {_line(found.question)}"
    yield ""
    cited = found.sources
    yield (
        f"{len(found.passages):,} passages of {len(cited):,} pages, about {found.used:,} of"
        f" {found.tokens:,} tokens. {found.pages:,} pages were read{stopped and f': {stopped}'}."
    )
    if found.missing:
        words = ", ".join(_line(word) for word in found.missing)
        yield f"Nothing that was read speaks of: {words}."
    for each in found.passages:
        yield ""
        yield f"> {_line(each.text)} [{each.source}]"
    if cited:
        yield ""
        yield "## Sources"
        yield ""
    for number, each in sorted(cited.items()):
        yield f"{number}. {_line(each.title or each.url)}. <{each.url}>, read {each.visited}"


def _line(text: str) -> str:
    """Words of somebody else, as words."""
    for mark in "\\`*_[]<>#|":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())
