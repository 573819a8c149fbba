"""Sites on loopback, which count what is asked of them."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """What a site answers."""

    body: str = ""
    status: int = 200
    location: str = ""
    kind: str = "text/html; charset=utf-8"


def page(title: str, links: dict[str, str], text: str = "") -> Answer:
    """A page with links, from path to anchor."""
    anchors = "".join(f'<p><a href="{path}">{said}</a></p>' for path, said in links.items())
    return Answer(f"<html><title>{title}</title><body><p>{text}</p>{anchors}</body></html>")


def own_words(number: int) -> str:
    """Words that no other page has: a site whose pages say the same is a trap."""
    dice = random.Random(number)
    return " ".join("".join(dice.choices("abcdefghijklmnop", k=7)) for _ in range(120))


class LoopbackSite:
    """Answers by path, and keeps the requests as they came."""

    def __init__(self, answers: dict[str, Answer | Callable[[str, str], Answer]]) -> None:
        self.answers = answers
        self.log: list[tuple[str, str]] = []
        self._lock = threading.Lock()
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                said = self.rfile.read(size).decode("latin-1")
                with site._lock:
                    site.log.append((self.command, self.path))
                found = site.answers.get(self.path, Answer("gone", 404))
                answer = found if isinstance(found, Answer) else found(self.command, said)
                body = answer.body.encode()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.kind)
                self.send_header("Content-Length", str(len(body)))
                if answer.location:
                    self.send_header("Location", answer.location)
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [path for _, path in self.log]

    def counts(self) -> Counter[str]:
        """How often each path was asked for."""
        return Counter(self.paths())

    def __enter__(self) -> LoopbackSite:
        self._thread = threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


def topical(
    pages: int = 1_500, *, seed: int = 1, errors: bool = True
) -> dict[str, Answer | Callable[[str, str], Answer]]:
    """A site with a tenth of its pages on topic, which link to each other more often than not. The
    URLs say nothing, the anchors do. With errors, some URLs redirect, and some fail at first."""
    dice = random.Random(seed)
    on_topic = [dice.random() < 0.1 for _ in range(pages)]
    near = [number for number in range(pages) if on_topic[number]]
    answers: dict[str, Answer | Callable[[str, str], Answer]] = {
        "/robots.txt": Answer("User-agent: *\nDisallow: /private/\n", kind="text/plain")
    }

    def address(number: int) -> str:
        if errors and number % 23 == 7:
            return f"/r/{number}"
        return f"/p/{number}"

    def failing(answer: Answer) -> Callable[[str, str], Answer]:
        asked = [0]

        def found(method: str, said: str) -> Answer:
            asked[0] += 1
            return Answer("busy", 503) if asked[0] == 1 else answer

        return found

    for number in range(pages):
        links = {}
        for _ in range(12):
            close = on_topic[number] and dice.random() < 0.5
            target = dice.choice(near) if close else dice.randrange(pages)
            word = "tide gauge" if on_topic[target] else "plain matter"
            links[address(target)] = f"{word} {target}"
        said = "The tide gauge of the harbour. " * 3 if on_topic[number] else "Nothing of interest."
        made = page(f"page {number}", links, f"{said} {own_words(number)}")
        answers[f"/p/{number}"] = failing(made) if errors and number % 31 == 11 else made
        if errors and number % 23 == 7:
            answers[f"/r/{number}"] = Answer("", 302, f"/p/{number}")
    links = {address(dice.randrange(pages)): f"start {number}" for number in range(30)}
    answers["/"] = page("start", links)
    return answers


@contextmanager
def served(
    answers: dict[str, Answer | Callable[[str, str], Answer]],
) -> Iterator[LoopbackSite]:
    """A site, for a while."""
    with LoopbackSite(answers) as site:
        yield site
