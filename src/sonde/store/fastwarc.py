"""FastWARC's names that the store uses.

Importing it warns of the names that it keeps for older programs, which is no news to our users.
"""

from __future__ import annotations

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.stream_io import FastWARCError, GzipReader, GzipWriter
    from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

__all__ = [
    "ArchiveIterator",
    "FastWARCError",
    "GzipReader",
    "GzipWriter",
    "WarcRecord",
    "WarcRecordType",
]
