"""The shapes of URLs, and paths that grow for ever."""

from __future__ import annotations

import pytest

from sonde.sources.web.url_shapes import growing, shapes_of

HOST = "http://a.example"


@pytest.mark.parametrize(
    ("path", "trap"),
    [
        ("/a/b/c", False),
        ("/a/a/b", False),
        ("/a/a/a/b", True),
        ("/x/a/b/a/b/a/b", True),
        ("/a/b/c/a/b/c/a/b/c", True),
        ("/a/x/a/y/a/z/a", True),
        ("/a/x/a/y/a/z", False),
        ("/" + "/".join(map(str, range(25))), True),
        ("/" + "/".join(map(str, range(12))), False),
    ],
)
def test_growing_paths(path: str, trap: bool) -> None:
    assert (growing(HOST + path) is not None) is trap


def test_shapes_of_a_url() -> None:
    shapes = shapes_of(f"{HOST}/2026/11/x?page=3")
    assert shapes.template == f"{HOST}/0/0/x?page"
    assert (shapes.path, shapes.directory) == (f"{HOST}/0/0/x?*", f"{HOST}/0/0/*")
    assert (shapes.segment, shapes.host) == (f"{HOST}/2026/**", f"{HOST}/")
    assert shapes.place == shapes.directory
    assert shapes_of(f"{HOST}/page").levels() == [
        ("template", f"{HOST}/page"),
        ("segment", f"{HOST}/**"),
    ]
    assert shapes_of(f"{HOST}/page").place == f"{HOST}/**"
