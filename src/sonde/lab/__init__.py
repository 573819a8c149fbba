"""Real graphs in, tables and figures out: where claims about estimators and strategies are checked.

``data`` makes graph folders from raw material and describes them; the other modules run the
published experiments on such folders, bound what any crawl could reach, and draw the figures.

The nouns of an experiment: a ``Protocol`` says how crawls start and how long they go, a ``Setting``
is a protocol as far as one graph supports it, a ``Crawl`` is how to crawl, a ``Unit`` one piece of
work from one seed graph, ``Findings`` what came of all units, a ``Report`` the tables and figures
made of it. A ``Territory`` is what seeds and budget let a crawl reach, and what bounds speak of.

Invariants: a finished unit is a file whose name says what it is, so that work is never done twice
and never mistaken for other work; the same seed gives the same numbers on any number of workers;
there is one copy of a graph in memory; an upper bound holds whenever its improvement is stopped.

The lab uses every other room through the same doors as a user: a graph folder, ``simulate``, an
explorer. Nothing that a crawl needs may live here.
"""
