"""How accounts are written as nodes, and which endpoint a node begins with."""

from __future__ import annotations

from sonde.sources.social.description import ApiDescription

SEARCH = "?"
"""A node that begins so is a search."""

_ID = "#"


def node_of(number: str, name: str, description: ApiDescription) -> str:
    """The node of an account that an answer tells of. Where mentions have no names, ids alone."""
    if name and name != number and description.posts.mention_name:
        return f"{name}{_ID}{number}"
    return number


def id_of(node: str) -> str | None:
    """The id in a node, where it has one."""
    _, mark, number = node.rpartition(_ID)
    return number if mark and number else None


def name_of(node: str) -> str:
    """What a person calls the account."""
    return node if id_of(node) is None else node.rpartition(_ID)[0]


def spelt(name: str) -> str:
    """The one spelling of a seed."""
    bare = name.strip()
    return bare if bare.startswith(SEARCH) else bare.removeprefix("@")


def endpoint_of(node: str, description: ApiDescription) -> str:
    """Where a node's first request goes."""
    if node.startswith(SEARCH):
        return "search" if description.search is not None else "posts"
    if id_of(node) is None and description.lookup is not None:
        return "lookup"
    return "posts"
