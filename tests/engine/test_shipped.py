"""Compiled code that comes with the package: used where it fits, and a reason where it does not."""

from __future__ import annotations

import json

import pytest

from kepler_envs.engine import shipped
from kepler_envs.engine.kernel import JIT_ENABLED
from tests.effort import only_deep, slow
from tests.engine.toy_package import MAIN, VALUE, Copy

pytestmark = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")

LOGGING = "import logging; logging.basicConfig(level=logging.INFO, format='%(levelname)s %(name)s %(message)s')\n"
OTHER_NUMBA = "import numba; numba.__version__ = '0.68.99'\n"
OTHER_LLVMLITE = "import llvmlite; llvmlite.__version__ = '0.50.99'\n"
LESSER_PROCESSOR = (
    "import llvmlite.binding as llvm\n"
    "whole = llvm.get_host_cpu_features\n"
    "def fewer():\n"
    "    features = whole()\n"
    "    features.update({'avx2': False, 'fma': False})\n"
    "    return features\n"
    "llvm.get_host_cpu_features = fewer\n"
)


@pytest.fixture
def with_code(copied: Copy) -> Copy:
    """A package that brings its compiled code, and an empty cache."""
    copied.ship()
    return copied


def test_it_is_used_and_nothing_else_is_written(with_code: Copy) -> None:
    assert with_code.run() == [VALUE, 1]
    assert not list(with_code.cache.iterdir())


@slow
@pytest.mark.parametrize(
    "first, edit, reason",
    [
        ("", True, "the sources of toy are not those it was made from"),
        (OTHER_NUMBA, False, "it was made with numba {numba}, and here is 0.68.99"),
        pytest.param(
            OTHER_LLVMLITE, False, "it was made with llvmlite {llvmlite}, and here is 0.50.99", marks=only_deep
        ),
        (LESSER_PROCESSOR, False, "this processor lacks avx2, fma"),
    ],
    ids=["sources", "numba", "llvmlite", "processor"],
)
def test_anything_else_compiles_and_says_why_once(with_code: Copy, first: str, edit: bool, reason: str) -> None:
    value = VALUE
    if edit:
        with_code.edit("toy/constants.py", "10", "11")
        value += 1
    out, told = with_code.start(first + LOGGING + "import toy; toy.build()\n" + MAIN.format(at=0)).communicate()
    assert out.split() == [str(value), "1"], told  # the second time from the cache
    why = reason.format(**shipped.versions())
    said = (
        f"INFO kepler_envs the compiled code that came with kepler_envs is not used: {why}; "
        "what is needed is compiled here"
    )
    assert [line for line in told.splitlines() if "kepler_envs" in line] == [said]
    assert with_code.run(first + MAIN.format(at=0)) == [value, 1]


@slow
def test_another_python(with_code: Copy) -> None:
    made_with = with_code.folder / "kepler_envs" / "_compiled" / shipped.MADE_WITH
    made_with.write_text(json.dumps({**shipped.versions(), "Python": "3.9"}))
    out, told = with_code.start(LOGGING + MAIN.format(at=0)).communicate()
    assert out.split() == [str(VALUE), "0"] and "it was made with Python 3.9, and here is 3." in told


def test_damaged_code_is_not_loaded(with_code: Copy) -> None:
    (file,) = (with_code.folder / "kepler_envs" / "_compiled").glob("*/*.nbc")
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 1
    file.write_bytes(whole)
    out, told = with_code.start().communicate()
    assert out.split() == [str(VALUE), "0"] and told.count("is damaged; it is not loaded but compiled again") == 1
    assert with_code.run() == [VALUE, 1]
    assert file.read_bytes() == whole, "the package is left as it is"


@slow
def test_what_is_not_in_it_is_compiled_silently(with_code: Copy) -> None:
    """A game of one's own, or another kernel: there is nothing to explain."""
    code = (
        "from pathlib import Path\n"
        "import numpy as np, toy\n"
        "from kepler_envs.engine.code_cache import Scope\n"
        "toy.SCOPE = Scope('own', Path(toy.__file__).parent)\n"
    )
    out, told = with_code.start(LOGGING + code + MAIN.format(at=0)).communicate()
    assert out.split() == [str(VALUE), "0"] and "kepler_envs" not in told


@slow
def test_own_code_goes_first(with_code: Copy) -> None:
    """What was compiled for this very processor is preferred from then on."""
    native = (
        "import numpy as np, toy\n"
        "from kepler_envs.engine.code_cache import without_shipped\n"
        "with without_shipped():\n"
        "    run = toy.build()\n"
        "print(run(np.array([1]), 0), sum(run.stats.cache_hits.values()))\n"
    )
    assert with_code.run(native) == [VALUE, 0]
    (file,) = (with_code.folder / "kepler_envs" / "_compiled").glob("*/*.nbc")
    file.write_bytes(b"damaged")  # would be told if it were read
    out, told = with_code.start().communicate()
    assert out.split() == [str(VALUE), "1"] and not told


@slow
def test_bounds_checked_builds_do_not_use_it(with_code: Copy) -> None:
    assert with_code.run(NUMBA_BOUNDSCHECK="1") == [VALUE, 0]


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"Python": "3.11"}', "\udcff"])
def test_damaged_words_on_what_it_was_made_with_are_as_none(tmp_path, monkeypatch, text) -> None:
    """Everything is compiled, as without the file."""
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    (tmp_path / shipped.MADE_WITH).write_bytes(text.encode(errors="surrogateescape"))
    assert shipped._made_with.__wrapped__() is None


def test_it_is_said_what_it_was_made_with(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    assert shipped._made_with.__wrapped__() is None
    (tmp_path / shipped.MADE_WITH).write_text(json.dumps(shipped.versions()))
    assert shipped._made_with.__wrapped__() == shipped.versions()


def test_it_asks_for_no_more_than_its_processor_has() -> None:
    assert "+avx2" in shipped.FLAGS and "avx512" not in shipped.FLAGS and "sse4a" not in shipped.FLAGS
    assert shipped.FLAGS.count("+") == len(set(shipped.CPU_FEATURES))
