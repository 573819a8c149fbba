"""Markdown of pages: tables are tables, and what only lays out a page is not one."""

from __future__ import annotations

import pytest

from sonde.sources.web.markdown import main_markdown


def written(html: str) -> str:
    return main_markdown(html.encode(), "http://a.example/").strip()


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        (
            "<table><thead><tr><th>Port<th>High</thead><tr><td>Brest<td>7</table>",
            "| Port | High |\n|---|---|\n| Brest | 7 |",
        ),
        (
            "<table><tr><th>a<th>b<tr><td>1|2<td><a href=/x>l</a> <b>c</b></table>",
            "| a | b |\n|---|---|\n| 1\\|2 | [l](http://a.example/x) **c** |",
        ),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "|  |  |\n|---|---|\n| 1 | 2 |\n| 3 |  |"),
        (
            "<table><tr><th>a<th>b<th>c<tr><td rowspan=2>1<td colspan=2>2<tr><td>3<td>4</table>",
            "| a | b | c |\n|---|---|---|\n| 1 | 2 |  |\n|  | 3 | 4 |",
        ),
        (
            "<table><caption>Tides</caption><tr><th>a<th>b<tr><td><p>x</p><p>y</p><td>z</table>",
            "Tides\n\n| a | b |\n|---|---|\n| x y | z |",
        ),
        ("<table><tr><td><p>left</p><td><p>right</p></table>", "left\n\nright"),
        (
            "<table><tr><td>menu<td><table><tr><td>1<td>2<tr><td>3<td>4</table></table>",
            "menu\n\n|  |  |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
        ),
        ("<table><tr><td><h1>Page</h1><td>x<tr><td>y<td>z</table>", "# Page\n\nx\n\ny\n\nz"),
    ],
)
def test_tables(html: str, markdown: str) -> None:
    assert written(html) == markdown


def test_every_row_of_a_table_has_as_many_cells() -> None:
    html = "<table><tr><th>a<th>b" + "<tr><td colspan=999999999 rowspan=99999999999>x<td>y" * 3
    lines = written(html).splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert len(lines) == 5
