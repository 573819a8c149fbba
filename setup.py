"""Builds the kernels with Cython; everything else about the package is in pyproject.toml.

Without a C compiler the package is installed with its kernels as they are, uncompiled.

``SONDE_CHECKED=1`` builds them with bounds checks, for the tests. What has been built is not built
again, so such a build wants a folder of its own: ``setup.py build --build-base build/checked``.
"""

import os
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

# Bit-for-bit equality of compiled and uncompiled runs forbids fused multiply-adds, which some
# processors' compilers contract by default, and anything like fast-math.
C_FLAGS = {
    "unix": ["-O2", "-g0", "-ffp-contract=off", "-fno-math-errno"],
    "msvc": ["/O2", "/fp:precise"],
}

# Where benchmarks/build.py counts more instructions at -O2.
AT_O3 = ("sonde.kernels.graphs.lagrangian",)

CHECKED = os.environ.get("SONDE_CHECKED") == "1"
CORES = os.cpu_count() or 1

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": CHECKED,
    "annotation_typing": True,
    "show_performance_hints": False,
}

# What every kernel needs of Cython's runtime (memory views above all) is compiled once, into a
# module of its own, instead of into each of them: a third of the time, half of the size.
SHARED = "sonde.kernels._cyutility"
KERNELS = Path("src/sonde/kernels")

UNCOMPILED = """\
There is no C compiler here that finds Python.h, so the kernels are installed uncompiled. Results
are the same, and crawls are hundreds of times slower. Uncompiled kernels need Cython to run:
    pip install 'sonde[uncompiled]'
"""


def kernels() -> list[Extension]:
    """One extension a kernel, the largest first, so that no core is left waiting for it."""
    # byte.pxd is inlined into the others; byte.py beside it is for those that are not compiled.
    files = [path for path in KERNELS.rglob("*.py") if path.stem not in ("__init__", "byte")]
    files.sort(key=lambda path: (-path.stat().st_size, path))
    names = [".".join(path.with_suffix("").parts[1:]) for path in files]
    return [
        Extension(SHARED, []),
        *(Extension(name, [str(path)]) for name, path in zip(names, files, strict=True)),
    ]


class BuildKernels(build_ext):
    """Translates kernels to C and compiles them, those that are out of date, and says which."""

    def build_extensions(self) -> None:
        if not self._compiles():
            print(UNCOMPILED, flush=True)
            self.extensions = []
            return
        self._translate()
        super().build_extensions()

    def _compiles(self) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            probe = Path(folder, "probe.c")
            probe.write_text("#include <Python.h>\n")
            try:
                self.compiler.compile([str(probe)], output_dir=folder)
            except (BaseError, CCompilerError):
                return False
        return True

    def _translate(self) -> None:
        """Give the extensions their C files, which only building needs."""
        print(f"translating what changed of {len(self.extensions) - 1} kernels to C", flush=True)
        translated = cythonize(
            self.extensions,
            build_dir=str(Path(self.get_finalized_command("build").build_base, "kernels")),
            compiler_directives=DIRECTIVES,
            include_path=["src"],
            nthreads=CORES,
            quiet=True,
            shared_utility_qualified_name=SHARED,
        )
        flags = C_FLAGS.get(self.compiler.compiler_type, C_FLAGS["unix"])
        found = {extension.name: extension for extension in translated}
        for extension in self.extensions:
            extension.sources = found[extension.name].sources
            extension.depends = found[extension.name].depends
            extension.extra_compile_args = [
                "-O3" if flag == "-O2" and extension.name in AT_O3 else flag for flag in flags
            ]
        self._late = [each for each in self.extensions if self._is_late(each, self._built(each))]

    def _built(self, extension: Extension) -> Path:
        """Where the extension is built, before it is copied to where it is wanted."""
        return Path(self.get_ext_fullpath(extension.name))

    def _is_late(self, extension: Extension, built: Path) -> bool:
        files = [*extension.sources, *extension.depends]
        return not built.exists() or built.stat().st_mtime < max(
            Path(file).stat().st_mtime for file in files
        )

    def copy_extensions_to_source(self) -> None:
        """Put them in place, and take away those whose source is no longer there."""
        wanted = {".".join(extension.name.split(".")[2:]) for extension in self.extensions}
        for module in [*KERNELS.rglob("*.so"), *KERNELS.rglob("*.pyd")]:
            folder = module.relative_to(KERNELS).parent
            if ".".join([*folder.parts, module.name.partition(".")[0]]) not in wanted:
                module.unlink()
        super().copy_extensions_to_source()

    def build_extension(self, extension: Extension) -> None:
        if self.editable_mode:
            # pip builds in a new folder each time: what lies in place already is taken as it is.
            package, _, _ = extension.name.rpartition(".")
            folder = self.get_finalized_command("build_py").get_package_dir(package)
            built = self._built(extension)
            if not self._is_late(extension, Path(folder, built.name)):
                built.parent.mkdir(parents=True, exist_ok=True)
                self.copy_file(str(Path(folder, built.name)), str(built))
                return
        if extension in self._late:
            number = self._late.index(extension) + 1
            name = extension.name.removeprefix("sonde.kernels.")
            print(f"compiling {number} of {len(self._late)}: {name}", flush=True)
        super().build_extension(extension)


if __name__ == "__main__":  # translating starts processes, which read this file again
    setup(
        cmdclass={"build_ext": BuildKernels},
        ext_modules=kernels(),
        options={"build_ext": {"parallel": CORES}},
    )
