"""Which games there are: our own, those of installed packages, those registered by hand."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import kepler_envs
from kepler_envs import registry
from kepler_envs.games.kitten_adventurers import GAME as KITTENS
from kepler_envs.registry import UnknownGame
from tests.effort import slow

OWN = ("kitten_adventurers", "kepler_run", "ad_astra", "race_to_kepler", "kepler_3042")

USE = """
import json, pickle, sys
import gymnasium
import kepler_envs
from kepler_envs import describe

assert "undertow" not in sys.modules, "a game is imported when it is asked for"
game = kepler_envs.load_game("undertow")
env = kepler_envs.make("undertow-v1", num_players=2)
env.reset(seed=1)
env.step(env.legal_actions()[0])
seat = gymnasium.make("kepler/undertow-v1", num_players=2)
seat.reset(seed=1)
print(json.dumps({
    "games": kepler_envs.list_games(),
    "file": str(describe.component_file(game)),
    "title": game.title,
    "pickle": pickle.dumps(env.config).hex(),
    "same": pickle.loads(pickle.dumps(game)) is game,
    "observation": int(seat.observation_space.shape[0]) if seat.observation_space.shape else -1,
}))
"""


def run(code: str, site: Path) -> str:
    """What a program prints in a process that finds the installed package; uncompiled, which is quicker for a few
    steps."""
    folders = os.pathsep.join([str(site), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": folders, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_ids_of_other_libraries_name_the_same_games():
    for game_id in registry.list_ids()[:5]:
        assert kepler_envs.load_game(f"kepler/{game_id}") is kepler_envs.load_game(game_id)
    with pytest.raises(KeyError, match="no game 'other/kitten_adventurers'"):
        kepler_envs.load_game("other/kitten_adventurers")


@slow
def test_an_installed_package_brings_a_game(installed):
    found = json.loads(run(USE, installed))
    assert found["games"] == [*OWN, "undertow"] and found["title"] == "Undertow" and found["same"]
    assert Path(found["file"]) == installed / "undertow" / "components.toml"
    again = run(
        f"import pickle; config = pickle.loads(bytes.fromhex('{found['pickle']}')); print(config, config.game.module)",
        installed,
    )
    assert again.strip() == "<Configuration undertow-v1, 2 players> undertow"
    listed = run("import sys; sys.argv[1:] = ['list']; from kepler_envs.cli import main; main()", installed)
    assert "undertow-v1" in listed and "Undertow" in listed


def test_our_own_games_come_first_and_are_never_replaced(tmp_path):
    """A package that names one of our games is not asked for it."""
    info = tmp_path / "rogue-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rogue\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[kepler_envs.games]\nkepler_run-v9 = nowhere:GAME\nwrong-v1 = json:loads\n")
    code = (
        "import kepler_envs\nprint(kepler_envs.list_games(), kepler_envs.load_game('kepler_run').id)\n"
        "from kepler_envs.registry import BrokenGame\n"
        "try: kepler_envs.load_game('wrong')\nexcept BrokenGame as problem: print(problem)\n"
        "import sys; sys.argv[1:] = ['show', 'wrong']\nfrom kepler_envs.cli import main\nprint('code', main())"
    )
    games, problem, code = run(code, tmp_path).splitlines()
    assert games == f"{(*OWN, 'wrong')} kepler_run-v1"
    assert problem.startswith("wrong-v1 of rogue 1.0 is not a Game of that id, but <function loads")
    assert code == "code 2"


@slow
def test_a_package_that_cannot_be_loaded_leaves_the_other_games(tmp_path):
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[kepler_envs.games]\nbroken-v1 = broken:GAME\nbare = json:loads\n")
    (tmp_path / "broken.py").write_text("import not_there\n")
    code = (
        "import warnings\nwith warnings.catch_warnings(record=True) as given:\n"
        "    warnings.simplefilter('always')\n"
        "    import sys; sys.argv[1:] = ['list']\n"
        "    from kepler_envs.cli import main\n"
        "    print('listed', main())\n"
        "    for one in given: print('warning:', one.message)\n"
        "print('shown', main(['show', 'broken']))"
    )
    said = run(code, tmp_path)
    assert all(f"{name}-v1" in said for name in OWN)
    reason = "broken-v1 of broken 1.0 cannot be loaded: ModuleNotFoundError: No module named 'not_there'"
    assert f"warning: {reason}" in said and "listed 0\n" in said and "shown 2\n" in said
    assert "warning: json:loads is not used: its id bare has no version, as in bare-v0" in said


def test_names_and_versions():
    assert kepler_envs.list_games() == OWN
    assert kepler_envs.load_game("kitten_adventurers") is kepler_envs.load_game("kitten_adventurers-v1") is KITTENS
    with pytest.raises(UnknownGame, match="^no game 'chess'; there are: kitten_adventurers, kepler_run"):
        kepler_envs.load_game("chess")
    with pytest.raises(UnknownGame, match="^no version '7' of kepler_run; there is: kepler_run-v1"):
        kepler_envs.load_game("kepler_run-v7")
    with pytest.raises(UnknownGame, match="^no version '' of kepler_run; there is: kepler_run-v1"):
        kepler_envs.load_game("kepler_run-v")
    for name in OWN:
        game = kepler_envs.load_game(name)
        assert pickle.loads(pickle.dumps(game)) is game and game.module == f"kepler_envs.games.{name}"


def test_registering_by_hand(monkeypatch):
    """A game is found by its module, so it has to be what that module exports."""
    monkeypatch.setattr(registry, "_registered", {})
    twin = replace(KITTENS, name="twin", module=__name__)
    with pytest.raises(TypeError, match=f"twin-v1 must be GAME of its module '{__name__}'"):
        kepler_envs.register(twin)
    monkeypatch.setattr(sys.modules[__name__], "GAME", twin, raising=False)
    kepler_envs.register(twin)
    assert kepler_envs.load_game("twin") is twin and kepler_envs.list_games() == (*OWN, "twin")
    kepler_envs.register(twin)  # once more changes nothing
    other = replace(twin, title="another")
    monkeypatch.setattr(sys.modules[__name__], "GAME", other)
    with pytest.raises(ValueError, match="there is another game twin-v1"):
        kepler_envs.register(other)
    with pytest.raises(TypeError, match="is not a Game"):
        kepler_envs.register("kitten_adventurers")  # type: ignore[arg-type]


@pytest.mark.parametrize("module", ["not_there", "", ".not_there"])
def test_a_game_whose_module_is_not_found_is_not_registered(module, monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    with pytest.raises(TypeError, match=f"twin-v1 must be GAME of its module '{module}', by which other processes"):
        kepler_envs.register(replace(KITTENS, name="twin", module=module))
    assert kepler_envs.list_games() == OWN
