"""Builds the kernels with Cython; everything else about the package is in pyproject.toml."""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

# Bit-for-bit equality of compiled and uncompiled runs forbids fused multiply-adds, which some
# processors' compilers contract by default, and anything like fast-math.
C_FLAGS = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno"]

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
    "annotation_typing": True,
}

kernels = sorted(
    path for path in Path("src/sonde/kernels").glob("*.py") if path.name != "__init__.py"
)
extensions = cythonize(
    [
        Extension(f"sonde.kernels.{path.stem}", [str(path)], extra_compile_args=C_FLAGS)
        for path in kernels
    ],
    build_dir="build/kernels",
    compiler_directives=DIRECTIVES,
    include_path=["src"],
)
for extension in extensions:  # cythonize forgets it: without a C compiler the files run as they are
    extension.optional = True

setup(ext_modules=extensions, options={"build_ext": {"parallel": os.cpu_count() or 1}})
