"""The live Web as a source: from a URL to a visit, politely fetched, read and scored.

Nouns, in the order in which a visit meets them:

- the *kind* (``kind``): how a crawl of the Web is named, checked and planned, what its reasons
  mean, and which tables it keeps: ``hosts`` and ``robots``.
- the *source* (``source``): visits URLs. Its *access* is what anybody needs who fetches pages of a
  run, ``track`` too: client, hosts, scope, and what was learned of sites, found again after a kill.
- the *gate* (``gate``): which URLs are in *scope* and worth their request. ``traps`` knows which
  shapes of URL have nothing new to say, ``duplicates`` which URLs and pages are one.
- the *fetch*: ``sonde.net.polite_fetch``, with robots.txt, turns, redirects and charging.
- the *page* (``sonde.sources.page``): what a body says. Other bodies: ``feeds`` (sitemaps, RSS,
  Atom), ``pdf``. ``markdown`` writes a page's main text for export.
- the *visit* (``visit``): what is told to the explorer: the page's score, and the links to follow.

Life of a visit: gate, polite fetch, read, score, assemble. The gate is asked again for each URL
that a redirect leads to. From the end of the fetch to the explorer being told there is no
``await`` (except for a user's renderer, which comes before anything is scored).

Invariants:

- Nothing is fetched but by ``net.polite_fetch``, so every request is charged and in turn.
- What learns (traps, duplicates) gives the same answers for the same visits in the same order, so
  that the run's pages restore it.
- Nothing that a page, a header or a URL says is trusted, evaluated or printed here.
"""
