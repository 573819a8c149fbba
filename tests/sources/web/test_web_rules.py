"""Presets leave out what software makes besides pages, and no page.

The MediaWiki URLs are all links of one page as MediaWiki 1.39 writes them, with their kinds.
"""

from __future__ import annotations

import pytest

from sonde.errors import InputError
from sonde.sources.web.rules import PRESETS, Rules

CHORES = {
    "wiki-chores": """
https://wiki.example/w/load.php?lang=en&modules=skins.vector.styles.legacy&only=styles&skin=vector
https://wiki.example/w/index.php?title=On_this_day&action=edit
https://wiki.example/w/opensearch_desc.php
https://wiki.example/w/api.php?action=rsd
https://wiki.example/w/index.php?title=Special:RecentChanges&feed=atom
https://wiki.example/w/index.php?title=Stub&action=edit&redlink=1
https://wiki.example/w/index.php?title=On_this_day&action=edit&section=4
https://wiki.example/w/index.php?title=On_this_day&action=history
https://wiki.example/w/index.php?title=On_this_day&action=info
https://wiki.example/w/index.php?title=On_this_day&oldid=61
https://wiki.example/w/index.php?title=Special:CreateAccount&returnto=On+this+day
https://wiki.example/w/index.php?title=Special:UserLogin&returnto=On+this+day
https://wiki.example/w/index.php?title=Special:WhatLinksHere/On_this_day
https://wiki.example/w/index.php?title=On_this_day&printable=yes
https://wiki.example/w/index.php?title=Special:CiteThisPage&page=On_this_day&id=61
https://wiki.example/w/index.php?title=On_this_day&diff=prev&oldid=60
https://wiki.example/w/index.php?title=On_this_day&veaction=edit
https://wiki.example/wiki/Special:Log
https://wiki.example/wiki/Special%3ALog
https://wiki.example/Special:RecentChanges
https://de.wiki.example/wiki/Spezial:Letzte_%C3%84nderungen
https://fr.wiki.example/wiki/Sp%C3%A9cial:Pages_li%C3%A9es
https://ru.wiki.example/wiki/%D0%A1%D0%BB%D1%83%D0%B6%D0%B5%D0%B1%D0%BD%D0%B0%D1%8F:X
https://ja.wiki.example/wiki/%E7%89%B9%E5%88%A5:%E6%9C%80%E8%BF%91
https://dokuwiki.example/start?do=revisions
https://dokuwiki.example/doku.php?id=start&do=edit&rev=1699999999
https://dokuwiki.example/doku.php?id=start&do=export_pdf
https://twiki.example/bin/edit/Main/WebHome?t=1
https://confluence.example/pages/diffpagesbyversion.action?pageId=7
""",
    "forum-chores": """
https://forum.example/ucp.php?mode=login
https://forum.example/board/posting.php?mode=reply&f=2&t=7
https://forum.example/memberlist.php?mode=viewprofile&u=2
https://forum.example/search.php?search_id=active_topics
https://forum.example/viewtopic.php?t=7&hilit=tide
https://forum.example/viewtopic.php?t=7&sid=0a1b2c
https://forum.example/index.php?action=printpage;topic=7.0
https://forum.example/newreply.php?do=newreply&p=7
https://forum.example/u/somebody/summary
https://forum.example/threads/tide-gauge.7/add-reply
https://blog.example/post/?replytocom=81
""",
    "calendars": """
https://a.example/events/?tribe-bar-date=2031-05-01
https://a.example/events/month/2031-05/
https://a.example/calendar/2031/05/
https://a.example/calendar/2031-05-11
https://a.example/cal.php?month=2031-05
https://a.example/cal.php?view=week&x=1
https://a.example/node/calendar/day/2031
https://a.example/feed/all.ics
""",
    "tracker-chores": """
https://code.example/me/tool/blame/main/README.md
https://code.example/me/tool/-/raw/main/README.md
https://code.example/me/tool/compare/v1...v2
https://code.example/me/tool/commits/main
https://code.example/cgit/tool.git/plain/README
https://code.example/?p=tool.git;a=blobdiff;f=x.c
https://bugs.example/show_activity.cgi?id=7
https://bugs.example/buglist.cgi?product=tool
https://trac.example/ticket/7?format=csv
https://code.example/me/tool/issues?sort_by=created
""",
    "shop-chores": """
https://shop.example/cart
https://shop.example/en/checkout/step-1
https://shop.example/gauges?orderby=price
https://shop.example/gauges?filter_colour=red
https://shop.example/product/gauge?add-to-cart=7
https://shop.example/collections/all?sort_by=price-ascending&filter.v.price.gte=1
https://shop.example/my-account/orders
https://shop.example/index.php?route=checkout/cart
""",
}
PAGES = """
https://wiki.example/
https://wiki.example/w/index.php?title=WordPress
https://wiki.example/w/index.php?title=Talk:On_this_day
https://wiki.example/w/index.php?title=Category:Action
https://wiki.example/w/index.php?title=User:Aaronpk.com
https://wiki.example/w/index.php?title=Special_relativity
https://wiki.example/wiki/Special_relativity
https://wiki.example/wiki/Editing
https://wiki.example/wiki/Template:Eddiehinkle
https://wiki.example/w/index.php?title=Diff
https://dokuwiki.example/doku.php?id=wiki:syntax
https://forum.example/viewtopic.php?f=2&t=7&start=20
https://forum.example/viewforum.php?f=2
https://forum.example/t/tide-gauge/7
https://forum.example/threads/tide-gauge.7/page-2
https://forum.example/index.php?topic=7.0
https://a.example/events/tide-gauge-day/
https://a.example/event/12
https://a.example/news/2031/05/tide-gauge
https://a.example/archive?article=7
https://code.example/me/tool
https://code.example/me/tool/issues/7
https://code.example/me/tool/blob/main/README.md
https://bugs.example/show_bug.cgi?id=7
https://trac.example/ticket/7
https://shop.example/gauges?page=2
https://shop.example/product/tide-gauge
https://shop.example/carts-and-wagons
"""


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_leaves_out_chores_and_names_its_rule(name: str) -> None:
    rules = Rules(skip=[name])
    for url in CHORES[name].split():
        said = rules.refusal(url)
        assert said is not None, url
        assert said.startswith(f"excluded: skip {name} ")
        assert said.removeprefix(f"excluded: skip {name} ") in PRESETS[name].patterns


def test_no_preset_leaves_out_pages() -> None:
    rules = Rules(skip=PRESETS)
    assert {url: said for url in PAGES.split() if (said := rules.refusal(url)) is not None} == {}


def test_to_exclude_is_stronger_than_to_include() -> None:
    rules = Rules(include=["/docs/*"], exclude=["*.pdf"])
    assert rules.refusal("https://a.example/docs/x") is None
    assert rules.refusal("https://a.example/docs/x.pdf") == "excluded: exclude *.pdf"
    assert rules.refusal("https://a.example/blog/x") == "not-included"
    assert Rules().refusal("https://a.example/") is None


def test_an_unknown_preset_names_those_that_there_are() -> None:
    with pytest.raises(InputError, match=r"unknown preset 'wiki' .*wiki-chores"):
        Rules(skip=["wiki"])
