"""The text form of estimators, as the command line takes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

from sonde.errors import SpecError
from sonde.estimators.bandits import (
    DynamicThompson,
    EpsilonFirst,
    EpsilonGreedy,
    Hedge,
    Hybrid,
    VariableEpsilonFirst,
)
from sonde.estimators.builder import KINDS, Estimator
from sonde.estimators.custom import Custom
from sonde.estimators.flow import NavigationalRank, Opic
from sonde.estimators.linear import Feature, LinearNeighbourhood
from sonde.estimators.significance import url_significance
from sonde.estimators.yardsticks import BreadthFirst, Oracle, Random
from sonde.estimators.yields import FORECASTS, OPTIONS, Auto, ParentYield, Ridge
from sonde.protocols import CustomEstimator

DEFAULT = "auto"
_MOST_DIGITS = 10  # of a number of steps
_MOST_NESTED = 20


def split_list(text: str) -> list[str]:
    """Split on commas that stand outside brackets."""
    parts = [""]
    depth = 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if depth < 0:
            break
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    if depth:
        raise SpecError(f"{text!r}: the brackets do not match")
    return [part.strip() for part in parts]


def estimator_from(estimator: str | Estimator | CustomEstimator) -> Estimator:
    """An estimator from its text; objects pass, a user's own class is wrapped."""
    if not isinstance(estimator, str):
        if isinstance(estimator, CustomEstimator):
            return Custom(estimator)
        if not hasattr(estimator, "build"):
            raise SpecError(
                f"{estimator!r} is not an estimator: it needs features, predict() and learn()"
            )
        return estimator
    text = estimator.strip()
    if text.count("[") > _MOST_NESTED:
        raise SpecError(f"estimator {text!r:.200}: too many brackets")
    head, bracket, inside = text.partition("[")
    name, *arguments = head.split(":")
    if bracket:
        if not inside.endswith("]"):
            raise SpecError(f"estimator {text!r}: the brackets do not match")
        return _combined(text, name, arguments, split_list(inside[:-1]))
    return _plain(text, name, arguments)


def _plain(text: str, name: str, arguments: list[str]) -> Estimator:
    fixed: dict[str, Callable[[], Estimator]] = {
        "random": Random,
        "bfs": BreadthFirst,
        "oracle": Oracle,
        "deg": lambda: Feature("deg"),
        "deg2": lambda: Feature("deg2"),
    }
    if name in fixed and not arguments:
        return fixed[name]()
    if name == "nr":
        return _navigational(text, arguments)
    if name in ("url", "url+lnh"):
        return url_significance(text, name, arguments)
    if name in (ParentYield.name, Auto.name):
        return _yielding(text, ParentYield if name == ParentYield.name else Auto, arguments)
    if name in FORECASTS:
        return _forecast(text, FORECASTS[name], arguments)
    if len(arguments) <= 1:
        argument = arguments[0] if arguments else ""
        if name.removesuffix("2") in KINDS:
            return Feature(f"{name}:{argument or 'sum'}")
        if name in ("lnh", "lnh2"):
            return LinearNeighbourhood(argument or "sum", 2 if name == "lnh2" else 1)
        if name == "opic":
            return Opic(argument)
    raise SpecError(
        f"unknown estimator {text!r} (random, bfs, oracle, deg, n, e, ne, deg2, n2, e2, ne2, lnh, "
        f"lnh2, opic, nr, yield, auto, ridge, ucb, posterior, hurdle, url, url+lnh, hybrid[...], "
        f"hedge[...] or mab:...[...])"
    )


def _navigational(text: str, arguments: list[str]) -> Estimator:
    keep = 0.5
    exact = False
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key == "exact" and not value:
            exact = True
        elif key == "d":
            keep = _number(text, value)
        else:
            raise SpecError(f"estimator {text!r}: nr takes exact and d=..., not {argument!r}")
    return NavigationalRank(keep, exact)


def _yielding(text: str, kind: type[ParentYield], arguments: list[str]) -> Estimator:
    parameters = {OPTIONS[part.name]: part.name for part in fields(kind)}
    chosen = {}
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key not in parameters:
            raise SpecError(
                f"estimator {text!r}: {kind.name} takes "
                f"{', '.join(f'{name}=...' for name in parameters)}, not {argument!r}"
            )
        chosen[parameters[key]] = _number(text, value)
    return kind(**chosen)


def _forecast(text: str, kind: type[Ridge], arguments: list[str]) -> Estimator:
    taken = [part.name for part in fields(kind)]
    chosen = {}
    for argument in arguments:
        key, _, value = argument.partition("=")
        if key not in taken:
            raise SpecError(
                f"estimator {text!r}: {kind.name} takes "
                f"{', '.join(f'{name}=...' for name in taken)}, not {argument!r}"
            )
        chosen[key] = _number(text, value)
    return kind(**chosen)


def _combined(text: str, name: str, arguments: list[str], parts: list[str]) -> Estimator:
    if name == "hybrid" and not arguments:
        if len(parts) != 3 or not (parts[2].isdecimal() and len(parts[2]) < _MOST_DIGITS):
            raise SpecError(
                f"estimator {text!r}: hybrid takes two estimators and a number of steps, "
                f"as in hybrid[ne,lnh,1000]"
            )
        return Hybrid(estimator_from(parts[0]), estimator_from(parts[1]), int(parts[2]))
    settings = {key: value for key, _, value in (part.partition("=") for part in arguments)}
    arms = tuple(estimator_from(part) for part in parts if part)
    if name == "hedge" and set(settings) <= {"rate", "share"}:
        return Hedge(arms, **{key: _number(text, value) for key, value in settings.items()})
    if name != "mab" or not arguments:
        raise SpecError(
            f"unknown estimator {text!r} (hybrid[a,b,steps], hedge[...], mab:eps=0.1[...], "
            f"mab:eps-first=0.1[...], mab:var[...] or mab:thompson[...])"
        )
    if set(settings) == {"thompson"}:
        memory = settings["thompson"]
        return DynamicThompson(arms, _number(text, memory) if memory else None)
    if "var" in settings and set(settings) <= {"var", "eps"}:
        return VariableEpsilonFirst(_number(text, settings.get("eps", "0.1")), arms)
    if set(settings) == {"eps"}:
        return EpsilonGreedy(_number(text, settings["eps"]), arms)
    if set(settings) == {"eps-first"}:
        return EpsilonFirst(_number(text, settings["eps-first"]), arms)
    raise SpecError(
        f"estimator {text!r}: a bandit is mab:eps=, mab:eps-first=, mab:var or mab:thompson"
    )


def _number(text: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise SpecError(f"estimator {text!r}: {value!r} is not a number") from None
