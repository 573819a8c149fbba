"""A site audit: how well organised a site is for focused crawling, from some of its pages.

Nouns. A *poll* is what was seen of one site: pages with their links, round-trip times, failures. It
is a crawl like any other (breadth first, polite, its budget exact), whose run is thrown away. An
*audit* is what the URL measures make of a poll (``sonde.url_measures`` defines them), with
the *order* of the site's folders and a *verdict* that rests on it. A *report* shows audits side by
side, as an HTML page with its charts.

Invariants. An audit is a pure function of a poll. Nothing that a page or a URL says reaches a
terminal or a report unescaped.
"""

from sonde.audit.measuring import SiteAudit, audit
from sonde.audit.polling import Poll, poll, polled

__all__ = ["Poll", "SiteAudit", "audit", "poll", "polled"]
