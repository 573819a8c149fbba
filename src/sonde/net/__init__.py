"""Getting bytes politely: what every source that speaks HTTP shares.

Nouns, in the order in which one request meets them:

- a *URL* (``urls``): in its one spelling; its *group* (host and port) is the unit of politeness.
- a *polite fetch* (``polite_fetch``): one URL, some redirects, one outcome. It asks robots.txt
  (``robots``), waits for the *turn* of the host (``turns``), charges every request to an
  *allowance* (``protocols.Allowance``), and gives the turn back with what the server said.
- a *host* (``hosts``): one record of what it was asked, how quickly it answers, what it forbids,
  when it may be asked next. ``retries`` says which failures are worth another try.
- a *request* (``client``, ``client_settings``): one exchange with a server, bounded in every
  dimension. ``guard`` decides which IP addresses may be connected to, ``decoding`` undoes content
  codings, ``charset`` makes text of bytes, ``secret`` keeps passwords.
- a *browser* (``browser``, ``browsers``, ``devtools``, ``browser_watch``): draws a page whose
  script must run. It sends nothing itself: whoever draws answers its requests.
- an *outcome* (``exchange``): a ``Response``, or a ``FetchProblem`` with a reason out of a closed
  set.

Invariants:

- Every request that leaves the machine was charged before, each redirect, each retry and each
  robots.txt included, at the place where the client connects.
- No socket connects to an address that the guard refuses, whatever a URL, a redirect or a name
  server says.
- Every size and every time is bounded: see ``exchange.Limits``.
- A turn that was taken is given back, whatever becomes of the fetch.
- Only ``client``, ``guard``, ``turns``, ``polite_fetch`` and the browser do I/O or read a clock.
- Nothing that a server says is trusted, evaluated or printed here. Nothing here knows what a page
  is, where a run is kept, or what a crawl wants.
"""
