"""Builds the kernels with Cython; everything else about the package is in pyproject.toml."""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

# Bit-for-bit equality of compiled and uncompiled runs forbids fused multiply-adds, which some
# processors' compilers contract by default, and anything like fast-math.
C_FLAGS = ["-O3", "-ffp-contract=off", "-fno-math-errno"]

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

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"sonde.kernels.{path.stem}",
                [str(path)],
                extra_compile_args=C_FLAGS,
                optional=True,  # without a C compiler the same files run uncompiled
            )
            for path in kernels
        ],
        compiler_directives=DIRECTIVES,
        include_path=["src"],
    )
)
