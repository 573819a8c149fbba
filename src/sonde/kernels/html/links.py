"""The links of a page: anchors followed to where they lead, and each target once.

A page has a hundred links, and nearly all of them lead to nodes that are known. What is done for
every link is done here; what is decided about a URL that is new or goes by another name is asked
of the caller, by functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cython
from cython.cimports.sonde.kernels.model.register import Register


def followed(
    html: bytes,
    anchors: cython.int[:, ::1],
    count: cython.Py_ssize_t,
    known: dict,
    follow: Callable[[bytes], str | None],
    own: str,
    make: Callable[[tuple[str, int, int, bool]], Any],
    links: list,
    most: cython.Py_ssize_t,
) -> bool:
    """Add to `links` what ``make`` makes of the URL, the start, the end and the nofollow of each
    anchor, as ``scan`` found them; whether there were more than `most`.

    `known` has the URLs of hrefs as they are written; ``follow`` gives the others. Links to the
    page's `own` URL, and those that lead nowhere, are left out.
    """
    row: cython.Py_ssize_t
    if count > anchors.shape[0] or anchors.shape[1] < 6:
        raise ValueError(f"there are no {count} anchors of 6 numbers")
    for row in range(count):
        written: bytes = html[anchors[row, 0] : anchors[row, 1]]
        url = known.get(written)
        if url is None:
            url = follow(written)
        if url is None or url == own:
            continue
        if len(links) >= most:
            return True
        nofollow = False
        if anchors[row, 4] < anchors[row, 5]:
            rel: bytes = html[anchors[row, 4] : anchors[row, 5]]
            nofollow = b"nofollow" in rel.lower().split()
        links.append(make((url, anchors[row, 2], anchors[row, 3], nofollow)))
    return False


def gathered(
    links: tuple,
    alphas: list,
    register: Register,
    aliases: dict,
    ask: cython.bint,
    admit: Callable[[str], str | None],
    shun: Callable[[str], None] | None,
) -> tuple[list[str], list[int], list[float], list[int], list[int]]:
    """The targets of links, each once, in order of first appearance; their numbers, -1 for new
    ones; the sums of their promises; where the longest of their anchors starts and ends.

    A URL that is in the register and has no alias is its own target; for all others (for all, with
    `ask`) ``admit`` gives it, or none. Where ``shun`` is given, it hears of URLs that are marked
    nofollow, and they are not followed.
    """
    targets: list[str] = []
    numbers: list[int] = []
    promises: list[float] = []
    starts: list[int] = []
    ends: list[int] = []
    places: dict[str, int] = {}  # of targets
    wheres: dict[str, int] = {}  # of URLs, -1 for those that are not admitted
    place: cython.Py_ssize_t
    number: cython.Py_ssize_t
    known: cython.int
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    link: tuple
    if len(alphas) != len(links):
        raise ValueError(f"{len(links)} links have {len(alphas)} promises")
    if shun is not None:
        for number in range(len(links)):
            link = cython.cast(tuple, links[number])
            if link[3]:
                shun(link[0])
    for number in range(len(links)):
        link = cython.cast(tuple, links[number])
        if shun is not None and link[3]:
            continue
        url: str = link[0]
        alpha: cython.double = alphas[number]
        start = link[1]
        end = link[2]
        where = wheres.get(url)
        if where is None:
            target: str | None = url
            known = -1
            if not ask and url not in aliases:
                known = register.find(url)
            if known < 0:
                target = admit(url)
                if target is None:
                    wheres[url] = -1
                    continue
                known = register.find(target)
            where = places.get(target)
            if where is None:
                place = len(targets)
                wheres[url] = place
                places[target] = place
                targets.append(target)
                numbers.append(known)
                promises.append(alpha)
                starts.append(start)
                ends.append(end)
                continue
            wheres[url] = where
        place = where
        if place < 0:
            continue
        if alpha != 0.0:
            promises[place] += alpha
        if end - start > ends[place] - starts[place]:
            starts[place] = start
            ends[place] = end
    return targets, numbers, promises, starts, ends


def unsettled(numbers: list, status: bytearray, settled: cython.int) -> list[int]:
    """The places of those numbers that are -1, or whose status is below `settled`."""
    known: cython.uchar[::1] = memoryview(status)
    place: cython.Py_ssize_t
    number: cython.Py_ssize_t
    found: list[int] = []
    for place in range(len(numbers)):
        number = numbers[place]
        if number >= known.shape[0]:
            raise ValueError(f"the node {number} has no status")
        if number < 0 or known[number] < settled:
            found.append(place)
    return found


def grouped(targets: list, group_of: Callable[[str], str]) -> list[str]:
    """The groups of URLs. Most have that of the URL before: the same up to their path."""
    groups: list[str] = []
    target: str
    before: str = ""
    group = ""
    for target in targets:
        if not before or not target.startswith(before):
            group = group_of(target)
            before = target[: target.index("/", 8) + 1]
        groups.append(group)
    return groups
