"""The kind of source that is a search form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from sonde.errors import InputError
from sonde.net.exchange import REASONS
from sonde.net.urls import normalise
from sonde.scorers.topic import Topic
from sonde.sources.context import SourceContext
from sonde.sources.form.form import SearchForm
from sonde.sources.form.layout import Layout
from sonde.sources.form.source import LONGEST, words_of
from sonde.sources.kind import FETCHING, Kind

if TYPE_CHECKING:
    from sonde.sources.form.source import FormSource


@dataclass(frozen=True)
class FormOptions:
    """Where the form is, and what of it and of its results is described.

    With ``field`` the form is described: keywords go to ``url`` in that field, with ``fields``
    (``name=value``) along. Without, it is looked for on the page at ``url``.
    """

    url: str = ""
    field: str = ""
    method: str = "get"
    fields: tuple[str, ...] = ()
    result: str = ""
    id: str = "a[href]@href"
    next: str = ""
    pages: int = 5
    general: float = 0.3

    def __post_init__(self) -> None:
        if self.method not in ("get", "post"):
            raise InputError(f"method is get or post, not {self.method!r}")
        if self.pages < 1:
            raise InputError(f"pages must be 1 or more, not {self.pages}")
        if not 0 < self.general <= 1:
            raise InputError(f"general is a share between 0 and 1, not {self.general}")
        if not self.field and (self.fields or self.method != "get"):
            raise InputError("method and fields describe a form: say which field is the keyword's")
        for pair in self.fields:
            if "=" not in pair:
                raise InputError(f"a field is name=value, not {pair!r}")
        self.layout()

    def layout(self) -> Layout:
        """What is known of result pages."""
        return Layout(self.result, self.id, self.next)


class Form(Kind[FormOptions]):
    """Records behind a search form, by keywords."""

    name = "form"
    summary = "records behind a search form, by keywords: form:URL"
    nouns = ("keyword", "keywords")
    options = FormOptions
    place = "url"
    heeds = FETCHING | {"topic", "delay", "text"}
    defaults: Mapping[str, Any] = {"objective": "distinct", "concurrency": 1}
    reasons: ClassVar[Mapping[str, str]] = REASONS | {
        "leaves the site": "a redirect leads to another site than the form's",
        "over-general": "it stands in too large a share of the records",
    }

    def settled(self, options: FormOptions) -> FormOptions:
        address = normalise(options.url)
        if address is None:
            raise InputError(f"not the URL of a form: {options.url!r:.200}")
        return replace(options, url=address)

    def seeds(self, options: FormOptions, topic: str | None) -> Sequence[str]:
        wanted = Topic.of(topic).wanted if topic else ()
        words = words_of(" ".join(phrase.spelt for phrase in wanted))
        if not words:
            raise InputError("a search form needs keywords to begin with, or a topic")
        return words

    def spelt(self, options: FormOptions, seed: str) -> str:
        word = " ".join(seed.lower().split())
        if not word or len(word) > 4 * LONGEST or not word.isprintable():
            raise InputError(f"not a keyword: {seed!r:.200}")
        return word

    def make(self, options: FormOptions, context: SourceContext) -> FormSource:
        from sonde.sources.form.source import FormSource, Manner  # the HTTP client takes its time

        form = None
        if options.field:
            pairs = tuple(
                (pair.partition("=")[0], pair.partition("=")[2]) for pair in options.fields
            )
            form = SearchForm(options.url, options.method, options.field, pairs)
        manner = Manner(options.url, form, options.layout(), options.pages, options.general)
        return FormSource(manner, context)
