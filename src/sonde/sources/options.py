"""Options as plain data: the fields of a frozen dataclass, read from TOML, JSON or a command line.

A field is a text, a number, a truth value, a list of texts or a table, with or without ``None``.
Whatever is unknown or of another kind is an ``InputError`` that says where it stood.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, TypeVar

from sonde.errors import InputError

_Read = TypeVar("_Read")


def read_options(
    cls: type[_Read],
    values: Mapping[str, Any],
    where: str,
    *,
    noun: str = "setting",
    spelt: Mapping[str, str] | None = None,
) -> _Read:
    """An instance of `cls` from plain data; `spelt` gives other spellings of field names."""
    known: dict[str, Field[Any]] = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    told: dict[str, Any] = {}
    for name, value in values.items():
        field = known.get((spelt or {}).get(name, name.replace("-", "_")))
        if field is None:
            near = difflib.get_close_matches(name, known, 1)
            hint = f": did you mean {near[0]}?" if near else f" (known: {', '.join(known)})"
            if not known:
                hint = f" (there are no {noun}s here)"
            raise InputError(f"{where}: unknown {noun} {name!r}{hint}")
        told[field.name] = _checked(where, name, value, str(field.type))
    for name, field in known.items():
        if name not in told and field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{where}: the {noun} {name} is needed")
    return cls(**told)


def text_of_file(path: str | Path) -> str:
    """What a file says; ``InputError`` where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read: {reason}") from None


def as_data(options: Any, *, defaults: bool = True) -> dict[str, Any]:
    """All fields as plain data, with or without those that are as they are by default."""
    return {
        field.name: list(value) if isinstance(value, tuple) else value
        for field in fields(options)
        if (value := getattr(options, field.name)) != field.default or defaults
    }


def texts_to_data(cls: type, texts: Iterable[str]) -> dict[str, Any]:
    """Options written as ``name=value``, each value as its field wants it; lists by repeating."""
    kinds = {field.name: str(field.type) for field in fields(cls)}
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise InputError(f"an option is name=value, not {text!r}")
        kind = kinds.get(name, "str")
        if kind.startswith("tuple"):
            found.setdefault(name, []).append(value)
        else:
            found[name] = _converted(name, value, kind.split(" | "))
    return found


def _converted(name: str, text: str, kinds: list[str]) -> Any:
    """The text as the first of the kinds that it can be."""
    if "bool" in kinds:
        truth = {"true": True, "yes": True, "false": False, "no": False}.get(text.lower())
        if truth is None:
            raise InputError(f"the option {name} is yes or no, not {text!r}")
        return truth
    for word, make in (("int", int), ("float", float)):
        if word in kinds:
            try:
                return make(text)
            except ValueError:
                continue
    if "str" not in kinds:
        raise InputError(f"the option {name} must be {' or '.join(kinds)}, not {text!r}")
    return text


def _checked(where: str, name: str, value: Any, kind: str) -> Any:
    if kind.startswith("tuple"):
        if isinstance(value, str):
            value = [value]
        if not isinstance(value, (list, tuple)) or not all(isinstance(v, str) for v in value):
            raise InputError(f"{where}: {name} must be a list of texts, not {value!r}")
        return tuple(value)
    if value is None and "None" in kind:
        return None
    if kind.startswith("Mapping"):
        several = isinstance(value, (list, tuple)) and all(isinstance(v, dict) for v in value)
        if not several and not isinstance(value, dict):
            raise InputError(f"{where}: {name} must be a table, or several, not {value!r}")
        return value
    wanted: dict[str, tuple[type, ...]] = {
        "bool": (bool,),
        "int": (int,),
        "float": (int, float),
        "str": (str,),
    }
    allowed = [types for word, types in wanted.items() if word in kind.split(" | ")]
    good = any(isinstance(value, types) for types in allowed)
    if not good or (isinstance(value, bool) and "bool" not in kind):
        raise InputError(f"{where}: {name} must be {kind.replace(' | None', '')}, not {value!r}")
    return value
