"""Scores documents from standard input until that ends: a program of its own, with limits.

Messages both ways are a length of eight bytes and so many bytes. The first one in is the spec of
the scorer, its topic, the memory that it may use and where the class of documents is, the others
are documents with the seconds that each may take; they are pickles, written by the process that
started this one (``scoring_process``). Answers are JSON. What the scorer itself prints goes to
standard error.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import struct
import sys
import traceback
from importlib import import_module
from typing import Any, BinaryIO

from sonde.errors import InputError
from sonde.scorers import scorer_from

_SIZE = struct.Struct("<Q")


def received(pipe: BinaryIO) -> Any:
    """The next message; ``None`` at the end."""
    size = pipe.read(_SIZE.size)
    return pickle.loads(pipe.read(_SIZE.unpack(size)[0])) if size else None


def send(pipe: BinaryIO, answer: dict[str, Any]) -> None:
    """Answer a message."""
    message = json.dumps(answer).encode()
    pipe.write(_SIZE.pack(len(message)) + message)
    pipe.flush()


def limit(memory: int) -> None:
    """No more memory than this, where the system can be told so."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def alarm(seconds: float) -> None:
    """End this process after so many seconds of work (0: not), or some more of waiting, whatever it
    does: its parent may be gone by then."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, 4 * seconds)


def serve(come: BinaryIO, go: BinaryIO) -> None:
    """Score until nobody asks any more."""
    spec, topic, exact, memory, home = received(come)
    import_module(home)  # the class of documents: it should not count as work on the first
    limit(memory)
    scorer = scorer_from(topic, spec, exact=exact)
    send(go, {})
    while (message := received(come)) is not None:
        document, seconds = message
        alarm(seconds)
        answer: dict[str, Any]
        try:
            beta, alphas = scorer.score(document)
            answer = {"scores": [beta, *alphas]}
        except InputError as error:
            answer = {"input": str(error)}
        except Exception:
            answer = {"error": traceback.format_exc()}
        alarm(0)
        send(go, answer)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)
