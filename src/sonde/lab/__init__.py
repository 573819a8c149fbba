"""Real graphs in, tables and figures out: where claims about estimators and strategies are checked.

``data`` makes graph folders from raw material and describes them; the other modules run the
published experiments on such folders, bound what any crawl could reach, and draw the figures.

The lab uses every other room through the same doors as a user: a graph folder, ``simulate``, an
explorer. Nothing that a crawl needs may live here.
"""
