"""How properties are tested: not timed, because a busy machine must not fail them, and with the
same examples in every run. ``pytest --hypothesis-profile explore`` looks for new ones."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("explore", deadline=None)
settings.register_profile("same", deadline=None, derandomize=True)
settings.load_profile("same")
