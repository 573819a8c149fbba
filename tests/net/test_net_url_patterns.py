"""Patterns of URLs: each form fits what its definition says, and none takes long."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.errors import InputError
from sonde.net.url_patterns import PlainUrl, UrlPatterns, folded, url_pattern
from sonde.net.urls import MAX_URL


def fits(pattern: str, url: str) -> bool:
    return url_pattern(pattern).fits(PlainUrl(url))


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        # a glob has to fit the whole URL
        ("*.pdf", "https://a.example/x.pdf", True),
        ("*.pdf", "https://a.example/x.pdf?page=2", False),
        ("https://a.example/docs/*", "https://a.example/docs/", True),
        ("https://a.example/docs/*", "https://b.example/docs/", False),
        ("a.example/*", "https://a.example/x", False),
        ("*a.example/*", "https://a.example/x", True),
        # from the path on where it begins with a slash
        ("/fr/*", "https://a.example/fr/x", True),
        ("/fr/*", "https://a.example/x/fr/y", False),
        ("/*/fr/*", "https://a.example/x/fr/y", True),
        ("/login*", "https://login.example/x", False),
        # nothing but the star is special
        ("/a?b=[1]*", "https://a.example/a?b=[1]2", True),
        ("/a?b=[1]*", "https://a.example/axb=12", False),
        # pieces must not overlap
        ("*aba*aba", "https://x.example/aba", False),
        ("*aba*aba", "https://x.example/abaaba", True),
        # a text without a star occurs
        ("/print/", "https://a.example/x/print/y", True),
        ("/print/", "https://a.example/x/printer/y", False),
        # parameters
        ("?action=edit", "https://a.example/w?title=X&action=edit", True),
        ("?action=edit", "https://a.example/w?action=editor", False),
        ("?action=edit", "https://a.example/w?reaction=edit", False),
        ("?action=edit*", "https://a.example/w?action=editor", True),
        ("?oldid", "https://a.example/w?x=1;oldid=7", True),
        ("?oldid", "https://a.example/oldid", False),
        ("?filter_*", "https://a.example/shop?filter_colour=red", True),
        ("?title=a b", "https://a.example/?title=a+b", True),
        # case and escapes
        ("*/wiki/special:*", "https://a.example/wiki/Special%3ALog", True),
        (
            "*/Служебная:*",
            "https://a.example/wiki/%d0%a1%D0%BB%D1%83%D0%B6%D0%B5%D0%B1%D0%BD%D0%B0%D1%8F:X",
            True,
        ),
        # expressions see the URL as it is
        ("re:/p/[0-9]+$", "https://a.example/p/12", True),
        ("re:/p/[0-9]+$", "https://a.example/p/12/x", False),
        ("re:Special", "https://a.example/special", False),
        ("re:(?i)Special", "https://a.example/special", True),
    ],
)
def test_a_pattern_fits_what_its_form_says(pattern: str, url: str, expected: bool) -> None:
    assert fits(pattern, url) is expected


@given(
    st.text("ab*", min_size=1, max_size=12).filter(lambda text: "*" in text),
    st.text("ab", max_size=20),
)
def test_globs_are_the_expressions_that_they_stand_for(glob: str, tail: str) -> None:
    url = f"https://a.example/{tail}"
    expected = re.fullmatch(re.escape(glob).replace(r"\*", ".*"), folded(url)) is not None
    assert fits(glob, url) is expected
    from_path = re.fullmatch("/" + re.escape(glob).replace(r"\*", ".*"), f"/{tail}") is not None
    assert fits("/" + glob, url) is from_path


@contextmanager
def stopped_after(seconds: int) -> Iterator[None]:
    """Fail rather than hang: what is tested would take longer than the universe is old."""

    def late(number: int, frame: FrameType | None) -> None:
        raise AssertionError("a pattern took too long")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    "pattern",
    [
        "re:(a+)+$",
        "re:(a|a)*b",
        "re:a*a*a*a*a*a*a*a*b",
        "*a*a*a*a*a*a*a*a*a*a*a*a*a*b",
        "re:(a?){900}a",
    ],
)
def test_no_pattern_backtracks(pattern: str) -> None:
    url = "https://a.example/" + "a" * (MAX_URL - 30) + "!"
    with stopped_after(20):
        for _ in range(20):
            fits(pattern, url)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("", "not a pattern"),
        ("re:", "not a pattern"),
        ("re:(", "not a regular expression of RE2: 're:(': missing )"),
        (r"re:(a)\1", "not a regular expression of RE2"),
        ("re:(?=a)", "not a regular expression of RE2"),
        ("?=x", "names a parameter"),
        ("a" * 1_001, "1000 characters"),
        ("a\nb", "not a pattern"),
    ],
)
def test_what_is_no_pattern_is_said_in_a_line(
    pattern: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=re.escape(said)) as error:
        url_pattern(pattern)
    assert "\n" not in str(error.value)
    assert capfd.readouterr() == ("", "")  # RE2 would log it


def test_the_first_that_fits_is_named() -> None:
    patterns = UrlPatterns(("*.pdf", "/a/*"))
    assert patterns.first(PlainUrl("https://x.example/a/b.pdf")) == "*.pdf"
    assert patterns.first(PlainUrl("https://x.example/a/b")) == "/a/*"
    assert patterns.first(PlainUrl("https://x.example/b")) is None
    assert not UrlPatterns(()).fit("https://x.example/")
