"""Where nodes come from.

A *source* is anything that can be visited: it is given a node and answers with what a visit
finds there, a score, links and records. Each source is a room of its own and the only owner of
whatever it needs to reach its nodes, so that the explorer, which sees nothing but the answers,
works the same on all of them.

``graph``  a recorded graph, held in memory: what simulations and experiments crawl.
"""
