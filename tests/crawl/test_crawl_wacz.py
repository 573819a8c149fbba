"""A run's pages as WACZ, opened again."""

from __future__ import annotations

import gzip
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from crawl_sites import Site, html, prose

from sonde.cli import main
from sonde.crawling import Crawl
from sonde.data import Recipe, build
from sonde.store.fastwarc import WarcRecord, WarcRecordType
from sonde.store.wacz import surt


async def site(request: web.Request) -> web.StreamResponse:
    if request.path == "/robots.txt":
        return web.Response(status=404)
    if request.path == "/old":
        return web.Response(status=301, headers={"Location": "/new"})
    links = "".join(f"<p>{prose(n, 40)} <a href=/{n}>tide {n}</a>" for n in range(5))
    name = "/0" if request.path == "/4" else request.path  # 4 is 0 once more
    return html(f"{prose(7, 300)} tide {name} {links} <a href=/old>old</a>")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    with Site(site) as server:
        Crawl(
            server.url("/0"),
            path=tmp_path / "run",
            topic="tide",
            delay=0,
            allow_private=True,
            concurrency=1,
        ).run_to_end()
    return tmp_path / "run"


def test_a_bundle_holds_what_it_says(run: Path, tmp_path: Path) -> None:
    half = next((run / "pages").iterdir())
    whole = half.read_bytes()
    half.write_bytes(whole + b"\x1f\x8b\x08half a record")  # as while a crawl goes on
    target = tmp_path / "pages.wacz"
    assert main(["export", str(run), "--wacz", str(target)]) == 0
    with zipfile.ZipFile(target) as bundle:
        assert all(info.compress_type == zipfile.ZIP_STORED for info in bundle.infolist())
        content = {name: bundle.read(name) for name in bundle.namelist()}
    assert content["archive/pages-00001.warc.gz"] == whole

    about = json.loads(content["datapackage.json"])
    assert about["wacz_version"] == "1.1.1"
    assert {each["path"] for each in about["resources"]} == {
        "archive/pages-00001.warc.gz",
        "indexes/index.cdx",
        "pages/pages.jsonl",
    }
    for each in about["resources"]:
        assert each["hash"] == f"sha256:{hashlib.sha256(content[each['path']]).hexdigest()}"
        assert each["bytes"] == len(content[each["path"]])
    digest = json.loads(content["datapackage-digest.json"])
    assert digest["hash"] == f"sha256:{hashlib.sha256(content['datapackage.json']).hexdigest()}"

    lines = content["indexes/index.cdx"].decode().splitlines()
    assert lines == sorted(lines)
    kinds = set()
    for line in lines:
        key, moment, text = line.split(" ", 2)
        fields = json.loads(text)
        start, length = int(fields["offset"]), int(fields["length"])
        stored = content[f"archive/{fields['filename']}"][start : start + length]
        record = WarcRecord.from_bytes(gzip.decompress(stored))
        assert record.headers["WARC-Target-URI"] == fields["url"]
        assert key == surt(fields["url"])
        assert len(moment) == 14
        assert (record.record_type == WarcRecordType.revisit) == (fields["mime"] == "warc/revisit")
        kinds.add((fields["mime"], fields["status"]))
    assert {status for _, status in kinds} == {"200", "301", "404"}
    assert ("warc/revisit", "200") in kinds

    pages = [json.loads(line) for line in content["pages/pages.jsonl"].splitlines()]
    assert pages[0]["format"] == "json-pages-1.0"
    assert {page["url"].rpartition("/")[2] for page in pages[1:]} >= {"0", "1", "2", "3", "new"}

    built = build(Recipe("html", target, keywords=("tide",)), tmp_path / "graph")
    assert built.about[0]["counts"]["nodes"] >= 5
    assert built.about[0]["problems"] == {}


def test_a_run_without_pages_has_no_bundle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Site(site) as server:
        settings: dict[str, Any] = {
            "topic": "tide",
            "delay": 0,
            "allow_private": True,
            "pages": False,
        }
        Crawl(server.url("/0"), path=tmp_path / "run", budget=3, **settings).run_to_end()
    assert main(["export", str(tmp_path / "run"), "--wacz", str(tmp_path / "a.wacz")]) == 2
    assert "kept no pages" in capsys.readouterr().err
    assert not (tmp_path / "a.wacz").exists()


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://Docs.a.example/X?y=Z", "example,a,docs)/x?y=z"),
        ("http://a.example:8080/", "example,a:8080)/"),
        ("http://127.0.0.1:8080/x", "127.0.0.1:8080)/x"),
        ("http://[::1]/x", "[::1])/x"),
        ("http://[::1]:8080/x", "[::1]:8080)/x"),
    ],
)
def test_keys_sort_by_domain(url: str, key: str) -> None:
    assert surt(url) == key
