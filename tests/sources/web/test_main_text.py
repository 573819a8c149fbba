"""What is learned of hosts: it is bounded, it is found again, and it says where links stand."""

from __future__ import annotations

import pytest

from sonde.sources import main_text
from sonde.sources.main_text import (
    CONTENT,
    FOOTER,
    MENU,
    HeldPage,
    SiteTemplates,
    pack_page,
    pack_spans,
    unpack_page,
    unpack_spans,
)
from sonde.sources.page import Page, read_page

MENU_TEXT = "<ul class=m><li><a href=/1>tide one</a><li><a href=/2>tide two</a></ul>"
FOOT = "<p class=f><a href=/legal>legal é notice</a></p>"


def page(number: int, host: str = "a.example") -> Page:
    own = " ".join(f"w{number}x{word}" for word in range(30))
    html = f"{MENU_TEXT}<div class=t><p>{own} <a href=/own>own é link</a> w</p></div>{FOOT}"
    return read_page(html.encode(), f"http://{host}/{number}", content_type="charset=utf-8")


def learned(sites: SiteTemplates, read: Page, lease: int) -> list[HeldPage]:
    sites.judge(read)
    return sites.hold(HeldPage(lease, read.url, read, 0.0))


def test_links_stand_in_menu_content_or_footer() -> None:
    sites = SiteTemplates()
    for number in range(12):
        learned(sites, page(number), number)
    judged, main = sites.judge(page(99))
    assert judged.content.startswith("w99x0")
    assert "tide" not in judged.content
    assert "legal" not in judged.content
    where = dict(
        zip([link.url for link in judged.links], main.positions(judged.links), strict=True)
    )
    assert where == {
        "http://a.example/1": MENU,
        "http://a.example/2": MENU,
        "http://a.example/own": CONTENT,
        "http://a.example/legal": FOOTER,
    }


def test_the_first_ten_pages_of_a_host_come_back_once_and_without_its_menu() -> None:
    sites = SiteTemplates()
    found = [learned(sites, page(number), number) for number in range(30)]
    assert [len(held) for held in found] == [0] * 9 + [10] + [0] * 20
    assert [held.lease for held in found[9]] == list(range(10))
    assert all("tide" not in held.page.content for held in found[9])


def test_hosts_are_forgotten_that_were_visited_least_lately(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(main_text, "MOST_SITES", 3)
    sites = SiteTemplates()
    for number, host in enumerate("abcadea"):
        learned(sites, page(number, f"{host}.example"), number)
    assert sites.order() == ["d.example", "e.example", "a.example"]
    told = dict(sites.changed())
    assert [name for name, state in told.items() if not state] == ["b.example", "c.example"]
    monkeypatch.setattr(main_text, "MOST_KEYS", 1)
    learned(sites, page(8, "f.example"), 8)
    assert sites.order() == ["f.example"]


def test_what_was_kept_goes_on_as_what_was_left() -> None:
    sites, again = SiteTemplates(), SiteTemplates()
    for number in range(7):
        learned(sites, page(number), number)
    again.restore(sites.order(), dict(sites.changed()))
    for number in range(7, 15):
        one, other = page(number), page(number)
        assert sites.judge(one)[0].main == again.judge(other)[0].main
        held = [each.hold(HeldPage(number, one.url, one, 0.0)) for each in (sites, again)]
        assert [each.page.main for each in held[0]] == [each.page.main for each in held[1]]
    assert dict(sites.changed()) == dict(again.changed())


def test_pages_and_places_survive_packing() -> None:
    read = page(3)
    back = unpack_page(pack_page(read))
    assert (back.url, back.text, back.links) == (read.url, read.text, ())
    assert SiteTemplates().judge(back)[0].main == SiteTemplates().judge(read)[0].main
    for spans in (None, (), ((0, 3), (5, 9))):
        assert unpack_spans(pack_spans(spans)) == spans
