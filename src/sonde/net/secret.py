"""Secrets: values that are sent to a server and shown to nobody.

A secret comes from the environment or from a file that only its owner can read. Its ``repr`` and
``str`` hide it, it cannot be pickled or copied into a run folder by accident, and only ``reveal``
gives it out, which the client calls at the moment of sending.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NoReturn

from sonde.errors import InputError


class Secret:
    """A value that hides itself.

    >>> Secret("hunter2")
    Secret(...)
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        if any(character in value for character in "\r\n\0"):
            raise InputError("a secret may not contain line breaks")
        self._value = value

    @classmethod
    def from_environment(cls, name: str) -> Secret:
        """The value of an environment variable."""
        value = os.environ.get(name)
        if not value:
            raise InputError(f"the environment variable {name} is not set or empty")
        return cls(value)

    @classmethod
    def from_file(cls, path: str | Path) -> Secret:
        """The first line of a file that only its owner may read."""
        path = Path(path)
        try:
            with path.open(encoding="utf-8") as file:
                # The open file is looked at, not the path: no other file can slip in between.
                mode = os.fstat(file.fileno()).st_mode
                if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
                    raise InputError(
                        f"{path} can be read by others (mode {stat.S_IMODE(mode):o}): chmod 600 it"
                    )
                value = file.readline().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read the secret in {path}: {error}") from None
        if not value:
            raise InputError(f"{path} is empty")
        return cls(value)

    def reveal(self) -> str:
        """The value itself."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(...)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret cannot be pickled")


def revealed(value: str | Secret) -> str:
    """A plain value, or what a secret holds."""
    return value.reveal() if isinstance(value, Secret) else value


def secret_from(text: str) -> str | Secret:
    """A plain value, or the secret that ``env:NAME`` or ``file:PATH`` stands for."""
    kind, colon, rest = text.partition(":")
    if colon and kind == "env":
        return Secret.from_environment(rest)
    if colon and kind == "file":
        return Secret.from_file(rest)
    return text
