"""The user's own rules: which URLs belong to a crawl, by pattern.

A URL is *excluded* where a pattern of ``--exclude`` or of a preset (``--skip``) fits it. Where
there is an ``--include``, one of those has to fit as well. Seeds are asked whatever the rules say:
they were named. Patterns are those of ``net.url_patterns``.

*Presets* name what software makes besides pages: edits and histories, replies and logins, other
orders of the same list. They go by what the software itself calls these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sonde.errors import InputError
from sonde.net.url_patterns import PlainUrl, UrlPatterns
from sonde.sources.context import SourceSettings

NOT_INCLUDED = "not-included"
"""Why a URL is left out that no ``--include`` fits."""


class Preset(NamedTuple):
    """Patterns under one name."""

    summary: str
    patterns: tuple[str, ...]


def _parameters(name: str, values: str) -> tuple[str, ...]:
    return tuple(f"?{name}={value}" for value in values.split())


def _named(names: str) -> tuple[str, ...]:
    return tuple(f"?{name}" for name in names.split())


def _paths(paths: str) -> tuple[str, ...]:
    """URLs with such a path, at the root and further down."""
    return tuple(
        form
        for path in paths.split()
        for form in ((path, f"/*{path}") if "*" in path else (f"re:(?i){path}$",))
    )


# What MediaWiki calls its special pages, by language.
_SPECIAL = """
Special Spezial Spécial Speciale Especial Speciaal Specjalna Speciel Spesial Toiminnot Speciální
Špeciálne Speciális Istimewa Özel Đặc_biệt Posebno Посебно Служебная Спеціальна Специални Адмысловае
Ειδικό Սպասարկող სპეციალური מיוחד خاص ویژه विशेष বিশেষ พิเศษ 特殊 特別 특수 Specialaĵo Specialus
"""

PRESETS: Mapping[str, Preset] = {
    "wiki-chores": Preset(
        "edits, histories, old versions and special pages of wikis",
        (
            # MediaWiki, and MoinMoin and PmWiki where they use the same word
            *_parameters(
                "action",
                "edit submit history info raw render delete undelete protect unprotect watch"
                " unwatch purge rollback revert markpatrolled credits formedit pagevalues"
                " editchangetags mcrundo mcrrestore ajax login logout newaccount recover print"
                " diff attachfile fullsearch refresh deletepage renamepage copypage likepages"
                " subscribe upload source annotate",
            ),
            *_named(
                "oldid diff undo undoafter printable redlink veaction returnto returntoquery"
                " mobileaction diffonly unhide feed"
            ),
            *(f"?title={name}:*" for name in _SPECIAL.split()),
            *_paths("/api.php* /load.php* /opensearch_desc.php*"),
            *(form for name in _SPECIAL.split() for form in (f"/{name}:*", f"/*/{name}:*")),
            # DokuWiki
            *_parameters(
                "do",
                "edit revisions diff index recent backlink login register resendpwd profile media"
                " export* admin subscribe source check save preview draft",
            ),
            *_named("rev sectok tab_files tab_details mediado"),
            # TWiki and Foswiki
            *_paths(
                "/bin/edit/* /bin/attach/* /bin/rdiff/* /bin/oops/* /bin/rename/* /bin/login/*"
                " /bin/manage/* /bin/compare/* /bin/search/* /bin/changes/*"
            ),
            # Confluence
            *_paths(
                "/pages/diffpages* /pages/viewpreviousversions.action* /pages/editpage.action*"
                " /pages/viewinfo.action* /pages/copypage.action* /pages/viewpagesrc.action*"
            ),
        ),
    ),
    "forum-chores": Preset(
        "replies, reports, logins, searches and member lists of forums",
        (
            # phpBB
            *_paths(
                "/ucp.php* /posting.php* /memberlist.php* /search.php* /report.php* /mcp.php*"
                " /viewonline.php* /faq.php*"
            ),
            # vBulletin, SMF, MyBB
            *_paths(
                "/newreply.php* /newthread.php* /sendmessage.php* /private.php* /member.php*"
                " /misc.php* /showpost.php* /printthread.php* /login.php* /register.php*"
                " /online.php* /calendar.php* /editpost.php* /reputation.php* /usercp.php*"
            ),
            *_parameters(
                "action",
                "reply post printpage login login2 register profile search search2 mlist who pm"
                " reporttm sendtopic stats recent unread markasread notify lastpost newpost",
            ),
            # Discourse, Flarum, XenForo
            *_paths(
                "/session/* /login /login/* /signup /register /register/* /u/* /users/*/activity*"
                " /members/* /account/* /search /search/* /add-reply* /post-thread*"
                " /posts/*/report* /posts/*/react* /lost-password* /whats-new/*"
            ),
            *_named(
                "replytocom sid sort_key sort_dir st sd quote_message reply_to replyto"
                " highlight hilit vote"
            ),
        ),
    ),
    "calendars": Preset(
        "calendars that have a page for every day, week and month, and files for diaries",
        (
            *_named(
                "ical outlook-ical tribe-bar-date tribe_event_display eventdate"
                " calendar_date cal_date dayview weekview monthview minical"
            ),
            *_parameters("view", "day week month daily weekly monthly agenda"),
            *_parameters("calendar_view", "*"),
            *_parameters("task", "*.day *.week *.month day.* week.* month.*"),
            *_paths("/calendar/day/* /calendar/week/* /calendar/month/* /calendar/year/*"),
            *_paths("/events/day/* /events/week/* /events/month/* /events/today*"),
            *_paths("/events/list/?*eventdate=* /week.listevents/* /day.listevents/*"),
            *_paths("/month.calendar/* /year.listevents/*"),
            r"re:/(calendar|events?|agenda|kalender|calendrier)/[0-9]{4}([-/][0-9]{1,2}){1,2}/?$",
            r"re:[?&](month|mon|week|day|date)=[0-9]{1,4}([-/.][0-9]{1,2}){0,2}(&|$)",
            "/*.ics",
        ),
    ),
    "tracker-chores": Preset(
        "blame, raw files, compare views, filters and logins of code hosts and bug trackers",
        (
            # GitHub, GitLab, Gitea, cgit, gitweb
            *_paths(
                "/blame/* /annotate/* /raw/* /edit/* /compare/* /commits/* /commit/* /archive/*"
                " /stargazers* /watchers* /network/* /forks* /graphs/* /pulse* /actions/*"
                " /issues/new* /merge_requests/new* /-/blame/* /-/raw/* /-/compare/* /-/commits/*"
                " /-/commit/* /-/network/* /-/graphs/* /-/archive/* /-/edit/* /users/sign_in*"
                " /login?* /join?* /plain/* /diff/* /patch/* /snapshot/* /rawdiff/*"
            ),
            *_parameters(
                "a",
                "blob_plain blobdiff blobdiff_plain commitdiff commitdiff_plain patch patches"
                " snapshot history shortlog log search",
            ),
            # Bugzilla, Trac, Redmine, Jira, Mantis
            *_paths(
                "/show_activity.cgi* /buglist.cgi* /query.cgi* /enter_bug.cgi* /attachment.cgi*"
                " /createaccount.cgi* /token.cgi* /duplicates.cgi* /report.cgi* /chart.cgi*"
                " /changeset/* /timeline* /newticket* /search?* /zip-attachment/*"
                " /raw-attachment/* /issues.atom* /time_entries* /activity?* /issues/gantt*"
                " /issues/calendar* /secure/createissue* /si/jira.issueviews* /login_page.php*"
                " /view_all_set.php* /bug_report_page.php*"
            ),
            *_parameters("format", "diff patch raw rss csv tab xml multiple"),
            *_named("utf8 set_filter c[] f[] op[] assignee_id author_id sort_by order_by"),
        ),
    ),
    "shop-chores": Preset(
        "baskets, accounts, wish lists and the same goods sorted and filtered anew",
        (
            *_paths(
                "/cart /cart/* /basket /basket/* /checkout /checkout/* /account /account/*"
                " /my-account* /customer/* /wishlist* /compare/* /catalog/product_compare/*"
                " /catalogsearch/* /sendfriend/* /review/product/* /order-tracking*"
                " /login* /password* /giftcard* /gift-card* /newsletter/*"
            ),
            *_named(
                "add-to-cart add_to_wishlist remove_item orderby product_list_order"
                " product_list_dir product_list_limit product_list_mode sort sort_by sortby"
                " filter_* filter.* pa_*"
                " order dir limit mode min_price max_price price currency setcurrency"
                " rating_filter in-stock variant s_facet facets"
                " refinementlist display per_page per-page view_mode"
            ),
            *_parameters("route", "checkout/* account/* product/compare affiliate/*"),
            *_parameters("controller", "cart order authentication my-account password wishlist"),
            *_parameters("add", "*"),
        ),
    ),
}
"""All presets, by name."""


class Rules:
    """Says of URLs whether the user's rules leave them out, and by which."""

    def __init__(
        self,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        skip: Iterable[str] = (),
    ) -> None:
        self._include = UrlPatterns(tuple(include))
        excluded = [("exclude", UrlPatterns(tuple(exclude)))]
        excluded += [(f"skip {name}", UrlPatterns(preset_named(name).patterns)) for name in skip]
        self._exclude = [(name, patterns) for name, patterns in excluded if patterns]
        self.any = bool(self._include or self._exclude)

    @classmethod
    def of(cls, settings: SourceSettings) -> Rules:
        """Those of a user's settings."""
        return cls(settings.include, settings.exclude, settings.skip)

    def refusal(self, url: str) -> str | None:
        """Why a normalised URL is left out: a word, and the rule behind a colon."""
        if not self.any:
            return None
        seen = PlainUrl(url)
        for name, patterns in self._exclude:
            rule = patterns.first(seen)
            if rule is not None:
                return f"excluded: {name} {rule}"
        if self._include and self._include.first(seen) is None:
            return NOT_INCLUDED
        return None


def preset_named(name: str) -> Preset:
    """A preset."""
    if name not in PRESETS:
        raise InputError(f"unknown preset {name!r} (one of: {', '.join(PRESETS)}; --skip list)")
    return PRESETS[name]
