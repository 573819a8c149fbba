"""What URLs say of languages: ``/fr/``, ``.fr.html``, ``?lang=fr``, ``fr.example.org``.

A *mark* is a place in a URL where the code of a language stands (ISO 639-1, with or without a
region, as in ``pt-br``). Some are none: ``/it/`` may be about computers. Whoever uses them waits
for evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeVar

_CODES = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de
dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id
ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu
lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu
rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr
ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
CODES = frozenset(_CODES.split())
"""The codes of languages."""

_OTHER_NAMES = {"iw": "he", "in": "id", "ji": "yi", "jp": "ja", "cn": "zh", "nb": "no", "nn": "no"}
_CODE = r"[a-z]{2}(?:[-_](?:[a-z]{2}|[a-z]{4}|[0-9]{3}))?"
_Row = TypeVar("_Row")
_WHOLE = re.compile(_CODE)
_SUFFIX = re.compile(rf"[._-]({_CODE})(?=(?:\.[a-z]{{2,5}})?$)")
_EXTENDED = re.compile(rf"(?<=\.[a-z]{{3}})\.({_CODE})$|(?<=\.[a-z]{{4}})\.({_CODE})$")
_PARAMETER = re.compile(
    rf"(?<=[?&;])(lang|language|locale|hl|lc|lng|uselang|setlang)=({_CODE})(?=[&;]|$)"
)


class LanguageMark(NamedTuple):
    """A place in a URL: what kind of place, the language that stands there, and where."""

    kind: str  # host, directory, suffix or parameter
    language: str
    start: int
    end: int


def primary(code: str) -> str:
    """The language of a code, without region or script, under one name.

    >>> primary("pt_BR"), primary("nb")
    ('pt', 'no')
    """
    language = re.split("[-_]", code.lower(), maxsplit=1)[0]
    return _OTHER_NAMES.get(language, language)


def speaks(language: str, wanted: str) -> bool:
    """Whether a page in one language is in another that is wanted: ``en-gb`` is ``en``, and not the
    other way round."""
    if "-" in wanted or "_" in wanted:
        language, wanted = (text.lower().replace("_", "-") for text in (language, wanted))
        return language == wanted or language.startswith(f"{wanted}-")
    return primary(language) == primary(wanted)


def marks(url: str) -> Iterator[LanguageMark]:
    """The marks of a normalised URL, from left to right."""
    low = url.lower()
    start = low.find("//") + 2
    root = low.index("/", start)
    query = low.find("?", root)
    end = len(low) if query < 0 else query
    label = low.find(".", start, root)
    if label > 0 and _is_code(low[start:label]):
        yield LanguageMark("host", primary(low[start:label]), start, label + 1)
    at = root + 1
    while (slash := low.find("/", at, end)) >= 0:
        if _is_code(low[at:slash]):
            yield LanguageMark("directory", primary(low[at:slash]), at, slash + 1)
        at = slash + 1
    name = low[at:end]
    if _is_code(name):
        yield LanguageMark("directory", primary(name), at, end)
    else:
        found = _EXTENDED.search(name) or _SUFFIX.search(name)
        code = next(filter(None, found.groups()), "") if found is not None else ""
        if found is not None and found.start() and _is_code(code):
            yield LanguageMark("suffix", primary(code), at + found.start(), at + found.end())
    if query >= 0:
        for found in _PARAMETER.finditer(low, query):
            if _is_code(found[2]):
                yield LanguageMark("parameter", primary(found[2]), *found.span())


def _is_code(text: str) -> bool:
    if len(text) > 7 or _WHOLE.fullmatch(text) is None:
        return False
    return text[:2] in CODES or text[:2] in _OTHER_NAMES


def untranslated(url: str) -> str:
    """A normalised URL without its marks: the same for the translations of a page.

    >>> untranslated("https://a.example/fr/x.html"), untranslated("https://a.example/x.de.html")
    ('https://a.example/x.html', 'https://a.example/x.html')
    """
    parts, at = [], 0
    for mark in marks(url):
        parts.append(url[at : mark.start])
        at = mark.end
    if not at:
        return url
    joined = "".join([*parts, url[at:]])
    path, _, query = joined.partition("?")
    query = "&".join(filter(None, query.split("&")))
    return f"{path}?{query}" if query else path


def without_translations(
    rows: Iterable[_Row], names: Callable[[_Row], tuple[str, str]]
) -> Iterator[_Row]:
    """The rows of pages without those that are a row before in another language. `names` gives the
    URL of a row and its language, which may be empty; other names than URLs stand for themselves.
    """
    languages: dict[str, list[str]] = {}
    for row in rows:
        url, language = names(row)
        if url.startswith(("http://", "https://")):
            known = languages.setdefault(untranslated(url), [])
            if known and (not language or primary(language) not in known):
                continue
            known.append(primary(language))
        yield row
