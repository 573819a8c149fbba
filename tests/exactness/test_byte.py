"""What is said of bytes is true, and the two files that say it agree."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import FunctionType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sonde.kernels import byte as module

byte: Any = module
SOURCE = Path(str(byte.__file__))
FUNCTIONS = sorted(name for name, thing in vars(byte).items() if isinstance(thing, FunctionType))


def definitions(text: str) -> dict[str, str]:
    """The functions of a module by name, without their docstrings."""
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            if ast.get_docstring(node) is not None:
                del node.body[0]
            found[node.name] = ast.unparse(node)
    return found


def without_types(text: str) -> str:
    """A ``.pxd`` of constants and inline functions as Python."""
    text = re.sub(r"<[a-z ]+\*?>", "", text)
    text = re.sub(r"^( +)cdef [a-z ]+?\*? ?(?=\w+ = )", r"\1", text, flags=re.MULTILINE)
    text = text.replace("&codes[0]", "codes")

    def plain(function: re.Match[str]) -> str:
        arguments = [part.split()[-1] for part in function[2].split(",")]
        return f"def {function[1]}({', '.join(arguments)}):"

    inline = r"^cdef inline [a-z ]+?(\w+)\(([^)]*)\) noexcept nogil:"
    return re.sub(inline, plain, text[text.index("cdef inline") :], flags=re.MULTILINE)


def test_the_compiler_is_told_the_same() -> None:
    declared = SOURCE.with_suffix(".pxd").read_text()
    numbers = {
        name: int(value.removesuffix("ULL"), 0)
        for name, value in re.findall(
            r"^    (?:#define sonde_)?([A-Z_]+)(?: =)? (\w+)$", declared, flags=re.MULTILINE
        )
    }
    assert numbers == {name: value for name, value in vars(byte).items() if name.isupper()}
    compiled = definitions(without_types(declared))
    python = definitions(SOURCE.read_text())
    assert list(compiled) == list(python)
    assert "memchr" in compiled.pop("found")
    del python["found"]
    assert compiled == python


def test_nothing_is_there_that_no_kernel_uses() -> None:
    kernels = "".join(
        path.read_text() for path in SOURCE.parent.rglob("*.py") if path.name != SOURCE.name
    )
    own = SOURCE.read_text()
    for name in [*FUNCTIONS, *(name for name in vars(byte) if name.isupper())]:
        used = re.search(rf"\b{name}\b", kernels) or len(re.findall(rf"\b{name}\b", own)) > 1
        assert used, name


def test_kinds_of_bytes() -> None:
    for code, character in enumerate(map(chr, range(256))):
        ascii_only = code < 128
        assert byte.is_blank(code) == (character in "\t\n\f\r ")
        assert byte.is_letter(code) == (ascii_only and character.isalpha())
        assert byte.is_digit(code) == (ascii_only and character.isdigit())
        assert byte.is_alphanumeric(code) == (ascii_only and character.isalnum())
        assert byte.ends_name(code) == (character in "\t\n\f\r />")
        if ascii_only:
            assert byte.is_space(code) == character.isspace()
            assert byte.is_visible(code) == (character.isprintable() and character != " ")
        if character in "0123456789abcdefABCDEF":
            assert byte.digit(code) == int(character, 16)


@given(st.binary(min_size=8, max_size=12), st.integers(0, 4))
def test_eight_bytes_are_one_number(raw: bytes, at: int) -> None:
    at = min(at, len(raw) - 8)
    assert byte.eight_bytes(raw, at) == int.from_bytes(raw[at : at + 8], "little")


def test_the_hash_is_fnv_1a() -> None:
    digest = byte.FNV_START
    for code in b"foobar":
        digest = byte.hashed(digest, code)
    assert digest == 0x85944171F73967E8  # as its authors publish it


@given(st.binary(max_size=20), st.integers(0, 22), st.integers(0, 255))
def test_a_byte_is_found(raw: bytes, at: int, code: int) -> None:
    place = raw.find(code, at)
    assert byte.found(memoryview(raw), at, code) == (place if place >= 0 else len(raw))
