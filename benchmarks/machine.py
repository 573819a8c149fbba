"""What machine a benchmark ran on, in one line."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def describe() -> str:
    """Processor, cores, memory and Python."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"{platform.system()}, Python {platform.python_version()}"
    )
