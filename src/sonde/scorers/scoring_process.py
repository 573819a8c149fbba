"""A scorer in a process of its own: for code and patterns whose work nobody can bound.

A function of the user's, or a regular expression, may take any time and any memory on a text that a
stranger wrote. So it runs in a worker process (``scoring_worker``), outside the event loop; one
that works longer on a document than it may is killed, and the next document gets a new one. Time is
that of the processor; one that only waits has some more.

A source that may wait calls ``prepared`` first, and ``score`` then has the result at hand. Whoever
calls ``score`` alone keeps the event loop waiting, so such a call has half a second.
"""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from sonde.errors import InputError
from sonde.scorers.document import Document, Scorer, Scores
from sonde.scorers.limits import MEMORY, SECONDS

_UNPREPARED = 0.5  # seconds
_TIMES_UP = {-getattr(signal, name, 0) for name in ("SIGPROF", "SIGALRM")} - {0}
_START = 60.0
_MOST_READY = 1_000
_SIZE = struct.Struct("<Q")


class ScoringStopped(Exception):
    """A scorer took too long for a document, or too much memory, and was killed."""


class ProcessScorer:
    """Scores by what a spec says, in another process; the topic (with its words as they stand,
    where it is ``exact``) scores links where nothing else does. ``close`` ends it."""

    def __init__(
        self,
        spec: str,
        topic: str | None = None,
        *,
        exact: bool = False,
        seconds: float = SECONDS,
        memory: int = MEMORY,
    ) -> None:
        self.spec = spec
        self.topic = topic
        self.exact = exact
        self.seconds = seconds
        self.memory = memory
        self._process: subprocess.Popen[bytes] | None = None
        self._expired = False
        self._closed = False
        self._one = threading.Lock()  # document at a time
        self._threads: ThreadPoolExecutor | None = None
        self._ready: dict[str, Scores] = {}  # by URL

    async def prepare(self, document: Document) -> None:
        """Score a document while the event loop goes on, for ``score`` to give."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(1, thread_name_prefix="sonde-scorer")
        loop = asyncio.get_running_loop()
        if len(self._ready) >= _MOST_READY:  # of pages that nobody wanted scored after all
            del self._ready[next(iter(self._ready))]
        self._ready[document.url] = await loop.run_in_executor(
            self._threads, self._scored, document, self.seconds
        )

    def score(self, document: Document) -> Scores:
        ready = self._ready.pop(document.url, None)
        if ready is None or len(ready.alphas) != len(document.links):  # it was another then
            return self._scored(document, min(self.seconds, _UNPREPARED))
        return ready

    def close(self) -> None:
        """End the process. A document that is being scored is given up."""
        self._closed = True
        self._kill()
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)

    # -- the worker ----------------------------------------------------------------------------

    def _scored(self, document: Document, seconds: float) -> Scores:
        with self._one:
            if self._closed:
                raise ScoringStopped("the scorer was closed")
            if self._process is None:
                self._begin(type(document).__module__)
            answer = self._exchanged(pickle.dumps((document, seconds)), _waited(seconds))
        if "scores" in answer:
            beta, *alphas = answer["scores"]
            return Scores(beta, alphas)
        if "input" in answer:
            raise InputError(answer["input"])
        raise RuntimeError(answer["error"])

    def _begin(self, home: str) -> None:
        """Start a process that can read documents whose class is at home in this module."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sonde.scorers.scoring_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        told = (self.spec, self.topic, self.exact, self.memory, home)
        self._exchanged(pickle.dumps(told), _START)

    def _exchanged(self, message: bytes, seconds: float) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        self._expired = False
        timer = threading.Timer(seconds, self._expire, [process])
        timer.start()
        try:
            process.stdin.write(_SIZE.pack(len(message)) + message)
            process.stdin.flush()
            size = process.stdout.read(_SIZE.size)
            due = _SIZE.unpack(size)[0] if len(size) == _SIZE.size else 0
            answer = process.stdout.read(due)
            if len(answer) < due:  # it was killed in the middle
                answer = b""
        except OSError:
            answer = b""
        finally:
            timer.cancel()
        if not answer:
            self._kill()
            ended = process.returncode
            late = self._expired or ended in _TIMES_UP
            why = "took too long" if late else "ended its process"
            raise ScoringStopped(f"the scorer {self.spec} {why}")
        found: dict[str, Any] = json.loads(answer)
        return found

    def _expire(self, process: subprocess.Popen[bytes]) -> None:
        self._expired = True
        with suppress(OSError):
            process.kill()

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()


def _waited(seconds: float) -> float:
    """How long is waited for a process that ends itself after so many seconds of work: others may
    be at work too, and a function may also just sleep."""
    return 3 * seconds + 1


async def prepared(scorer: Scorer, document: Document) -> bool:
    """Let a scorer that works elsewhere score a document before it is asked for the scores; whether
    it does."""
    prepare = getattr(scorer, "prepare", None)
    if prepare is None:
        return False
    await prepare(document)
    return True
