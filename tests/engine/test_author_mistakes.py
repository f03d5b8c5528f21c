"""What authors of games get wrong, and what they are told."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kepler_envs
from kepler_envs.bots.protocol import BotError
from kepler_envs.bots.search import MctsConfig, search
from kepler_envs.engine.actions import ActionSet, Block, axes
from kepler_envs.engine.game import make_game

PLAIN = kepler_envs.load_game("kitten_adventurers")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"default_players": 9}, "kitten_adventurers: default_players = 9 is not allowed; allowed: an integer 2..8"),
        ({"always_offered": (70,)}, "a node of always_offered = 70 is not allowed; allowed: an integer 0..62"),
    ],
)
def test_what_a_game_says_of_itself(changes, message):
    with pytest.raises(ValueError, match=message):
        replace(PLAIN, **changes)


def test_what_its_functions_return():
    with pytest.raises(TypeError, match=r"v1: resolve_options must return an array \(1,\) of OPTIONS"):
        replace(PLAIN, resolve_options=lambda *_: np.zeros(1, PLAIN.options)[0]).configure(2)
    with pytest.raises(TypeError, match="kitten_adventurers-v1: info must return a dict, not None"):
        replace(PLAIN, info=lambda *_: None).configure(2).blank_info()


def test_fields_are_numbers():
    fields = [(name, PLAIN.state[name]) for name in PLAIN.state.names]
    with pytest.raises(TypeError, match="fields of the state hold Python objects; allowed: numbers"):
        replace(PLAIN, state=np.dtype([*fields, ("notes", "O")]))


def test_a_node_has_a_name():
    position = kepler_envs.Snapshot.deal(PLAIN.configure(2), 1)
    position.states["node"] = 60
    with pytest.raises(ValueError, match=r"kitten_adventurers-v1: the state's node is 60; Node has 0 \w+, 1 \w+"):
        repr(position)


def test_sources_are_there(tmp_path):
    modules = dict.fromkeys(("state", "components", "actions", "setup", "rules", "observation", "picture"))
    with pytest.raises(ValueError, match=r"mine: there is no .*nowhere, which is one of the sources"):
        make_game(
            "package.mine", title="Mine", version=0, default_players=2, max_decisions=9, option_list=(),
            resolve_options=None, info=None, sources=(tmp_path / "nowhere",), **modules,
        )  # fmt: skip


def test_actions_are_about_tables_that_there_are():
    wrong = ActionSet([Block("PLAY", 0, 2, "play {}", ("a", "b"), axes(("card", "cardz", 2)))])
    with pytest.raises(ValueError, match="kitten_adventurers-v1: block PLAY, card: .*cardz"):
        replace(PLAIN, make_actions=lambda _: wrong).configure(2)


@pytest.mark.parametrize(("text", "labels"), [("play a {} of {}", ("a", "b")), ("play", ("a", "b")), ("play {}", ())])
def test_a_text_has_one_place_for_its_label(text, labels):
    with pytest.raises(ValueError, match="block PLAY: .* must have one {} with labels, none without"):
        ActionSet([Block("PLAY", 0, len(labels) or 1, text, labels)])


def test_a_search_takes_eight_players_at_most():
    position = kepler_envs.Snapshot.deal(PLAIN.configure(2), 1)
    crowd = PLAIN.configure(8)
    crowd.num_players = 9
    object.__setattr__(position, "config", crowd)
    with pytest.raises(BotError, match="mcts: .*-v1, 9 players are not allowed; allowed: up to 8 players"):
        search(position, MctsConfig(iterations=2))


RULES = """
import numpy as np
from kepler_envs.engine.code_cache import Scope, digest_when_loaded
from kepler_envs.engine.kernel import array_of, kernel
from pathlib import Path
import elsewhere

KIND = np.dtype([("cards", "<i4")])
SCOPE = Scope("mine", Path(__file__).parent, *elsewhere.SOURCES)

@kernel(SCOPE, "{name}", (array_of(KIND),))
def turn(states):
    {line}
"""
HELPER = """
from pathlib import Path
from kepler_envs.engine.kernel import leaf

SOURCES = {sources}

@leaf
def one():
    return 1
"""


def compiled(folder: Path, line: str, sources: str = "()") -> str:
    """What goes wrong when a package of one kernel is imported; nothing if all is well."""
    (folder / "mine").mkdir(exist_ok=True)
    (folder / "mine" / "__init__.py").write_text(RULES.format(line=line, name=f"turn{abs(hash(line))}"))
    (folder / "elsewhere.py").write_text(HELPER.format(sources=sources))
    code = textwrap.dedent("""
        import traceback
        try:
            import mine
        except Exception:
            traceback.print_exc(file=__import__("sys").stdout)
    """)
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
             "KEPLER_ENVS_CACHE_DIR": str(folder / "cache")},
    )  # fmt: skip
    return done.stdout


def test_a_field_that_is_not_there(tmp_path):
    """numba's error does not name the author's file."""
    said = compiled(tmp_path, "states[0].cardz += 1")
    assert "KeyError: 'cardz'" in said and "mine.turn" in said
    assert "names a field that a record does not have. Run the same with NUMBA_DISABLE_JIT=1" in said


def test_rules_from_elsewhere_are_refused_unless_they_are_sources(tmp_path):
    """Compiled code would go on running what they were."""
    line = "states[0].cards += elsewhere.one()"
    said = compiled(tmp_path, line)
    assert f"mine calls one of {tmp_path / 'elsewhere.py'}, which is not among its sources" in said
    assert compiled(tmp_path, line, sources="(Path(__file__),)") == ""
