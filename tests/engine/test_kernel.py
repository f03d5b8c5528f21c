"""The compile cache: never a stale function, whatever was edited, and never in the way.

The tests work on a copy of the engine with a toy package beside it, each run in a process of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from kepler_envs.engine import kernel as kernels
from kepler_envs.engine.code_cache import Scope
from kepler_envs.engine.kernel import INT, JIT_ENABLED, array_of, helper, kernel, leaf, room_for
from tests.effort import only_deep, slow
from tests.engine.toy_package import MAIN, PACKAGE, VALUE, Copy

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")


# ---------------------------------------------------------------- never stale


def test_second_process_compiles_nothing(warm: Copy) -> None:
    files = {path: path.stat().st_mtime_ns for path in warm.cached_files()}
    assert len(files) == 1
    assert warm.run() == [VALUE, 1]
    assert {path: path.stat().st_mtime_ns for path in warm.cached_files()} == files


@pytest.mark.parametrize(
    "path, old, new, value",
    [
        ("toy/helpers.py", "return 2 * x", "return 5 * x", VALUE + 3),
        ("toy/constants.py", "STEP = 10", "STEP = 20", VALUE + 10),
        ("toy/numbers.toml", "value = 1000", "value = 2000", VALUE + 1000),
        ("toy/__init__.py", "+ TABLE[0]", "+ 2 * TABLE[0]", VALUE + 1000),
        (
            "kepler_envs/engine/bits.py",
            "return np.int64((word * _EACH_BYTE) >> _U56)",
            "return np.int64(5)",
            VALUE + 200_000,
        ),
    ],
    ids=["helper", "constant", "table", "kernel", "engine"],
)
def test_every_edit_is_seen(warm: Copy, path: str, old: str, new: str, value: int) -> None:
    """A changed callee, constant, data file or engine file: the next process computes anew, and the old text finds the
    old code."""
    warm.edit(path, old, new)
    assert warm.run() == [value, 0]
    warm.edit(path, new, old)
    assert warm.run() == [VALUE, 1]


@slow
def test_an_edit_between_loading_and_compiling_is_not_stored(copied: Copy) -> None:
    """A process that loaded the old text must not leave its code under the new text's name, nor under the old one's."""
    code = (
        "import numpy as np, toy\n"
        "path = toy.FOLDER / 'constants.py'; path.write_text('STEP = 20\\n')\n"
        "run = toy.build(); print(run(np.array([1]), 0), sum(run.stats.cache_hits.values()))\n"
    )
    assert copied.run(code) == [VALUE, 0]
    assert copied.cached_files() == []
    assert copied.run() == [VALUE + 10, 0]


@only_deep
def test_games_see_edited_rules_and_components(tmp_path: Path) -> None:
    """The same with a real game: a number in components.toml, a line of the rules."""
    folder = tmp_path / "kepler_envs"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import kepler_envs\n"
        "from kepler_envs import Snapshot\n"
        "config = kepler_envs.load_game('kitten_adventurers').configure(4)\n"
        "states = [Snapshot.deal(config, seed).state for seed in range(9)]\n"
        "print(*(int(state['player']['hand_count'][0]) for state in states), *(int(state['seat']) for state in "
        "states))\n"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "KEPLER_"))}
    settled = {
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(tmp_path),
        "KEPLER_ENVS_CACHE_DIR": str(tmp_path / "cache"),
    }
    environment = {**kept, **settled}

    def deal() -> tuple[list[int], list[int]]:
        result = subprocess.run(
            [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        numbers = [int(word) for word in result.stdout.split()]
        return numbers[:9], numbers[9:]

    game = folder / "games" / "kitten_adventurers"
    hands, seats = deal()
    assert hands == [7] * 9 and len(set(seats)) > 1
    components = game / "components.toml"
    text = components.read_text(encoding="utf-8")
    components.chmod(0o644)
    components.write_text(
        text.replace("players = 4\nquest = 10\nhand = 7", "players = 4\nquest = 10\nhand = 5"), encoding="utf-8"
    )
    assert deal()[0] == [5] * 9
    rules = game / "setup.py"
    text = rules.read_text(encoding="utf-8")
    assert "s.seat = below(s, int(o.num_players))" in text
    rules.write_text(text.replace("s.seat = below(s, int(o.num_players))", "s.seat = 3"), encoding="utf-8")
    assert deal() == ([5] * 9, [3] * 9)


# ---------------------------------------------------------------- several processes


@slow
def test_processes_that_compile_at_once(copied: Copy) -> None:
    """With an empty cache all of them get the right value, and leave a cache that works."""
    running, loaded = [copied.start() for _ in range(4)], 0
    for process in running:
        out, problems = process.communicate(timeout=300)
        assert process.returncode == 0, problems
        value, from_cache = map(int, out.split())
        assert value == VALUE
        loaded += from_cache
    assert loaded == 3, "one of them compiles, the others wait"
    assert copied.run() == [VALUE, 1]


@slow
def test_missing_cache_files(warm: Copy) -> None:
    """Code whose file is gone is compiled again."""
    (code,) = [path for path in warm.cached_files() if path.suffix == ".nbc"]
    code.unlink()
    assert warm.run() == [VALUE, 0]
    assert warm.run() == [VALUE, 1]


# ---------------------------------------------------------------- damaged files

DAMAGES = (
    "import json, random, sys, warnings\n"
    "import numpy as np, toy\n"
    "from kepler_envs.engine import code_cache, kernel as kernels\n"
    "@kernels.kernel(toy.SCOPE, 'other', (kernels.array_of(np.int64), kernels.INT))\n"
    "def other(numbers, at):\n"
    "    return numbers[at]\n"
    "folder = toy.SCOPE.cache_folder()\n"
    "(path,), (foreign,) = (list(folder.glob(f'*-{name}.*')) for name in ('run', 'other'))\n"
    "whole, random = path.read_bytes(), random.Random(1)\n"
    "def flipped(place):\n"
    "    return whole[:place] + bytes([whole[place] ^ 1 << random.randrange(8)]) + whole[place + 1:]\n"
    "places = [0, 31, 32, 40, len(whole) - 1, *random.sample(range(len(whole)), 6)]\n"
    "damaged = [whole[:length] for length in (0, 1, 31, 32, 33, len(whole) // 2, len(whole) - 1)]\n"
    "damaged += [*map(flipped, places), foreign.read_bytes(), whole + b'x', bytes(len(whole))]\n"
    "def load():\n"
    "    code_cache._warn.cache_clear()\n"
    "    with warnings.catch_warnings(record=True) as said:\n"
    "        warnings.simplefilter('always')\n"
    "        run = toy.build()\n"
    "    told = [str(one.message) for one in said]\n"
    "    return int(run(np.array([1]), 0)), sum(run.stats.cache_hits.values()), told\n"
    "found = []\n"
    "for content in damaged:\n"
    "    path.write_bytes(content)\n"
    "    found.append([load(), load()])\n"
    "left = [file.name for file in folder.iterdir() if file not in (path, foreign)]\n"
    "print(json.dumps([str(path), found, left]))\n"
)


def test_damaged_code_is_never_loaded(warm: Copy) -> None:
    """Empty, cut, flipped, lengthened, zeroed, another kernel's: noticed, said in one line, compiled anew, and the file
    is whole again."""
    out, problems = warm.start(DAMAGES).communicate(timeout=300)
    path, found, left = json.loads(out)
    assert not problems and not left and len(found) == 21
    said = f"{path} is damaged; it is not loaded but compiled again"
    assert found == [[[VALUE, 0, [said]], [VALUE, 1, []]]] * len(found)


@slow
def test_a_damaged_file_is_said_once_and_harms_no_process(warm: Copy) -> None:
    (file,) = warm.cached_files()
    file.write_bytes(file.read_bytes()[:-1])
    running = [warm.start() for _ in range(2)]  # both may find it, both may write it
    said = 0
    for process in running:
        out, problems = process.communicate(timeout=300)
        assert process.returncode == 0 and out.split()[0] == str(VALUE)
        assert len(problems.splitlines()) == problems.count("is damaged") <= 1
        said += problems.count("is damaged")
    assert 1 <= said <= 2
    assert warm.run() == [VALUE, 1]


@slow
def test_a_process_killed_while_it_writes_leaves_the_old_file(warm: Copy) -> None:
    (file,) = warm.cached_files()
    whole = file.read_bytes()
    killed = (
        "import os, toy\n"
        "from kepler_envs.engine.code_cache import _KernelFile\n"
        "class Killed(_KernelFile):\n"
        "    def _checksum(self, key, content):\n"
        "        os._exit(9)\n"
        "from kepler_envs.engine import code_cache\n"
        "code_cache._KernelFile = Killed\n"
        "Killed.load = lambda self, key: None\n"
        "toy.build()\n"
    )
    process = warm.start(killed)
    process.communicate(timeout=300)
    assert process.returncode == 9 and file.read_bytes() == whole
    assert warm.run() == [VALUE, 1]


# ---------------------------------------------------------------- where it is kept


@slow
def test_cache_beside_an_ordinary_install(copied: Copy) -> None:
    assert copied.run(KEPLER_ENVS_CACHE_DIR=None)[0] == VALUE
    kept = copied.folder / "kepler_envs" / "__pycache__" / "compiled"
    assert list(kept.rglob("toy-*/*.nbc"))


@slow
def test_cache_of_a_read_only_install(copied: Copy) -> None:
    """Where the package's folder takes no files (here: a file stands in the way), the user's cache folder does."""
    blocked = copied.folder / "kepler_envs" / "__pycache__" / "compiled"
    blocked.parent.mkdir()
    blocked.touch()
    home = copied.folder / "home"
    home.mkdir()
    away = {"KEPLER_ENVS_CACHE_DIR": None, "HOME": str(home), "XDG_CACHE_HOME": None}
    assert copied.run(**away) == [VALUE, 0]
    assert list((home / ".cache" / "kepler_envs").glob("toy-*/*.nbc"))
    assert copied.run(**away) == [VALUE, 1]
    assert copied.run(**{**away, "XDG_CACHE_HOME": str(copied.folder / "xdg")}) == [VALUE, 0]
    assert list((copied.folder / "xdg" / "kepler_envs").glob("toy-*/*.nbc"))


@slow
@pytest.mark.parametrize("place", ["below a file", pytest.param("in /proc", marks=only_deep)])
def test_no_place_for_a_cache(copied: Copy, place: str) -> None:
    """Nothing is kept, nothing fails, and one warning says so, however many kernels there are."""
    file = copied.folder / "file"
    file.touch()
    nowhere = str(file / "cache") if place == "below a file" else "/proc/kepler_envs_cache"
    assert copied.run(KEPLER_ENVS_CACHE_DIR=nowhere) == [VALUE, 0]
    blocked = copied.folder / "kepler_envs" / "__pycache__" / "compiled"
    blocked.parent.mkdir(exist_ok=True)
    blocked.touch()
    assert copied.run(KEPLER_ENVS_CACHE_DIR=None, HOME=nowhere, XDG_CACHE_HOME=nowhere) == [VALUE, 0]
    twice = "import toy; toy.build(); toy.build()"
    _, problems = copied.start(
        "import warnings; warnings.simplefilter('always'); " + twice, KEPLER_ENVS_CACHE_DIR=nowhere
    ).communicate()
    assert problems.count("compiled code is not kept, so every process compiles again") == 1
    assert nowhere in problems and "set KEPLER_ENVS_CACHE_DIR to a folder that can" in problems


@slow
def test_a_full_disk_is_said_once(copied: Copy) -> None:
    code = (
        "import errno, toy\n"
        "from kepler_envs.engine import code_cache\n"
        "def full(self, path):\n"
        "    raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "code_cache._KernelFile._open_for_write = full\n"
        "toy.build(); toy.build()\n" + MAIN.format(at=0)
    )
    out, problems = copied.start(code).communicate(timeout=300)
    assert out.split() == [str(VALUE), "0"] and copied.cached_files() == []
    assert problems.count("compiled code cannot be kept in") == 1 and "No space left on device" in problems


def test_cache_folder_from_numba(copied: Copy) -> None:
    """NUMBA_CACHE_DIR is honoured where our own variable is not set."""
    own = copied.folder / "numba"
    assert copied.run(KEPLER_ENVS_CACHE_DIR=None, NUMBA_CACHE_DIR=str(own)) == [VALUE, 0]
    assert list((own / "kepler_envs").glob("toy-*/*.nbc"))


@slow
def test_code_of_old_sources_is_removed_after_a_month(warm: Copy) -> None:
    (first,) = (warm.cache / "kepler_envs").glob("toy-*")
    warm.edit("toy/constants.py", "10", "11")
    warm.run()
    recent = set((warm.cache / "kepler_envs").glob("toy-*"))
    assert len(recent) == 2 and first in recent
    month_ago = time.time() - 31 * 86400
    os.utime(first, (month_ago, month_ago))
    other = warm.cache / "kepler_envs" / "other-0123"
    other.mkdir()
    os.utime(other, (month_ago, month_ago))
    warm.run()
    assert first.exists(), "nothing new came in its place"
    warm.edit("toy/constants.py", "11", "12")
    warm.run()
    left = set((warm.cache / "kepler_envs").glob("toy-*"))
    assert first not in left and len(left) == 2 and recent - {first} < left
    assert other.exists(), "another scope's folders are not ours to remove"


# ---------------------------------------------------------------- builds


@slow
def test_bounds_checked_code_is_kept_apart(warm: Copy) -> None:
    """Neither build ever runs the other's code."""
    outside = (
        "import numpy as np, toy\n"
        "run = toy.build()\n"
        "try:\n"
        "    run(np.array([1, 2, 3])[:1], 5)\n"
        "    print(0, sum(run.stats.cache_hits.values()))\n"
        "except IndexError:\n"
        "    print(1, sum(run.stats.cache_hits.values()))\n"
    )
    assert warm.run(outside, NUMBA_BOUNDSCHECK="1") == [1, 0]
    assert warm.run(outside, NUMBA_BOUNDSCHECK="1") == [1, 1]
    assert warm.run() == [VALUE, 1]
    assert len(list((warm.cache / "kepler_envs").glob("toy-*"))) == 2


def test_uncompiled(copied: Copy) -> None:
    code = "import numpy as np, toy; run = toy.build(); print(run(np.array([1]), 0), int(hasattr(run, 'stats')))"
    assert copied.run(code, NUMBA_DISABLE_JIT="1") == [VALUE, 0]
    assert not copied.cache.exists()


# ---------------------------------------------------------------- signatures


@pytest.fixture(scope="module")
def fill() -> object:
    @kernel(
        Scope("tests_kernel", Path(__file__).parent),
        "fill",
        (array_of(np.int16, 2), array_of(np.int64, readonly=True), INT),
    )
    def fill(out, values, factor):
        for i in range(values.size):
            out[i, 0] = values[i] * factor
        return values.size

    return fill


def test_one_signature(fill: object) -> None:
    out = np.zeros((3, 2), np.int16)
    values = np.array([1, 2, 3])
    assert fill(out, values, 5) == 3 and out[:, 0].tolist() == [5, 10, 15]
    values.flags.writeable = False
    assert fill(out, values, True) == 3, "an argument that is only read may be read-only"


@pytest.mark.parametrize(
    "arguments",
    [
        (np.zeros((3, 2), np.int32), np.arange(3), 5),
        (np.zeros((3, 2), np.int16), np.arange(3.0), 5),
        (np.zeros((3, 2), np.int16), np.arange(3, dtype=np.int32), 5),
        (np.zeros(6, np.int16), np.arange(3), 5),
        (np.zeros((2, 3), np.int16).T, np.arange(3), 5),
        (np.zeros((3, 4), np.int16)[:, ::2], np.arange(3), 5),
        (np.zeros((3, 2), np.int16), np.arange(6)[::2], 5),
        (np.zeros((3, 2), np.int16), [1, 2, 3], 5),
        (np.zeros((3, 2), np.int16), np.arange(3), "5"),
        (np.zeros((3, 2), np.int16), np.arange(3)),
    ],
)
def test_another_type_or_layout_is_an_error(fill: object, arguments: tuple[object, ...]) -> None:
    """A second compilation would cost seconds and miss the cache: it is refused."""
    with pytest.raises(TypeError):
        fill(*arguments)  # type: ignore[operator]
    assert len(fill.signatures) == 1  # type: ignore[attr-defined]


def test_a_read_only_array_is_not_written(fill: object) -> None:
    out = np.zeros((3, 2), np.int16)
    out.flags.writeable = False
    with pytest.raises(TypeError):
        fill(out, np.arange(3), 5)  # type: ignore[operator]
    assert not out.any()


# ---------------------------------------------------------------- room


PAIR = np.dtype([("name", "i1"), ("number", "f8")])  # packed: numbers lie at odd places
few_pairs, many_pairs, two_words = room_for(PAIR, 3), room_for(PAIR, 1000), room_for(np.uint64, 2)


@helper
def fill_pairs(pairs, name):
    for place in range(pairs.size):
        pairs[place].name, pairs[place].number = name, 10 * name + place
    return pairs.size


@leaf
def largest_of_own(name):
    """A function that is copied into its caller, with its room."""
    pairs = few_pairs()
    fill_pairs(pairs, name)
    return pairs[2].number


def test_room_is_the_callers_own() -> None:
    """Small and large, of records and of numbers, in a loop and in a function within: none lies where another does."""

    @kernel(Scope("tests_kernel", Path(__file__).parent), "rooms", (array_of(np.float64),))
    def rooms(out):
        one, other, many, words = few_pairs(), few_pairs(), many_pairs(), two_words()
        words[0], words[1] = 7, 2**40
        out[0] = fill_pairs(one, 1) + fill_pairs(other, 2) + fill_pairs(many, 3)
        for name in range(4, 6):
            out[name] = largest_of_own(name)
        for place in range(3):
            out[1] += one[place].number * other[place].number
        out[2], out[3] = many[999].number, words[0] + words[1]
        return 0

    out = np.zeros(6)
    rooms(out)
    sizes, products = 3 + 3 + 1000, 10 * 20 + 11 * 21 + 12 * 22
    assert out.tolist() == [sizes, products, 30 + 999, 7 + 2**40, 42, 52]


def test_scopes() -> None:
    here = Path(__file__).parent
    assert Scope("a", here).digest == Scope("b", here).digest != Scope("a").digest
    assert Scope("a", here).is_current()
    names = {scope.cache_folder().name.rpartition("-")[0] for scope in (Scope("a"), Scope("b"))}
    assert names == {"a", "b"} or kernels.BOUNDSCHECK


def test_a_scope_is_of_the_sources_that_were_loaded(tmp_path) -> None:
    """Also one that is made after they were edited: the process still runs the old ones."""
    (tmp_path / "rules.py").write_text("STEP = 1\n")
    early = Scope("early", tmp_path)
    assert early.is_current()
    (tmp_path / "rules.py").write_text("STEP = 2\n")
    late = Scope("late", tmp_path)
    assert late.digest == early.digest and not late.is_current() and not early.is_current()


def test_an_edit_after_a_game_was_loaded_counts_for_its_bots_too(tmp_path) -> None:
    """Greedy, search and tournament make their scopes when they are first asked."""
    script = (
        "import pathlib, sys\n"
        "from kepler_envs.engine import code_cache\n"
        "import kepler_envs\n"
        "from kepler_envs.bots import greedy\n"
        "from kepler_envs.bots.search.searcher import playout_policy\n"
        "from kepler_envs.tournament import whole_games\n"
        "game = kepler_envs.load_game('kitten_adventurers')\n"
        "whole = code_cache._digest_of\n"
        "edited = {*game.scope.folders, greedy.FOLDER, whole_games.FOLDER}\n"
        "code_cache._digest_of = lambda folder: whole(folder) + b'edited' * (folder in edited)\n"
        "policy = greedy.greedy_policy(game)\n"
        "scopes = [policy.scope, playout_policy(game, 'greedy').scope, whole_games._scope((policy,))]\n"
        "print([scope.is_current() for scope in scopes])\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[False, False, False]"


def test_what_an_editor_keeps_beside_a_source_is_no_source(tmp_path) -> None:
    (tmp_path / "rules.py").write_text("STEP = 1\n")
    before = Scope("a", tmp_path)
    (tmp_path / ".#rules.py").symlink_to("somebody@somewhere.1:2")
    assert before.is_current()


def test_a_cache_in_a_closed_folder_is_passed_over(monkeypatch) -> None:
    def closed(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_dir", closed)
    assert list(Scope("a").kept_in()) == []


CALLING = (
    "import numpy as np, toy\n"
    "from kepler_envs.engine.kernel import INT, kernel\n"
    "from kepler_envs.engine.linking import shared\n"
    "@{kind}(toy.SCOPE, 'inner', (INT,))\n"
    "def inner(x):\n"
    "    return toy.advance(x)\n"
    "call, below = (inner.call, inner.kernel) if hasattr(inner, 'call') else (inner, inner)\n"
    "if {with_outer}:\n"
    "    @kernel(toy.SCOPE, 'outer', (INT,))\n"
    "    def outer(x):\n"
    "        return call(x) + 1\n"
    "    print(outer(1), sum(outer.stats.cache_hits.values()), sum(below.stats.cache_hits.values()))\n"
    "else:\n"
    "    print(below(1))\n"
)


@slow
def test_a_kernel_calls_a_shared_one(copied: Copy) -> None:
    """Whether either of them is compiled or comes from the cache."""
    assert copied.run(CALLING.format(kind="shared", with_outer=False)) == [12]
    assert copied.run(CALLING.format(kind="shared", with_outer=True)) == [13, 0, 1]
    assert copied.run(CALLING.format(kind="shared", with_outer=True)) == [13, 1, 1]


@slow
def test_a_kernel_that_is_not_shared_is_not_called(copied: Copy) -> None:
    copied.run(CALLING.format(kind="kernel", with_outer=False))
    _, problems = copied.start(CALLING.format(kind="kernel", with_outer=True)).communicate()
    assert "toy.inner is called by another kernel: it has to be shared" in problems
