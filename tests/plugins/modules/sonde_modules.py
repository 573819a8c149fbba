import asyncio
import math
import re
import sysconfig
from pathlib import Path

import sonde

LIBRARY = Path(sysconfig.get_path("stdlib"))
IMPORT = re.compile(r"^\s*(?:import|from) ([a-z]\w*(?:\.[a-z]\w*)*).*", re.MULTILINE)


class Modules:
    """Modules of the standard library, linked by their imports."""

    nouns = ("module", "modules")

    def __init__(self, word: str) -> None:
        self.word = re.compile(re.escape(word), re.IGNORECASE)

    async def visit(self, node, allowance):
        if not allowance.take():
            return sonde.Skip("budget", retry=True)
        path = LIBRARY.joinpath(*node.split("."))
        try:
            text = await asyncio.to_thread(self.read, path)
        except OSError:
            return sonde.Failure("not written in Python")
        links = [sonde.Link(found[1], self.score(found[0])) for found in IMPORT.finditer(text)]
        return sonde.Visit(self.score(text), links)

    def read(self, path):
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        return file.read_text(encoding="utf-8", errors="replace")

    def score(self, text):
        return math.log1p(len(self.word.findall(text)))
