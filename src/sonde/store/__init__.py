"""Runs on disk: what a crawl decided, did and brought, so that nothing told is lost.

Nouns. A *run* is a folder (``run``): a database whose tables ``schema`` defines, WARC files
(``warc``), checkpoints, a lock. The *journal* is its writing end. The *log* (``log``) is the spine
of the database: one row for everything that changed the explorer's state. A *checkpoint* is the
state at a position of the log. The *ledger* (table ``leases``) says for every request what was
predicted, what came and what it cost. A *reader* looks at a run without being its writer;
``summary``, ``run_tables`` and the exports ask it.

The room knows no kind of source. What a source keeps besides is in tables that its kind declares
(``Run.declare``), and what is shown of them is left out where they are not there.

Invariants. There is one writer; readers never wait for it nor make it wait. A row of the log is
never changed. A lease is in the log before its request is sent, an outcome before it is reported.
Secrets are never in a run: the configuration names where they come from.
"""
