"""Files and folders that appear whole or not at all: written under another name, then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sonde.errors import InputError


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A name to write to, in the same folder; the file at `path` is replaced when all went well."""
    partial = _partial(path)
    if path.is_dir():
        raise InputError(f"{path}: a folder, not a file")
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):  # not there, or its folder is not
            partial.unlink()


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which takes the name `path` when all went well.

    What is already there is never mixed with what is new: `path` must not exist, or be empty.
    """
    partial = _partial(path)
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InputError(f"{path}: already there; name a new folder")
        partial.mkdir(parents=True)
        yield partial
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _partial(path: Path) -> Path:
    return path.parent / f".{path.name}.{os.getpid()}.partial"
