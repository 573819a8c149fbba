"""A package that offers a source, installed with pip, is found, listed, crawled and resumed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PathDistribution
from importlib.util import find_spec
from pathlib import Path

import pytest

from sonde.cli import main
from sonde.store.reader import RunReader
from sonde.store.summary import totals

PACKAGE = Path(__file__).with_name("modules")
VICTIM = Path(__file__).parents[1] / "crawl" / "crawl_victim.py"
VISITED = "SELECT url FROM leases JOIN nodes ON nodes.number = leases.node WHERE outcome = 'visit'"
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "own-source.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pip has put the package. Nothing is fetched: sonde and setuptools are there."""
    if not (find_spec("pip") and find_spec("setuptools")):
        pytest.skip("pip and setuptools are needed to install a package")
    copy = tmp_path_factory.mktemp("package")
    for file in PACKAGE.iterdir():
        if file.is_file():
            (copy / file.name).write_bytes(file.read_bytes())
    target = tmp_path_factory.mktemp("site")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
    ]
    subprocess.run(
        [*pip, "--quiet", "--disable-pip-version-check", "--target", str(target), str(copy)],
        check=True,
        capture_output=True,
    )
    return target


@pytest.fixture
def plugged(installed: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(installed))
    yield installed
    sys.modules.pop("sonde_modules", None)


def test_it_is_listed(installed: Path) -> None:
    """By a process of its own, which finds it where packages are."""
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    said = subprocess.run(
        [sys.executable, "-m", "sonde", "sources"],
        env=os.environ | {"PYTHONPATH": path},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert (
        "modules:WORD  Modules of the standard library, linked by their imports."
        "  (sonde-modules 1.0)\n  --option word=str  (needed)\n"
    ) in said
    assert "peers  peers that share files" in said


def test_it_is_crawled_and_resumed(
    plugged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run")
    assert main(["sources", "--json"]) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)["sources"]}
    assert listed["modules"]["package"] == "sonde-modules 1.0"
    assert listed["modules"]["options"] == {"word": {"type": "str", "needed": True}}
    assert main(["crawl", "modules:socket", "socketserver", "--budget", "5", "-o", run]) == 0
    assert main(["crawl", run, "--resume", "--budget", "+5"]) == 0
    with RunReader(Path(run)) as reader:
        assert totals(reader).requests == 10
        assert reader.meta("config")["source"] == "modules"
    capsys.readouterr()
    assert main(["show", run]) == 0
    assert main(["explain", run, "socket"]) == 0


def test_it_is_killed_and_resumed(installed: Path, tmp_path: Path) -> None:
    """By SIGKILL, three times; every report is kept, and the budget is exact."""
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    settings = {"budget": 12, "estimator": "n", "concurrency": 2}
    order = {"seeds": ["modules:socket", "xmlrpc.server"], "folder": str(tmp_path / "run")}
    said: list[str] = []
    with subprocess.Popen(
        [sys.executable, str(VICTIM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": path},
        text=True,
    ) as victim:
        assert victim.stdin is not None
        assert victim.stdout is not None
        for after in (2, 3, 2, 100):
            told = order | {"settings": settings, "after": after, "seconds": 20}
            victim.stdin.write(json.dumps(told) + "\n")
            victim.stdin.flush()
            said += json.loads(victim.stdout.readline())
        victim.stdin.close()
    assert said[-1] == "stopped budget -"
    assert not [line for line in said if line.startswith("error")]
    with RunReader(tmp_path / "run") as reader:
        assert totals(reader).requests == 12
        visited = {url for (url,) in reader.rows(VISITED)}
    assert {line.split()[2] for line in said if line.split()[1] == "visit"} <= visited


def test_without_the_package_the_run_says_what_is_missing(
    installed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = str(tmp_path / "run")
    with monkeypatch.context() as patched:
        patched.syspath_prepend(str(installed))
        assert main(["crawl", "modules:socket", "socketserver", "--budget", "2", "-o", run]) == 0
        sys.modules.pop("sonde_modules", None)
    capsys.readouterr()
    assert main(["crawl", run, "--resume"]) == 2
    assert "unknown source 'modules'" in capsys.readouterr().err


def test_a_broken_package_is_listed_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    info = tmp_path / "sonde_broken-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sonde-broken\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[sonde.sources]\nbroken = sonde_broken:Thing\n")
    (tmp_path / "sonde_broken.py").write_text("1 / 0\n")
    assert PathDistribution(info).name == "sonde-broken"
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["sources"]) == 0
    out = capsys.readouterr().out
    assert "broken  (sonde-broken 2.0) cannot be used\n" in out
    assert "cannot be loaded: division by zero" in out
    assert main(["crawl", "broken:", "x", "--budget", "2", "-o", str(tmp_path / "run")]) == 2


def test_the_guide_shows_the_package_as_it_is() -> None:
    """The worked example of the guide is the module that is installed here, under 40 lines."""
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", GUIDE.read_text("utf-8"), flags=re.M | re.S)
    module = (PACKAGE / "sonde_modules.py").read_text("utf-8")
    assert ("python", module) in blocks
    assert len(module.splitlines()) < 40
    assert ("text", (PACKAGE / "pyproject.toml").read_text("utf-8")) in blocks
