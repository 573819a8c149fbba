"""The classifier scorer: the probability that a trained text classifier gives.

beta is the probability of the wanted class for the content, alpha that for the link's window. The
model takes a list of texts (a scikit-learn pipeline that begins with a vectoriser):

- ``.skops`` (the extra ``skops``): loading runs no code; a file that holds types which skops does
  not trust is refused;
- ``.onnx`` (the extra ``onnx``): one input of strings, as skl2onnx writes it;
- ``.pkl``, ``.pickle``, ``.joblib``: loading runs whatever the file says, so only on request.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from sonde.errors import InputError
from sonde.scorers.document import Document, Scores, texts_of

_PLAIN = (["0", "1"], ["false", "true"], ["-1", "1"])
_PICKLES = frozenset((".pkl", ".pickle", ".joblib"))

Probabilities = Callable[[list[str]], list[float]]
"""Gives each text's probability of the wanted class."""


class ClassifierScorer:
    """Scores by a model on disk. ``label`` is the wanted class; it need not be said where the
    classes are 0 and 1, or false and true."""

    def __init__(
        self, path: str | Path, *, label: str | None = None, allow_pickle: bool = False
    ) -> None:
        self.path = Path(path)
        self.label = label
        if not self.path.is_file():
            raise InputError(f"no classifier at {self.path}")
        suffix = self.path.suffix.lower()
        if suffix == ".onnx":
            self._probabilities = _onnx(self.path, label)
        elif suffix == ".skops":
            self._probabilities = _estimator(_load_skops(self.path), self.path, label)
        elif suffix in _PICKLES:
            if not allow_pickle:
                raise InputError(
                    f"{self.path} is a pickle, and loading it runs the code in it; convert it to "
                    "skops or ONNX, or allow pickles explicitly if you made it yourself"
                )
            self._probabilities = _estimator(_load_pickle(self.path), self.path, label)
        else:
            raise InputError(f"{self.path}: a classifier is a .skops, .onnx, .pkl or .joblib file")

    def score(self, document: Document) -> Scores:
        beta, *alphas = self._probabilities(texts_of(document))
        return Scores(beta, alphas)

    def rescore(self, document: Document) -> float:
        """The beta of a document whose main text has changed since it was scored."""
        return self.score(document).beta


def _needed(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise InputError(
            f"this classifier needs {module.partition('.')[0]}: pip install 'sonde[{extra}]'"
        ) from None


def _load_skops(path: Path) -> Any:
    skops = _needed("skops.io", "skops")
    try:
        untrusted = skops.get_untrusted_types(file=path)
        if untrusted:
            raise InputError(f"{path} holds types that are not trusted: {', '.join(untrusted)}")
        return skops.load(path)
    except InputError:
        raise
    except Exception as error:  # skops lets through what zipfile, json and its nodes raise
        raise InputError(f"cannot read {path}: {error}") from None


def _load_pickle(path: Path) -> Any:
    joblib = _needed("joblib", "skops")
    try:
        return joblib.load(path)
    except Exception as error:  # unpickling may raise anything at all
        raise InputError(f"cannot read {path}: {error}") from None


def _estimator(model: Any, path: Path, label: str | None) -> Probabilities:
    """A scikit-learn model as a function."""
    if hasattr(model, "predict_proba"):
        column = _column([str(name) for name in model.classes_], label, path)

        def probabilities(texts: list[str]) -> list[float]:
            return [float(row[column]) for row in model.predict_proba(texts)]

        return probabilities
    if not hasattr(model, "decision_function"):
        raise InputError(f"{path} gives no probabilities: it is a {type(model).__name__}")
    classes = [str(name) for name in model.classes_]
    column = _column(classes, label, path)

    def squashed(texts: list[str]) -> list[float]:
        margins = model.decision_function(texts)
        if len(classes) == 2:
            sign = 1.0 if column == 1 else -1.0
            return [_logistic(sign * float(margin)) for margin in margins]
        return [_logistic(float(row[column])) for row in margins]

    return squashed


def _logistic(margin: float) -> float:
    return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, margin))))


def _onnx(path: Path, label: str | None) -> Probabilities:
    runtime = _needed("onnxruntime", "onnx")
    numpy = import_module("numpy")
    try:
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4  # what goes wrong is raised, and need not be printed too
        session = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime has its own tree of errors, by version
        raise InputError(f"cannot read {path}: {error}") from None
    inputs = session.get_inputs()
    outputs = session.get_outputs()
    if len(inputs) != 1 or inputs[0].type != "tensor(string)" or len(outputs) < 2:
        raise InputError(f"{path}: expected one input of strings, a label and probabilities")
    flat = len(inputs[0].shape) == 1

    def probabilities(texts: list[str]) -> list[float]:
        given = numpy.array(texts, dtype=object)
        result = session.run(
            [outputs[1].name], {inputs[0].name: given if flat else given.reshape(-1, 1)}
        )[0]
        if isinstance(result, list):  # a map from class to probability for each text
            names = list(result[0])
            wanted = names[_column([str(name) for name in names], label, path)]
            return [float(row[wanted]) for row in result]
        column = _column_number(label, result.shape[1], path)
        return [float(row[column]) for row in result]

    probabilities([""])  # says what is wrong with the label
    return probabilities


def _column(classes: Sequence[str], label: str | None, path: Path) -> int:
    if label is None:
        if [name.lower() for name in classes] in _PLAIN:
            return 1
        raise InputError(
            f"{path} has the classes {', '.join(classes):.200}: say which is wanted, as in"
            f" classifier:{path}#{classes[-1]}"
        )
    if label not in classes:
        raise InputError(f"{path} has no class {label!r}, only {', '.join(classes)}")
    return classes.index(label)


def _column_number(label: str | None, width: int, path: Path) -> int:
    """An ONNX model without class names has numbered columns."""
    if label is None:
        return _column([str(number) for number in range(width)], None, path)
    if not label.isdigit() or int(label) >= width:
        raise InputError(f"{path} has classes 0 to {width - 1}, not {label!r}")
    return int(label)
