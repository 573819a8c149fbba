"""The add-on: ``ADDONS = {"sonde.scrapy.Addon": 300}`` in a project's settings."""

from __future__ import annotations

from typing import Any

from scrapy.exceptions import NotConfigured

SCHEDULER = "sonde.scrapy.Scheduler"
CHARGING = "sonde.scrapy.ChargingMiddleware"
TELLING = "sonde.scrapy.TellingMiddleware"

_NEAREST = 1_000_000
"""Beyond all orders in use: a cache at 900 answers before anything is charged."""

_ADDON = 15  # the priority of what add-ons set


class Addon:
    """Puts the scheduler and both middlewares into a crawler's settings, unless
    ``SONDE_ENABLED`` is false."""

    def update_settings(self, settings: Any) -> None:
        """Called by Scrapy once for every crawler."""
        if not settings.getbool("SONDE_ENABLED", True):
            return
        if (settings.getpriority("SCHEDULER") or 0) > _ADDON:
            raise NotConfigured(
                f"the project sets SCHEDULER = {settings['SCHEDULER']!r}, and sonde needs its own"
            )
        settings.set("SCHEDULER", SCHEDULER, priority="addon")
        settings["DOWNLOADER_MIDDLEWARES"][CHARGING] = _NEAREST
        settings["SPIDER_MIDDLEWARES"][TELLING] = -_NEAREST
