"""Which browser is there: the program, or the address, that a setting means."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from sonde.errors import InputError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "msedge")
"""What browsers that speak the protocol are called."""


def find_browser(wanted: str) -> str:
    """The program or the address that a setting means. A name is looked for, and then others of
    the kind; a path or a ``ws://`` address is taken as it is. Raises ``InputError``."""
    if wanted.startswith(("ws://", "wss://")):
        return wanted
    if os.sep in wanted:
        if not os.access(wanted, os.X_OK) or Path(wanted).is_dir():
            raise InputError(f"{wanted}: no program that can be run")
        return wanted
    for name in dict.fromkeys((wanted, *NAMES)):
        found = shutil.which(name)
        if found is not None:
            return found
    raise InputError(
        f"no browser was found ({wanted}): install chromium, or say --browser PATH or ws://..."
    )


def unsandboxed(browser: str) -> bool:
    """Whether a browser runs without its own sandbox here: it has none for root."""
    return not browser.startswith(("ws://", "wss://")) and getattr(os, "geteuid", lambda: 1)() == 0
