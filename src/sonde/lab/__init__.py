"""The lab: where claims about estimators and strategies are checked on recorded graphs.

``experiments`` holds the published experiments and the comparison of estimators, ``bounds`` and
``exact`` say what the best crawl could be worth, ``gossip`` compares crawls with queries that peers
pass on. (Graphs are made by ``sonde.data``.)

The nouns of an experiment: a ``Protocol`` says how crawls start and how long they go, a
``CrawlSetting`` is a protocol as far as one graph supports it, a ``CrawlSpec`` is how to crawl, a
``Unit`` one piece of work from one seed graph, ``Results`` what came of all units, a ``Report`` the
tables and figures made of them. ``Reachable`` (of ``sonde.sources.graph``) is what seeds and budget
let a crawl visit, and what bounds speak of.

Invariants: a finished unit is a file whose name says what it is, so that work is never done twice
and never mistaken for other work; the same seed gives the same numbers on any number of workers;
there is one copy of a graph in memory, where workers are forks (``sonde.pool``); upper bounds hold
whenever their improvement is stopped.

The lab uses every other room through the same doors as a user: a graph folder, ``simulate``,
``follow``. It imports no kernels, and nothing that a crawl needs may live here.
"""
