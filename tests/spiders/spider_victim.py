"""A spider in a process of its own, to be killed: ``python spider_victim.py URL JOBDIR BUDGET``."""

from __future__ import annotations

import sys
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess


class Victim(scrapy.Spider):
    """Follows all links."""

    name = "victim"
    start_urls = (sys.argv[1],)

    def parse(self, response: Any) -> Any:
        if "tide gauge of" in response.text:
            yield {"url": response.url}
        yield from response.follow_all(css="a", meta={"depth_of": [1, "two"]})


if __name__ == "__main__":
    process = CrawlerProcess(
        {
            "ADDONS": {"sonde.scrapy.Addon": 300},
            "SONDE_BUDGET": int(sys.argv[3]),
            "JOBDIR": sys.argv[2],
            "LOG_LEVEL": "ERROR",
            "ROBOTSTXT_OBEY": True,
            "DOWNLOAD_DELAY": 0,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
            "TELNETCONSOLE_ENABLED": False,
        }
    )
    process.crawl(Victim)
    process.start()
