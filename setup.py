"""Builds the kernels with Cython; everything else about the package is in pyproject.toml.

``SONDE_CHECKED=1`` builds them with bounds checks, for the tests.
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

# Bit-for-bit equality of compiled and uncompiled runs forbids fused multiply-adds, which some
# processors' compilers contract by default, and anything like fast-math.
C_FLAGS = ["-O2", "-g0", "-ffp-contract=off", "-fno-math-errno"]

CHECKED = os.environ.get("SONDE_CHECKED") == "1"
CORES = os.cpu_count() or 1

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKED,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": CHECKED,
    "annotation_typing": True,
}

# What every kernel needs of Cython's runtime (memory views above all) is compiled once, into a
# module of its own, instead of into each of them: a third of the time, half of the size.
SHARED = "sonde.kernels._cyutility"

# byte.pxd is inlined into the others; byte.py beside it is for those that are not compiled.
kernels = sorted(
    path
    for path in Path("src/sonde/kernels").rglob("*.py")
    if path.name not in ("__init__.py", "byte.py")
)
extensions = cythonize(
    [
        Extension(SHARED, ["build/kernels/_cyutility.c"], extra_compile_args=C_FLAGS),
        *(
            Extension(
                ".".join(path.with_suffix("").parts[1:]), [str(path)], extra_compile_args=C_FLAGS
            )
            for path in kernels
        ),
    ],
    build_dir="build/kernels",
    compiler_directives=DIRECTIVES,
    include_path=["src"],
    nthreads=CORES,
    shared_utility_qualified_name=SHARED,
)
for extension in extensions:  # cythonize forgets it: without a C compiler the files run as they are
    extension.optional = True

setup(ext_modules=extensions, options={"build_ext": {"parallel": CORES}})
