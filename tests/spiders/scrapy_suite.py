"""Scrapy's own tests, with the add-on in every crawler.

    python tests/spiders/scrapy_suite.py CHECKOUT [pytest arguments]

CHECKOUT is an unpacked source distribution of the Scrapy that is installed, with what its tests
need. Without further arguments those tests run that have to do with scheduling: what they see of
Scrapy is as before, whoever chooses. ``docs/guides/scrapy.md`` says which pass.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

TESTS = (
    "test_closespider.py",
    "test_crawl.py",
    "test_downloadermiddleware_redirect.py",
    "test_downloadermiddleware_retry.py",
    "test_downloaderslotssettings.py",
    "test_engine.py",
    "test_engine_close_spider.py",
    "test_engine_download.py",
    "test_engine_loop.py",
    "test_engine_stop_download_bytes.py",
    "test_engine_stop_download_headers.py",
    "test_pipeline_crawl.py",
    "test_request_attribute_binding.py",
    "test_request_cb_kwargs.py",
    "test_request_left.py",
    "test_scheduler.py",
    "test_scheduler_base.py",
    "test_spider_start.py",
    "test_spidermiddleware_httperror.py",
    "test_spidermiddleware_output_chain.py",
    "test_spidermiddleware_process_start.py",
    "test_spiderstate.py",
)


def pytest_configure(config: Any) -> None:
    """As a plug-in: the add-on is a default of every crawler."""
    from scrapy.settings import default_settings

    default_settings.ADDONS = {"sonde.scrapy.Addon": 300}


if __name__ == "__main__":
    checkout = Path(sys.argv[1])
    told = sys.argv[2:] or [str(checkout / "tests" / name) for name in TESTS]
    here = Path(__file__).resolve().parent
    path = os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-p", "scrapy_suite", "-q", "-rf", *told]
    environment = {**os.environ, "PYTHONPATH": path}
    sys.exit(subprocess.run(command, cwd=checkout, env=environment, check=False).returncode)
