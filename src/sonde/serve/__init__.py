"""Crawls as a tool for agents: over the Model Context Protocol, and over HTTP.

Nouns:

- the *cap*: how many requests the user allows, over all calls, runs and restarts. It is on the disk
  before a run may spend of it.
- the *tools*: what an agent can do (``crawl``, ``more``, ``find``, ``page``, ``explain``,
  ``status``, ``stop``), each declared once, for both ways of calling.
- a *passage*: a piece of an archived page, ranked for a query, with where and when it is from.
- a *quotation*: text of a page as it is handed out, marked as data and cleaned of what cannot be
  seen.

Invariants:

- A run's budget is what the cap has granted it, and a run never spends more than its budget. So the
  cap holds whatever an agent asks, in whatever order, and after ``kill -9``.
- What an agent can say is the arguments of the tools. What decides over the network (private
  addresses, politeness, who is named as contact) is the user's, and is said on the command line.
- Every answer that has text of a page says which page, and when it was fetched.
- An answer fits the number of tokens that was asked for.
"""
