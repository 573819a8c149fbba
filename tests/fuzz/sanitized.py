"""Kernels under AddressSanitizer and UBSan: the mutations, and the tests of those who read.

python tests/fuzz/sanitized.py [what mutations.py is given]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig

from checked import ROOT, built

BASE = ROOT / "build" / "sanitized"
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1"
READERS = (
    "tests/sources/web",
    "tests/sources/test_words.py",
    "tests/data",
    "tests/scorers/test_keywords.py",
    "tests/scorers/test_topics.py",
    "tests/store/test_store_warc.py",
)


def main() -> int:
    """Build, attack, test; 0 if nothing was found."""
    compiler = shutil.which("gcc")
    if compiler is None or "gcc" not in (sysconfig.get_config_var("CC") or ""):
        print("sanitizers are set up for GCC, which is not here: skipped")
        return 0
    package = built(BASE, CFLAGS=FLAGS, LDFLAGS=FLAGS, CC=compiler)
    libraries = [
        subprocess.run(
            [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    env = os.environ | {
        "PYTHONPATH": str(package),
        "LD_PRELOAD": " ".join(libraries),
        # Python keeps what it has at its end; its own allocator would hide what we look for.
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
    }
    attack = [sys.executable, str(ROOT / "tests" / "fuzz" / "mutations.py"), *sys.argv[1:]]
    found = subprocess.run(attack, cwd=ROOT, env=env).returncode
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    readers = [path for path in READERS if (ROOT / path).exists()]
    return found or subprocess.run([*tests, *readers], cwd=ROOT, env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
