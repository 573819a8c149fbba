"""BM25, patterns, functions, classifiers, embeddings, and the spec that chooses among them."""

from __future__ import annotations

import json
import math
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sonde.errors import InputError, SpecError
from sonde.scorers import (
    Bm25Scorer,
    FunctionScorer,
    KeywordScorer,
    PatternScorer,
    Scores,
    log_count,
    scorer_from,
)
from sonde.scorers.classifier import ClassifierScorer
from sonde.scorers.embedding import EmbeddingScorer
from sonde.sources.page import Page, PageLink, read_page

TEXTS = ["the sea level rises", "the tide gauge and the sea", "a cake recipe", "sugar and cake"]


def page_of(text: str, *anchors: tuple[int, int]) -> Page:
    links = tuple(PageLink("http://a.example/x", start, end) for start, end in anchors)
    return Page("http://a.example/", text=text, links=links, window=0)


PAGE = page_of("the sea level and a cake", (4, 13), (20, 24))


def test_bm25_by_hand() -> None:
    scorer = Bm25Scorer("sea, gauge")
    first = scorer.score(page_of(TEXTS[0]))
    idf = math.log(1 + 0.5 / 1.5)
    assert first.beta == pytest.approx(idf * 2.2 / (1 + 1.2))
    assert scorer.score(page_of(TEXTS[2])).beta == 0.0
    third = scorer.score(page_of(TEXTS[1], (4, 14)))
    mean = (4 + 3 + 6) / 3
    damp = 1.2 * (0.25 + 0.75 * 6 / mean)
    sea, gauge = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    assert third.beta == pytest.approx((sea + gauge) * 2.2 / (1 + damp))
    assert third.alphas[0] == pytest.approx(gauge * 2.2 / 2.2)


def test_bm25_state_restores() -> None:
    one, two = Bm25Scorer("sea gauge"), Bm25Scorer("sea gauge")
    for text in TEXTS[:2]:
        one.score(page_of(text))
    two.restore(json.loads(json.dumps(one.state())))
    for text in TEXTS[2:]:
        assert one.score(page_of(text, (0, 5))) == two.score(page_of(text, (0, 5)))
    assert one.state() == two.state()


def test_pattern() -> None:
    scores = PatternScorer(r"(?i)SEA|l\w+l|x*").score(PAGE)
    assert scores == Scores(log_count(2), [log_count(2), 0.0])
    with pytest.raises(InputError, match="regular expression"):
        PatternScorer("(")


def words(page: Any) -> float:
    return float(len(page.content.split()))


def anchor_length(page: Any, link: Any) -> float:
    return float(link.end - link.start)


def negative(page: Any) -> float:
    return -1.0


def test_functions() -> None:
    # Without a link function the page function scores what stands around links, or the topic does.
    assert FunctionScorer(words).score(PAGE) == Scores(6.0, [2.0, 1.0])
    assert FunctionScorer(lambda page: len(page.title)).score(PAGE).alphas == [9.0, 4.0]
    topical = scorer_from("cake", words)
    assert topical.score(PAGE) == Scores(6.0, [0.0, 1.0])
    assert scorer_from("cakes", f"python:{__name__}:words").score(PAGE) == topical.score(PAGE)
    name = __name__
    assert name in sys.modules
    both = FunctionScorer.from_spec(f"{name}:words, {name}:anchor_length")
    assert both.score(PAGE) == Scores(6.0, [9.0, 4.0])
    with pytest.raises(InputError, match="negative returned -1"):
        FunctionScorer(negative).score(PAGE)
    for spec, message in {
        "words": "module:function",
        "no.such.module:f": "cannot import",
        f"{name}:nothing": "cannot import",
        f"{name}:TEXTS": "not a function",
        "a:b,c:d,e:f": "expected",
    }.items():
        with pytest.raises(InputError, match=message):
            FunctionScorer.from_spec(spec)


def test_specs(tmp_path: Path) -> None:
    assert isinstance(scorer_from("sea level"), KeywordScorer)
    assert isinstance(scorer_from("sea level", "bm25"), Bm25Scorer)
    assert isinstance(scorer_from(None, "regex:a:b"), PatternScorer)
    assert isinstance(scorer_from(None, f"python:{__name__}:words"), FunctionScorer)
    assert isinstance(scorer_from(None, words), FunctionScorer)
    own = KeywordScorer("x")
    assert scorer_from(None, own) is own
    for spec in ("nonsense", "regex:", "keywords:x"):
        with pytest.raises(SpecError, match="unknown scorer"):
            scorer_from("x", spec)
    for spec in ("keywords", "bm25", "embedding:x.npz"):
        with pytest.raises(SpecError, match="needs a topic"):
            scorer_from(" , ", spec)
    with pytest.raises(InputError, match="no classifier"):
        scorer_from(None, f"classifier:{tmp_path}/x.skops#sea")


def trained(kind: str = "proba", names: tuple[str, ...] = ("cake", "sea")) -> Any:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    linear = pytest.importorskip("sklearn.linear_model")
    svm = pytest.importorskip("sklearn.svm")
    pipeline = pytest.importorskip("sklearn.pipeline")
    last = linear.LogisticRegression() if kind == "proba" else svm.LinearSVC()
    labels = [names[-1], names[-1], names[0], names[0]]
    if len(names) == 3:
        labels[1] = names[1]
    # ONNX asks the machine for a locale to change case with; without one it cannot load.
    return pipeline.make_pipeline(text.CountVectorizer(lowercase=False), last).fit(TEXTS, labels)


@pytest.mark.slow
def test_a_classifier_in_skops(tmp_path: Path) -> None:
    io = pytest.importorskip("skops.io")
    path = tmp_path / "model.skops"
    model = trained()
    io.dump(model, path)
    with pytest.raises(InputError, match=r"classes cake, sea: say which .* classifier:.*#sea"):
        ClassifierScorer(path)
    scores = ClassifierScorer(path, label="sea").score(PAGE)
    expected = model.predict_proba([PAGE.content, "sea level", "cake"])[:, 1].tolist()
    assert [scores.beta, *scores.alphas] == pytest.approx(expected)
    other = ClassifierScorer(path, label="cake").score(PAGE)
    assert other.beta == pytest.approx(1 - scores.beta)
    chosen = scorer_from(None, f"classifier:{path}#cake")
    assert chosen.score(PAGE) == other
    with pytest.raises(InputError, match="no class 'x'"):
        ClassifierScorer(path, label="x")


class Sneaky:
    """A type that skops does not know."""


def test_a_skops_file_with_foreign_types_is_refused(tmp_path: Path) -> None:
    io = pytest.importorskip("skops.io")
    path = tmp_path / "model.skops"
    io.dump(Sneaky(), path)
    with pytest.raises(InputError, match="not trusted"):
        ClassifierScorer(path)
    path.write_bytes(b"rubbish")
    with pytest.raises(InputError, match="cannot read"):
        ClassifierScorer(path)


@pytest.mark.parametrize("names", [("cake", "sea"), ("cake", "gauge", "sea")])
def test_a_classifier_without_probabilities(tmp_path: Path, names: tuple[str, ...]) -> None:
    model = trained("margin", names)
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    with pytest.raises(InputError, match="runs the code"):
        ClassifierScorer(path)
    scores = ClassifierScorer(path, label="sea", allow_pickle=True).score(PAGE)
    assert scores.alphas[0] > 0.5 > scores.alphas[1]
    other = ClassifierScorer(path, label="cake", allow_pickle=True).score(PAGE)
    assert other.alphas[0] < 0.5 < other.alphas[1]


def test_other_pickles_and_files(tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    path = tmp_path / "model.joblib"
    path.write_bytes(pickle.dumps({"not": "a model"}))
    with pytest.raises(InputError, match="no probabilities"):
        ClassifierScorer(path, allow_pickle=True)
    path.write_bytes(b"rubbish")
    with pytest.raises(InputError, match="cannot read"):
        ClassifierScorer(path, allow_pickle=True)
    other = tmp_path / "model.txt"
    other.write_text("x")
    with pytest.raises(InputError, match="a classifier is"):
        ClassifierScorer(other)


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, extra in (("model.onnx", "onnx"), ("model.skops", "skops")):
        path = tmp_path / name
        path.write_text("x")
        monkeypatch.setitem(sys.modules, "onnxruntime", None)
        monkeypatch.setitem(sys.modules, "skops.io", None)
        with pytest.raises(InputError, match=re.escape(f"sonde[{extra}]")):
            ClassifierScorer(path)
    folder = tmp_path / "model"
    folder.mkdir()
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(InputError, match=re.escape("sonde[embedding]")):
        EmbeddingScorer(folder, "sea")


def test_onnx_that_cannot_be_read(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    path = tmp_path / "model.onnx"
    path.write_bytes(b"rubbish")
    with pytest.raises(InputError, match="cannot read"):
        ClassifierScorer(path)


@pytest.mark.parametrize("zipmap", [True, False])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_classifier_in_onnx(tmp_path: Path, zipmap: bool) -> None:
    pytest.importorskip("onnxruntime")
    convert = pytest.importorskip("skl2onnx")
    types = pytest.importorskip("skl2onnx.common.data_types")
    model = trained()
    written = convert.convert_sklearn(
        model,
        initial_types=[("text", types.StringTensorType([None, 1]))],
        options={id(model): {"zipmap": zipmap}},
    )
    path = tmp_path / "model.onnx"
    path.write_bytes(written.SerializeToString())
    if zipmap:
        with pytest.raises(InputError, match="classes cake, sea: say which"):
            ClassifierScorer(path)
    scores = ClassifierScorer(path, label="sea" if zipmap else None).score(PAGE)
    expected = model.predict_proba([PAGE.content, "sea level", "cake"])[:, 1].tolist()
    assert [scores.beta, *scores.alphas] == pytest.approx(expected, abs=1e-4)
    label = "cake" if zipmap else "0"
    other = ClassifierScorer(path, label=label).score(PAGE)
    assert other.beta == pytest.approx(1 - scores.beta, abs=1e-4)
    with pytest.raises(InputError, match="class"):
        ClassifierScorer(path, label="7")


VECTORS = {"sea": [1.0, 0.0], "level": [0.8, 0.2], "cake": [-0.1, 1.0], "ete": [0.5, 0.5]}


def check_embedding(scorer: EmbeddingScorer) -> None:
    scores = scorer.score(PAGE)
    assert scores.alphas[0] > scores.beta > scores.alphas[1] == 0.0
    mean = np.array([0.9, 0.1])
    assert scores.alphas[0] == pytest.approx(mean[0] / np.linalg.norm(mean))


def test_embeddings_on_disk(tmp_path: Path) -> None:
    npz = tmp_path / "model.npz"
    np.savez(npz, words=np.array(list(VECTORS)), vectors=np.array(list(VECTORS.values())))
    check_embedding(EmbeddingScorer(npz, "Sea"))
    lines = [f"{word} {' '.join(map(str, vector))}" for word, vector in VECTORS.items()]
    text = tmp_path / "model.vec"
    text.write_text("\n".join([f"{len(VECTORS)} 2", *lines]))
    check_embedding(EmbeddingScorer(text, "sea"))
    glove = tmp_path / "glove.txt"
    glove.write_text("\n".join(lines))
    scorer = scorer_from("sea", f"embedding:{glove}")
    assert isinstance(scorer, EmbeddingScorer)
    check_embedding(scorer)
    assert scorer.score(page_of("été")).beta == pytest.approx(math.sqrt(0.5), abs=1e-6)
    assert scorer.score(page_of("unknown")).beta == 0.0


def test_a_model2vec_folder(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {word: row for row, word in enumerate(VECTORS)} | {"[UNK]": 4}
    model = tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    table = np.array([*VECTORS.values(), [0.0, 0.0]], dtype="<f2")
    header = json.dumps(
        {"embeddings": {"dtype": "F16", "shape": [5, 2], "data_offsets": [0, table.nbytes]}}
    ).encode()
    raw = len(header).to_bytes(8, "little") + header + table.tobytes()
    (tmp_path / "model.safetensors").write_bytes(raw)
    scores = EmbeddingScorer(tmp_path, "sea").score(PAGE)
    assert scores.alphas[0] > scores.beta > scores.alphas[1] == 0.0
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="cannot read"):
        EmbeddingScorer(tmp_path, "sea")


def test_embeddings_that_cannot_be_used(tmp_path: Path) -> None:
    bad = tmp_path / "bad.npz"
    bad.write_bytes(b"rubbish")
    short = tmp_path / "short.npz"
    np.savez(short, words=np.array(["a", "b"]), vectors=np.ones((1, 2)))
    fine = tmp_path / "fine.npz"
    np.savez(fine, words=np.array(["a"]), vectors=np.ones((1, 2)))
    ragged = tmp_path / "ragged.vec"
    ragged.write_text("a 1 2 3\nb 1 2\n")
    other = tmp_path / "x.bin"
    other.write_bytes(b"")
    for path, message in (
        (bad, "cannot read"),
        (short, "one finite vector"),
        (fine, "no word of the topic"),
        (ragged, "cannot read"),
        (other, "an embedding is"),
        (tmp_path / "none.npz", "cannot read"),
    ):
        with pytest.raises(InputError, match=message):
            EmbeddingScorer(path, "sea")


def test_a_web_page_is_a_document() -> None:
    page = read_page(b"<p>The tide <a href=/x>gauge</a>", "http://a.example/")
    for spec in ("keywords", "bm25", "regex:tide"):
        scores = scorer_from("tide", spec).score(page)
        assert scores.beta > 0
        assert len(scores.alphas) == len(page.links) == 1
