"""What is given away works where it arrives: the wheel without a compiler, the sources without one
too, only slower."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import sonde

ROOT = Path(__file__).parents[2]
PARTS = ("src", ".ci", "README.md", "LICENSE", "pyproject.toml", "setup.py")
pytestmark = pytest.mark.slow


def run(*words: str | Path, cwd: Path, **env: str) -> str:
    """What a program prints; the paths of this process are left out."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=clean | env, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def environment(folder: Path) -> Path:
    """A new environment that has what sonde depends on, and no sonde; its Python."""
    venv.create(folder, with_pip=True)
    purelib = sysconfig.get_path("purelib", vars={"base": str(folder)})
    # A path alone: what is installed there in place, such as sonde, is not seen.
    Path(purelib, "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source distribution of this working tree."""
    pytest.importorskip("build", reason="needs build, the package that builds packages")
    folder = tmp_path_factory.mktemp("sources")
    for name in PARTS:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name,
                folder / name,
                ignore=shutil.ignore_patterns("*.so", "*.egg-info", "__pycache__"),
            )
        else:
            shutil.copy(ROOT / name, folder / name)
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "-o", "dist", cwd=folder)
    (made,) = (folder / "dist").glob("*.tar.gz")
    return made


def test_the_sources_hold_what_a_build_needs(sources: Path) -> None:
    with tarfile.open(sources) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    kernels = (ROOT / "src" / "sonde" / "kernels").rglob("*.p*")
    wanted = {
        path.relative_to(ROOT).as_posix() for path in kernels if "__pycache__" not in path.parts
    }
    assert wanted | {"setup.py", "pyproject.toml", "LICENSE", "src/sonde/py.typed"} <= names
    assert not [name for name in names if name.endswith((".c", ".so", ".pyc"))]


def wheel(sources: Path, folder: Path, **env: str) -> Path:
    """The wheel that pip makes of the sources."""
    words = ["-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    run(sys.executable, *words, folder, sources, cwd=folder, **env)
    (made,) = folder.glob("sonde-*.whl")
    return made


def installed(made: Path, folder: Path) -> Path:
    """The Python of a new environment in which a wheel was installed, without a compiler."""
    python = environment(folder / "env")
    words = ["-m", "pip", "install", "--no-index", "--no-deps"]
    run(python, *words, made, cwd=folder, CC=str(folder / "absent"))
    return python


def test_a_crawl_from_the_wheel_without_a_compiler(sources: Path, tmp_path: Path) -> None:
    quicker = {"CC": "ccache cc"} if shutil.which("ccache") and "CC" not in os.environ else {}
    made = wheel(sources, tmp_path, **quicker)
    assert f"sonde-{sonde.__version__}-cp{sys.version_info[0]}{sys.version_info[1]}" in made.name
    with zipfile.ZipFile(made) as archive:
        assert not [name for name in archive.namelist() if name.endswith(".c")]
    said = run(installed(made, tmp_path), ROOT / ".ci" / "installed.py", cwd=tmp_path)
    assert f"in {tmp_path / 'env'}" in said


def test_the_sources_are_installed_without_a_compiler_too(sources: Path, tmp_path: Path) -> None:
    python = installed(wheel(sources, tmp_path, CC=str(tmp_path / "absent")), tmp_path)
    found = json.loads(run(python, "-m", "sonde", "doctor", "--json", cwd=tmp_path))
    assert found["kernels"] == "uncompiled"
    assert found["healthy"]
    code = """
import sonde
from sonde.sources.graph import topical
print(sonde.simulate(topical(3000, 30_000, seed=2), random_seeds=5, budget=50, seed=1).gain)
"""
    assert run(python, "-c", code, cwd=tmp_path) == run(sys.executable, "-c", code, cwd=tmp_path)


def test_without_a_compiler_and_without_cython_one_line_says_what_to_do(
    sources: Path, tmp_path: Path
) -> None:
    with tarfile.open(sources) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("sonde-*/src")
    code = """
import importlib.util, sys
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "cython" else found(name, *rest)
from sonde.cli import main
sys.exit(main(sys.argv[1:]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "simulate", "graph", "--budget", "3"],
        env=os.environ | {"PYTHONPATH": str(source)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("sonde: sonde was installed without a C compiler")
    assert done.stderr.count("\n") == 1
    assert "pip install 'sonde[uncompiled]'" in done.stderr
