"""A copy of the engine with a toy package beside it, each run of which is a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import kepler_envs
from kepler_envs.engine import shipped

PACKAGE = Path(kepler_envs.__file__).parent

TOY = {
    "constants.py": "STEP = 10\n",
    "helpers.py": (
        "from kepler_envs.engine.kernel import helper, leaf\n"
        "from toy.constants import STEP\n"
        "@leaf\n"
        "def twice(x):\n"
        "    return 2 * x\n"
        "@helper\n"
        "def advance(x):\n"
        "    return twice(x) + STEP\n"
    ),
    "numbers.toml": "value = 1000\n",
    "__init__.py": (
        "import sys, tomllib\n"
        "from pathlib import Path\n"
        "import numpy as np\n"
        "from kepler_envs.engine.bits import bit_count\n"
        "from kepler_envs.engine.code_cache import Scope\n"
        "from kepler_envs.engine.kernel import array_of, kernel, INT\n"
        "from toy.helpers import advance\n"
        "FOLDER = Path(__file__).parent\n"
        "SCOPE = Scope('toy', FOLDER)\n"
        "TABLE = np.array([tomllib.loads((FOLDER / 'numbers.toml').read_text())['value']])\n"
        "def build():\n"
        "    @kernel(SCOPE, 'run', (array_of(np.int64), INT))\n"
        "    def run(numbers, at):\n"
        "        return advance(numbers[at]) + TABLE[0] + 100000 * bit_count(np.uint64(7))\n"
        "    return run\n"
    ),
}
"""advance(1) = 12; + 1000 from the table; + 300000 from the engine's bit_count."""

VALUE = 301_012
MAIN = "import numpy as np, toy; run = toy.build(); print(run(np.array([1]), {at}), sum(run.stats.cache_hits.values()))"


class Copy:
    """A copy of the engine and the toy, with a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        shutil.copytree(
            PACKAGE / "engine", folder / "kepler_envs" / "engine", ignore=shutil.ignore_patterns("__pycache__")
        )
        (folder / "kepler_envs" / "__init__.py").touch()
        self.toy = folder / "toy"
        self.toy.mkdir()
        for name, text in TOY.items():
            (self.toy / name).write_text(text)

    def environment(self, **changes: str | None) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "KEPLER_", "XDG_"))}
        # Python's own cache of modules goes by seconds and sizes: it would miss an edit within a second
        settled = {
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(self.folder),
            "KEPLER_ENVS_CACHE_DIR": str(self.cache),
            "KEPLER_ENVS_QUIET": "1",
        }
        wanted = {**kept, **settled, **changes}
        return {name: value for name, value in wanted.items() if value is not None}

    def run(self, code: str = MAIN.format(at=0), **changes: str | None) -> list[int]:
        """What a new process prints: the value, and how many kernels came from the cache."""
        result = self.start(code, **changes)
        out, problems = result.communicate(timeout=300)
        assert result.returncode == 0, problems
        return [int(word) for word in out.split()]

    def start(self, code: str = MAIN.format(at=0), **changes: str | None) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", code], env=self.environment(**changes), cwd=self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def edit(self, path: str, old: str, new: str) -> None:
        file = self.folder / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))

    def ship(self) -> Path:
        """Compile for what wheels are made for, and leave the code in the package instead of the cache; its folder."""
        assert self.run(**shipped.COMPILE_FOR) == [VALUE, 0]
        folder = self.folder / "kepler_envs" / "_compiled"
        shutil.move(self.cache / "kepler_envs", folder)
        (folder / shipped.MADE_WITH).write_text(json.dumps(shipped.versions()))
        return folder

    def cached_files(self) -> list[Path]:
        return sorted(path for path in self.cache.rglob("*.nbc"))
