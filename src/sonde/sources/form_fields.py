"""What a browser sends with a form besides what its user fills in."""

from __future__ import annotations

from collections.abc import Collection

from selectolax.lexbor import LexborNode

_KEPT = ("hidden", "submit")


def untouched_fields(form: LexborNode, besides: Collection[str]) -> tuple[tuple[str, str], ...]:
    """What a browser would send along if nothing else were touched."""
    pairs: list[tuple[str, str]] = []
    pressed = False
    for node in form.css("input[name], select[name]"):
        name = node.attrs.get("name") or ""
        if name in besides or "disabled" in node.attrs:
            continue
        kind = (node.attrs.get("type") or "").lower()
        if node.tag == "select":
            option = node.css_first("option[selected]") or node.css_first("option")
            if option is not None:
                pairs.append((name, option.attrs.get("value") or option.text(strip=True)))
        elif kind in ("checkbox", "radio"):
            if "checked" in node.attrs:
                pairs.append((name, node.attrs.get("value") or "on"))
        elif kind in _KEPT and not (kind == "submit" and pressed):
            pressed = pressed or kind == "submit"
            pairs.append((name, node.attrs.get("value") or ""))
    return tuple(pairs)
