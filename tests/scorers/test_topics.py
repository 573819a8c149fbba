"""Topics: their syntax, and where their phrases occur, against the definition read naively."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from Stemmer import Stemmer

from sonde.errors import InputError
from sonde.kernels import load
from sonde.kernels.text.lexicon import Lexicon
from sonde.scorers import Bm25Scorer, KeywordMatcher, KeywordScorer, Topic, log_count
from sonde.scorers.folding import fold, fold_character
from sonde.scorers.keyword_matcher import TopicMatcher
from sonde.scorers.scripts import UNSPACED
from sonde.scorers.silence import EARLY
from sonde.scorers.stems import FRONTED, STEMMERS, stemmer_of
from sonde.scorers.topic import Phrase, Word
from sonde.sources.page import Page, PageLink


def found(topic: str, text: str, language: str = "", *, exact: bool = False) -> list[str]:
    """What of a text is an occurrence."""
    spans = KeywordMatcher(Topic.of(topic, exact=exact).phrases, language).spans(text)
    return [text[start:end] for start, end, _ in spans]


# -- the definition, read naively ------------------------------------------------------------------


def letter(character: str) -> bool:
    spaced = not UNSPACED.match(character)
    return spaced and (
        character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"
    )


def same_word(word: str, wanted: Word, language: str) -> bool:
    """Whether a text's word is what a topic's word, all letters, wants."""
    folded = fold(word)
    if folded == wanted.text:
        return True
    if wanted.begins:
        return folded.startswith(wanted.text)
    if wanted.exact:
        return False
    name = stemmer_of(wanted.spelt, language)
    if name == "korean":
        return folded.startswith(wanted.text)
    if not name:
        return False
    stems = {
        fold(Stemmer(name).stemWord(unicodedata.normalize("NFC", each).lower()))
        for each in (word, wanted.spelt)
    }
    return len(stems) == 1 and (name in FRONTED or folded[0] == wanted.text[0])


def ends_of(text: str, at: int, phrase: Phrase, language: str) -> bool:
    """Whether a phrase begins here: at every place every piece of it is tried, one by one."""
    pieces: list[Word | str] = []
    for number, word in enumerate(phrase.words):
        pieces += [" "] if number else []
        runs = re.findall(r"\w+|[^\w]+", word.text)
        for place, run in enumerate(runs):
            if not letter(run[0]):
                pieces.append(run)
            elif len(runs) == 1:
                pieces.append(word)
            else:
                pieces.append(Word(run, True, word.begins and place == len(runs) - 1, run))
    first, last = pieces[0], pieces[-1]
    before = text[at - 1] if at else ""
    if before and letter(before):
        return False
    if isinstance(first, str) and before and fold(before) == first[0]:
        return False
    for piece in pieces:
        if isinstance(piece, str):
            if fold(text[at : at + len(piece)]) != piece:
                return False
            at += len(piece)
        else:
            run = re.match(r"\w*", text[at:])
            assert run is not None
            if not run[0] or not same_word(run[0], piece, language):
                return False
            at += len(run[0])
    after = text[at : at + 1]
    if isinstance(last, str) and after:
        return fold(after) != last[-1] and (after.isdigit() or not letter(after))
    return True


def reference(topic: Topic, text: str, language: str) -> list[tuple[int, int]]:
    return sorted(
        (at, number)
        for number, phrase in enumerate(topic.phrases)
        for at in range(len(text))
        if ends_of(text, at, phrase, language)
    )


STEMS = ["tide", "tides", "Tidal", "sea", "seas", "level", "levels", "levelled", "c", "C", "node"]
SIGNS = ["++", "#", ".", "+", "'", " ", " ", " ", "-", "(", "2", "_", "é", "s"]
TEXTS = st.lists(st.sampled_from([*STEMS, *SIGNS, "C++", ".NET", "js"]), max_size=14).map("".join)
PHRASES = st.sampled_from(
    ["tide", "sea level", '"sea levels"', "sea lev*", "c++", "C#", ".net", "node.js", "c", "lev*",
     '"Tides"', "c++ tides", "sea-level", "tide's", "-tidal", "level^2", "-\"sea level\""]
)  # fmt: skip


@given(st.lists(PHRASES, min_size=1, max_size=3), TEXTS, st.sampled_from(["", "en", "fr", "ja"]))
@example(["c++"], "C++2", "")
@example([".net", "c#"], "a.NET .NET..NET C##", "")
def test_occurrences_are_those_of_the_definition(
    phrases: list[str], raw: str, language: str
) -> None:
    topic = Topic.of(", ".join(["zzz", *phrases]))
    text = " ".join(raw.split())
    matcher = KeywordMatcher(topic.phrases, language)
    expected = reference(topic, text, language)
    # Phrases that match the same words count once: leave out what an earlier one has found, where
    # inflections make two phrases one.
    spans = [(start, number) for start, _, number in matcher.spans(text)]
    assert set(spans) <= set(expected)
    for at, number in set(expected) - set(spans):
        twins = [other for start, other in spans if start == at and other < number]
        assert any(_same(topic.phrases[other], topic.phrases[number]) for other in twins)


def _same(one: Phrase, other: Phrase) -> bool:
    def stems(phrase: Phrase) -> list[str]:
        return [Stemmer("english").stemWord(word.text) for word in phrase.words]

    return stems(one) == stems(other) and one.excluded == other.excluded


RUNS = st.text(alphabet="暗号化のLinuxカーネル 、ก็กา", max_size=30)
STRINGS = st.text(alphabet="暗号化のカネก็กา", min_size=1, max_size=3).filter(
    lambda text: any(map(str.isalnum, text))
)


@given(STRINGS, RUNS)
@example("暗号化", "データの暗号化とは暗号化です")
def test_scripts_without_spaces_are_searched_as_strings(phrase: str, raw: str) -> None:
    text = " ".join(raw.split())
    folded = "".join(fold_character(character) for character in phrase)
    places = [at for at in range(len(text)) if text.startswith(folded, at)]
    spans = KeywordMatcher(Topic.of(phrase).phrases).spans(text)
    assert [start for start, _, _ in spans] == places
    assert all(text[start:end] == folded for start, end, _ in spans)


@given(st.text(alphabet="aAbé_1 -\u00ad\u0301字ก\U0001d4b3か", max_size=40))
def test_compiled_and_uncompiled_lexicons_agree(text: str) -> None:
    def classify(character: str) -> int:
        if not fold(character):
            return 2
        return (4 if character in "aA" else 3) if letter(fold(character)[0]) else 1

    def define(word: str) -> int:
        return len(word)

    data = text.encode()
    slow = load("python").lexicon.Lexicon(classify, define)
    assert slow.find(data) == Lexicon(classify, define).find(data)


def test_a_lexicon_whose_table_is_full_gives_the_same_words() -> None:
    words = [f"w{number}" for number in range(100_000)]
    lexicon = Lexicon(lambda c: 4 if c.isalnum() else 1, lambda word: int(word[1:]) % 7)
    text = " ".join(words).encode()
    expected = [number % 7 for number in range(100_000) if number % 7]
    assert [label for _, _, label in lexicon.find(text)] == expected
    assert [label for _, _, label in lexicon.find(text)] == expected
    with pytest.raises(ValueError, match="cut short"):
        lexicon.find("é".encode()[:1])


# -- by hand ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("topic", "text", "language", "expected"),
    [
        ("C++", "C++, C++11 (C++20) libstdc++ C+++ C+ c++x", "", ["C++", "C++", "C++"]),
        ("C#", "C# C## c#; C#x", "", ["C#", "c#"]),
        (".NET", ".NET ASP.NET example.net (.net)", "", [".NET", ".net"]),
        ("node.js", "Node.js node js node.jsx xnode.js", "", ["Node.js"]),
        ("coroutine", "Coroutines coroutine", "", ["Coroutines", "coroutine"]),
        ("coroutine", "Coroutines coroutine", "de-AT", ["Coroutines", "coroutine"]),
        ('"coroutine"', "Coroutines coroutine", "", ["coroutine"]),
        ("corout*", "coroutines corout co-routine", "", ["coroutines", "corout"]),
        ("tide gauge", "tide gauges, Tides-gauge", "", ["tide gauges", "Tides-gauge"]),
        ("tide, tides", "the tides", "", ["tides"]),
        ("economie", "L’économie, des économies", "fr", ["économie", "économies"]),
        ("война", "Войны и мир, о войне", "", ["Войны", "войне"]),
        ("Haus", "Häuser, Hauses", "de", ["Häuser", "Hauses"]),
        ("Linux", "Linuxカーネル、GNU/Linux", "ja", ["Linux", "Linux"]),
        ("coroutines", "coroutine は coroutine", "ja", ["coroutine", "coroutine"]),
        ("coroutines", "coroutine", "ru", ["coroutine"]),
        ("暗号化", "データの暗号化とは", "ja", ["暗号化"]),
        ("ภาษา", "ภาษาไทยเป็นภาษา", "th", ["ภาษา", "ภาษา"]),
        ("C++言語", "プログラミング言語はＣ＋＋言語です", "ja", ["Ｃ＋＋言語"]),
        ("किताब", "किताबें और किताब", "hi", ["किताबें", "किताब"]),
        ("서울", "서울에서 인서울", "ko", ["서울에서"]),
        ("so\u00adft", "soft so\u00adft", "", ["soft", "so\u00adft"]),
        ('"A*"', "A* search, a", "", ["A*"]),
        ('"sea levels"', "sea level sea-levels", "", ["sea-levels"]),
        ("“sea levels”", "sea level sea-levels", "", ["sea-levels"]),
    ],
)
def test_by_hand(topic: str, text: str, language: str, expected: list[str]) -> None:
    assert found(topic, text, language) == expected


def test_exact_takes_words_as_they_stand() -> None:
    assert found("coroutine, sea level", "coroutines coroutine sea levels", exact=True) == [
        "coroutine"
    ]
    assert found("corout*", "coroutines", exact=True) == ["coroutines"]


def test_every_stemmer_is_there_and_stems() -> None:
    for language, name in STEMMERS.items():
        assert name in {Stemmer.__name__} | set(__import__("Stemmer").algorithms())
        TopicMatcher(Topic.of("tides, война, πόλεμος")).speaking(language).spans("Tides")


@pytest.mark.parametrize(
    ("topic", "why"),
    [
        ('"sea', "a quote is not closed"),
        ("-jazz", "only what is not"),
        (" , ", "no phrase"),
        ("++", "no letter"),
        ("a*", "an asterisk ends a word"),
        ("*tide", "an asterisk ends a word"),
        ("ti*de", "an asterisk ends a word"),
        ("tide^x", "a weight is a number"),
        ("tide^-1", "a weight is a number"),
        ("tide^inf", "a weight is a number"),
        ("tide^", "a weight is a number"),
        ("tide^2 gauge", "a weight ends a phrase"),
        ("tide -sea level", "follows what is excluded"),
        ("tide --jazz", "what is excluded is"),
        ("tide -jazz^2", "what is excluded is"),
        ("tide -++", "excludes no word"),
    ],
)
def test_wrong_syntax_is_one_line(topic: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as error:
        Topic.of(topic)
    assert "\n" not in str(error.value)


@given(st.text(alphabet='ab"*^-, 2.+\n“', max_size=20))
def test_any_text_is_a_topic_or_an_error_of_one_line(text: str) -> None:
    try:
        topic = Topic.of(text)
    except InputError as error:
        said = str(error)
    else:
        said = "fine"
        assert topic.wanted
        KeywordMatcher(topic.phrases).spans("a b ab 2 a.b a+b a*")
    assert "\n" not in said


def test_the_parts_of_a_topic() -> None:
    topic = Topic.of('tide gauge^2, "sea level"^0.5 -jazz -"new wave", corout*, x - ray')
    said = [(each.spelt, each.weight, each.excluded, each.quoted) for each in topic.phrases]
    assert said == [
        ("tide gauge", 2.0, False, False),
        ("sea level", 0.5, False, True),
        ("jazz", 1.0, True, False),
        ("new wave", 1.0, True, False),
        ("corout", 1.0, False, False),
        ("x ray", 1.0, False, False),
    ]
    assert len(Topic.of("tide, Tide, TIDE^3").phrases) == 1


# -- scores ----------------------------------------------------------------------------------------


def page_of(text: str, *anchors: tuple[int, int], language: str = "") -> Page:
    links = tuple(PageLink("http://a.example/x", start, end) for start, end in anchors)
    return Page("http://a.example/", text=text, links=links, window=0, language=language)


def test_weights_and_exclusions_in_pages_and_links() -> None:
    page = page_of("tide tides sea jazz", (0, 10), (5, 14), (11, 19))
    scores = KeywordScorer("tide^2, sea^0.5").score(page)
    assert scores.beta == log_count(4.5)
    assert scores.alphas == [log_count(4.0), log_count(2.5), 0.5]
    scores = KeywordScorer("tide, sea, -jazz").score(page)
    assert scores.beta == 0.0
    assert scores.alphas == [log_count(2), log_count(2), 0.0]


def test_the_language_of_the_page_chooses_the_stemmer() -> None:
    scorer = KeywordScorer("Haus")
    assert scorer.score(page_of("Häuser", language="de")).beta == 1.0
    assert scorer.score(page_of("Häuser", language="en")).beta == 0.0
    assert scorer.score(page_of("Häuser", language="x" * 1_000)).beta == 0.0


def test_bm25_reads_the_same_topics() -> None:
    texts = ["tides and the sea", "the sea levels", "jazz and tides", "C++ tide"]

    def betas(query: str) -> list[float]:
        scorer = Bm25Scorer(query)
        return [scorer.score(page_of(text)).beta for text in texts]

    assert [beta > 0 for beta in betas("tide")] == [True, False, True, True]
    assert [beta > 0 for beta in betas("tide, -jazz")] == [True, False, False, True]
    assert [beta > 0 for beta in betas('"sea levels", C++')] == [False, True, False, True]
    assert betas("tide^2") == pytest.approx([2 * beta for beta in betas("tide")])


def test_silence_names_frequent_words_until_the_topic_is_heard() -> None:
    for scorer in (KeywordScorer("jazz"), Bm25Scorer("jazz")):
        for number in range(EARLY + 5):
            scorer.score(page_of(f"Brest has a gauge{number % 3 * ' gauges of tides'} and so on"))
        assert scorer.silence.documents == EARLY
        assert {"tides", "gauges"} <= set(scorer.silence.frequent(3))
        scorer.score(page_of("jazz"))
        assert scorer.silence.broken
        assert scorer.silence.frequent() == []
