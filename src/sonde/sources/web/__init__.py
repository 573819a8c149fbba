"""The live Web as a source: from a URL to a page that was fetched politely, safely, and read.

Nouns, in the order in which one request meets them:

- an *address* (``address``): a URL in its one spelling. Everything below speaks of addresses.
  ``variants`` learns which spellings a site treats as one page, ``traps`` which shapes of URL have
  nothing new to say.
- a *group*: host and port, the unit of politeness. ``politeness`` says which groups may be asked
  now; ``robots`` says which URLs may be asked for at all, and how fast.
- a *fetch* (``client``, ``settings``, ``exchange``, ``wire``): one URL, some redirects, one
  outcome: a ``Response`` or a ``FetchProblem`` with a reason out of a closed set. ``guard``
  decides which IP addresses may be connected to, ``decoding`` undoes content codings, ``secret``
  keeps passwords.
- a *page* (``page``, with ``charset``, ``nesting``, ``reading``, ``simhash``): what a body says.
  Other bodies: ``feeds`` (sitemaps, RSS, Atom), ``pdf``; ``markdown``
  writes a page's main text for export.

Life cycle of a visit. The driver takes a URL of a ready group; asks ``robots`` (and fetches the
file first where it must); calls ``politeness.started``; fetches; calls ``politeness.finished``;
reads the page; scores it; tells the explorer; tells ``traps`` and ``variants`` what it saw.

Invariants:

- Every request that leaves the machine was charged before: ``take()`` is called for each redirect
  and each retry, at the place where the client connects.
- No socket connects to an address that the guard refuses, whatever a URL, a redirect or a name
  server says.
- Every size and every time is bounded: see ``exchange.Limits`` and the ``MAX_`` constants.
- Only ``client`` and ``guard`` do I/O or read a clock. The rest is given bytes, text and ``now``,
  and gives the same answers for the same calls in the same order; what learns has ``state`` and
  ``restore``, or is restored by its records.
- Nothing that a page, a header or a URL says is trusted, evaluated or printed here.
"""
