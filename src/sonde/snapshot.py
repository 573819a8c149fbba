"""A snapshot of an explorer: numbers and arrays, from which it goes on exactly where it was.

Telling a log from the start gives the same state; a snapshot only makes that shorter. It holds
what was learned, not what can be derived: bounds and shortlists are computed anew. Reading one
runs no code. Names of nodes are not in it: their store gives them back, in order of discovery.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from sonde.errors import InputError
from sonde.explorer import Explorer, Open
from sonde.objectives import Count, Distinct, Sum
from sonde.records import Group, Node, Spend

FORM = 3
"""Raised whenever what is learned changes its shape."""

# What each kind of kernel object has learned, by class name; subclasses list all of theirs.
LEARNED = {
    "Frontier": (
        "rows blocks shelves live seen visits slot_of row_node row_seq row_live row_block "
        "node_group features block_first block_rows block_room block_live block_seq block_next "
        "shelf_live shelf_seq group_head group_tail"
    ),
    "Links": "count target alpha list_of visits node beta first last in_tail in_next in_visit",
    "LinkWords": "count first words",
    "Dice": "s0 s1 s2 s3",
    "Model": "step",
    "Neighbourhood": "depth truths",
    "SecondLevel": "gathered",
    "Cash": "cash given virtual endowed",
    "Vocabulary": "gained pages worth stamp known knowing total count mean stamps",
    "Ratios": "brought foreseen ratio",
    "Yields": (
        "due brought children shown_children shown_yield shown_weight gains "
        "positive positives promised promises gained samples gained_positive samples_positive "
        "scale promise unit outlook levels"
    ),
    "Forecast": "due weights drawn moments target factor",
    "Hurdle": "due factor size_moments size_target sizes chances seen scored count",
    "Navigation": "tolerance indegree share residual shown inflow waiting",
    "ExactNavigation": "indegree rank",
    "Places": "domain basename domains basenames",
    "Feedback": "error near_sum near_count wide_sum wide_count",
    "Quickness": "mean deviation answers heard_of shown rows",
    "Tournament": "active",
    "Expectation": "active",
    "Foresight": "active",
    "Chance": "active",
    "Wealth": "active divisor",
    "Regression": "active weights offset inverse",
    "Relevance": "active weights offset inverse samples gained",
    "Single": "",
    "Hybrid": "switched",
    "Bandit": "age period leader pulls told rewards",
    "Hedge": "positive positives weights fractions count",
    "Thompson": "positive positives wins losses",
}


def _objects(model: Any) -> Iterator[tuple[str, Any]]:
    """Every kernel object of a model, in an order that its estimator alone decides."""
    yield "frontier", model.frontier
    yield "links", model.links
    yield "link_words", model.links.link_words
    yield "dice", model.dice
    yield "model", model
    yield "neighbourhood", model.neighbourhood
    for number, signal in enumerate(model.signals):
        yield f"signal{number}", signal
        for name in ("vocabulary", "of_degree", "of_link", "dice"):
            if hasattr(signal, name):
                yield f"signal{number}.{name}", getattr(signal, name)
    for number, leaf in enumerate(model.frontier.leaves):
        yield f"leaf{number}", leaf
    for number, chooser in enumerate(model.chooser.family()):
        yield f"chooser{number}", chooser
        if hasattr(chooser, "sampler"):
            yield f"chooser{number}.sampler", chooser.sampler


def capture(explorer: Explorer) -> bytes | None:
    """The explorer's state, or ``None`` where a part of the user's own cannot be captured."""
    model = explorer._model
    if not isinstance(explorer.objective, Sum | Count | Distinct):
        return None
    keys = (*explorer._domains, *explorer._basenames)
    if not all(isinstance(key, str | int) for key in keys):
        return None
    arrays: dict[str, Any] = {}
    for place, part in _objects(model):
        names = LEARNED.get(type(part).__name__)
        if names is None:
            return None
        for name in names.split():
            arrays[f"{place}.{name}"] = np.asarray(getattr(part, name))
    leases = {
        str(number): {
            "node": opened.number,
            "held": asdict(opened.held),
            "leaf": opened.leaf,
            "snapshot": None if opened.snapshot is None else opened.snapshot.tolist(),
        }
        for number, opened in explorer._open.items()
    }
    seen = explorer.objective.seen if isinstance(explorer.objective, Distinct) else ()
    facts = {
        "form": FORM,
        "estimator": str(explorer.estimator),
        "nodes": explorer.known,
        "leases": explorer._leases,
        "open": leases,
        "seeds": list(explorer._seeds),
        "new_seeds": explorer._new_seeds,
        "spent": asdict(explorer.account.spent),
        "held": asdict(explorer.account.held),
        "total": explorer.total,
        "visits": explorer.visits,
        "seen": sorted(seen, key=str),
        "domains": list(explorer._domains),
        "basenames": list(explorer._basenames),
    }
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def restore(
    explorer: Explorer, state: bytes, nodes: Sequence[Node], groups: Sequence[Group]
) -> bool:
    """Bring a fresh explorer of the same making to a captured state.

    `nodes` are at least the nodes known then, in order of discovery, with their groups. A snapshot
    that another version of sonde has left is passed over: ``False``, and nothing has changed.
    """
    with np.load(io.BytesIO(state), allow_pickle=False) as arrays:
        facts = json.loads(arrays["facts"].tobytes())
        if facts.get("form") != FORM:
            return False
        if facts["estimator"] != str(explorer.estimator):
            raise InputError(
                f"the snapshot was taken with {facts['estimator']}, not {explorer.estimator}"
            )
        for place, part in _objects(explorer._model):
            for name in LEARNED[type(part).__name__].split():
                value = arrays[f"{place}.{name}"]
                if value.ndim:
                    setattr(part, name, value)
                else:
                    setattr(part, name, value.item())
    for leaf in explorer._model.frontier.leaves:
        leaf.catch_up()
    for node, group in zip(nodes[: facts["nodes"]], groups, strict=False):
        explorer._register.number(node)
        if explorer.grouped:
            explorer._group_number(group)
    for kind, keys in (("domains", explorer._domains), ("basenames", explorer._basenames)):
        keys.update({key: number for number, key in enumerate(facts.get(kind, ()))})
    explorer._leases = facts["leases"]
    explorer._seeds.extend(facts["seeds"])
    explorer._new_seeds = facts["new_seeds"]
    explorer.account.spent = Spend(**facts["spent"])
    explorer.account.held = Spend(**facts["held"])
    explorer.total = facts["total"]
    explorer.visits = facts["visits"]
    if isinstance(explorer.objective, Distinct):
        explorer.objective.seen.update(facts["seen"])
    for number, kept in facts["open"].items():
        snapshot = None if kept["snapshot"] is None else np.array(kept["snapshot"])
        explorer._open[int(number)] = Open(
            kept["node"], Spend(**kept["held"]), kept["leaf"], snapshot
        )
    return True
