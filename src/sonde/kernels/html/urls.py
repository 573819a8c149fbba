"""The basenames of a page's links, a URL up to the last ``/`` before its query, and how the links
are spread over them and over their domains.

A page's links mostly follow one another within a folder, so that each is compared with the one
before, byte by byte, and a text is made only where a basename begins anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cython
from cython.cimports.sonde.kernels import byte

if cython.compiled:
    from cython.cimports.cpython.unicode import PyUnicode_AsUTF8AndSize
    from cython.cimports.libc.string import memchr, memcmp


def basename_of(url: str) -> str:
    """The URL up to the last ``/`` of its path.

    >>> basename_of("https://a.example:8080/docs/x?next=/y/")
    'https://a.example:8080/docs/'
    """
    end = url.find("?")
    return url[: url.rfind("/", 0, len(url) if end < 0 else end) + 1]


def by_basename(urls: list[str]) -> tuple[list[str], list[int], list[int]]:
    """The distinct basenames in order of first appearance, how many URLs each has, and for each
    URL the number of its basename."""
    numbers: dict[str, int] = {}
    counts: list[int] = []
    which: list[int] = []
    last = -1
    if not cython.compiled:
        for each in urls:
            last = numbers.setdefault(basename_of(each), len(numbers))
            which.append(last)
            if last == len(counts):
                counts.append(0)
            counts[last] += 1
        return list(numbers), counts, which
    size: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    before: cython.Py_ssize_t = -1
    data: cython.p_const_char
    earlier: cython.p_const_char = cython.NULL
    query: cython.p_const_char
    url: str
    for url in urls:
        data = PyUnicode_AsUTF8AndSize(url, cython.address(size))
        query = cython.cast(cython.p_const_char, memchr(data, byte.QUESTION, size))
        end = size if query == cython.NULL else query - data
        while end > 0 and data[end - 1] != byte.SLASH:
            end -= 1
        if end != before or memcmp(data, earlier, end) != 0:
            name = url[:end] if size == len(url) else basename_of(url)
            last = numbers.get(name, -1)
            if last < 0:
                last = numbers[name] = len(counts)
                counts.append(0)
            before = end
            earlier = data
        which.append(last)
        counts[last] += 1
    return list(numbers), counts, which


def measured(
    urls: list[str],
    targets: list[str],
    renamed: dict[str, str],
    domains: dict[str, str],
    domain_of: Callable[[str], str],
    make: Callable[[tuple[str, str, float, float, int]], Any],
) -> list[Any]:
    """What ``make`` makes of each target's domain, basename, RFU, BFU and repeats.

    `urls` are a page's links as they stand, some of them `renamed`; `targets` are those of them
    that are asked for, by the names that they have then. `domains` are those of basenames that were
    looked up before, ``domain_of`` gives the others.
    """
    at: cython.Py_ssize_t
    number: cython.Py_ssize_t
    count: cython.Py_ssize_t
    places: dict[str, int] = {}  # of URLs, in order of first appearance
    times: list[int] = []
    for url in urls:
        if renamed:
            url = renamed.get(url, url)
        place = places.get(url)
        if place is None:
            places[url] = len(times)
            times.append(1)
        else:
            at = place
            times[at] += 1
    names, counts, which = by_basename(list(places))
    alike: dict[str, int] = {}
    total: cython.double = len(times)
    for number in range(len(names)):
        name = names[number]
        domain = domains.get(name)
        if domain is None:
            domain = domains[name] = domain_of(name)
        alike[domain] = alike.get(domain, 0) + counts[number]
    found: list[Any] = []
    shared: dict[tuple[int, int], Any] = {}
    made = None
    repeated: cython.Py_ssize_t
    number_before: cython.Py_ssize_t = -1
    repeated_before: cython.Py_ssize_t = -1
    for target in targets:
        at = places[target]
        number = which[at]
        repeated = times[at]
        if number != number_before or repeated != repeated_before:
            number_before = number
            repeated_before = repeated
            made = shared.get((number, repeated))
            if made is None:
                name = names[number]
                domain = domains[name]
                count = alike[domain]
                rfu: cython.double = count / total / len(alike)
                count = counts[number]
                bfu: cython.double = count / total / len(names)
                made = shared[number, repeated] = make((domain, name, rfu, bfu, repeated - 1))
        found.append(made)
    return found
