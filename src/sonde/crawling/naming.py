"""What a person calls a node, and what a run may call it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sonde.errors import InputError
from sonde.net.urls import normalise
from sonde.sources.pseudonyms import Pseudonyms


def possible_names(config: Mapping[str, Any], name: str) -> list[str]:
    """The name itself, a URL's one spelling, and the pseudonym where the key is at hand."""
    names = [name]
    address = normalise(name) if config.get("source", "web") == "web" else None
    if address is not None:
        names.append(address)
    if config.get("pseudonymise"):
        with suppress(InputError):  # without the key a run speaks of pseudonyms alone
            names.append(Pseudonyms.of(str(config["pseudonymise"])).hidden(name))
    return list(dict.fromkeys(names))
