"""What a scorer in a process of its own may use (see ``scoring_process``)."""

from __future__ import annotations

SECONDS = 10.0
"""How long it may take for one document, unless somebody says otherwise."""

MEMORY = 4 << 30
"""How much address space its process may have."""
