"""A harvest chart in characters: what a crawl had brought after each visit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sonde.protocols import Floats

MARKS = "●○◆◇■□"


def harvest_chart(
    curves: Mapping[str, Sequence[float] | Floats], width: int = 64, height: int = 12
) -> str:
    """Cumulative curves over visits, one mark each, on common axes."""
    longest = max((len(curve) for curve in curves.values()), default=0)
    if not longest:
        return "(no visits)"
    highest = max(float(np.max(curve)) for curve in curves.values() if len(curve)) or 1.0
    canvas = [[" "] * width for _ in range(height)]
    for mark, curve in zip(MARKS, curves.values(), strict=False):
        values = np.asarray(curve, dtype=np.float64)
        for column in range(width):
            visit = max(1, round((column + 1) * longest / width))
            if visit <= len(values):
                row = round((height - 1) * values[visit - 1] / highest)
                canvas[height - 1 - row][column] = mark
    labels = [f"{highest:,.4g}", *[""] * (height - 2), "0"]
    margin = max(map(len, labels))
    lines = [
        f"{label:>{margin}} │{''.join(row)}".rstrip()
        for label, row in zip(labels, canvas, strict=True)
    ]
    lines.append(f"{'':>{margin}} └{'─' * width}")
    count = f"{longest:,} visits"
    lines.append(f"{'':>{margin}}  0{count:>{width - 1}}")
    if len(curves) > 1:
        legend = "   ".join(f"{mark} {name}" for mark, name in zip(MARKS, curves, strict=False))
        lines.append(f"{'':>{margin}}  {legend}")
    return "\n".join(lines)
