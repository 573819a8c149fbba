"""Runs on disk: what a crawl decided, did and brought, so that nothing told is lost.

Nouns. A *run* is a folder (``run``): a database whose tables ``schema`` defines, WARC files
(``warc``), a ``lock``. The *journal* is its writing end. The *log* is the database's spine: one row
for everything that changed the explorer's state; ``history`` reads it back. The *ledger* (table
``leases``) says for every request what was predicted, what came and what it cost. A *reader*
(``reading``) looks at a run without being its writer. A run that is tracked has tables of its own
for that (``citations``; ``standings`` reads them).

Invariants. There is one writer; readers never wait for it nor make it wait. A row of the log is
never changed. A lease is in the log before its request is sent, an outcome before it is reported.
Secrets are never in a run: the configuration names where they come from.
"""
