"""The pages: generated parts are up to date, and links lead somewhere."""

from __future__ import annotations

import ast
import pkgutil
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import kepler_envs
from docs import build
from kepler_envs import describe
from kepler_envs.engine.kernel import JIT_ENABLED
from kepler_envs.tournament.strength import read_lines
from tests import links

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(not JIT_ENABLED, reason="plays thousands of games")
@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_generated_parts_of_a_game_are_fresh(name):
    check_fresh(build.build_game(name))


@pytest.mark.skipif(not JIT_ENABLED, reason="plays hundreds of games")
def test_other_generated_parts_are_fresh():
    check_fresh(build.build_others())


def check_fresh(contents: dict[Path, str]) -> None:
    stale = build.stale(contents)
    assert not stale, f"run make docs-tables: {[str(path.relative_to(ROOT)) for path in stale]}"


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_a_game_s_page_has_every_generated_part_once(name):
    text = (ROOT / "docs" / "games" / f"{name}.md").read_text()
    assert sorted(match["name"] for match in build.PART.finditer(text)) == sorted(build.sections_of(name))
    assert text.count("<!-- generated:") == text.count("<!-- end -->") == len(build.sections_of(name))


def test_a_stale_part_is_found_and_written_anew(tmp_path):
    game = kepler_envs.load_game(kepler_envs.list_games()[0])
    page = "before\n\n<!-- generated: actions -->\nold\n<!-- end -->\n\nafter\n"
    fresh = build.build_page(game, page)
    assert fresh.startswith("before\n") and fresh.endswith("after\n") and "old" not in fresh
    assert build.build_page(game, fresh) == fresh
    path = tmp_path / "page.md"
    assert build.stale({path: fresh}) == [path]  # not there
    path.write_text(page)
    assert build.stale({path: fresh}) == [path]
    path.write_text(fresh)
    assert build.stale({path: fresh}) == []


def test_a_check_writes_nothing_and_fails_while_a_page_is_stale(tmp_path, monkeypatch):
    page = tmp_path / "docs" / "page.md"
    monkeypatch.setattr(build, "DOCS", page.parent)
    monkeypatch.setattr(build, "build_others", lambda: {page: "fresh"})
    monkeypatch.setattr(build, "build_game", lambda name: {})
    assert build.main(["--check"]) == 1 and not page.exists()
    assert build.main([]) == 0 and page.read_text() == "fresh"
    assert build.main(["--check"]) == 0


def test_a_part_without_its_end_is_an_error():
    """It would reach to the end of the next one, and what stands between them would be gone."""
    page = "<!-- generated: one -->\nold\n\nby hand\n\n<!-- generated: two -->\nold\n<!-- end -->\n"
    with pytest.raises(ValueError, match="'one' has no <!-- end -->"):
        build.write_parts(page, str.upper)
    with pytest.raises(ValueError, match="'two' has no <!-- end -->"):
        build.write_parts(page.replace("by hand", "<!-- end -->").replace("old\n<!-- end -->", "old"), str.upper)


def test_an_unknown_part_is_an_error():
    with pytest.raises(KeyError, match="nonsense"):
        build.build_page(
            kepler_envs.load_game(kepler_envs.list_games()[0]), "<!-- generated: nonsense -->\n<!-- end -->\n"
        )


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_a_ladder_has_measured_bots_only_and_ends_with_an_equal_share(name):
    game = kepler_envs.load_game(name)
    head, _, *rows = build.ladder(game).splitlines()
    assert f"{game.default_players} players" in head
    bots = [row.split(" | ")[0].removeprefix("| ") for row in rows]
    assert bots[0] == "`uniform`" and "`greedy`" in bots and bots[-1] == "an equal share"
    assert len(bots) <= len(build.LEADERBOARD_AGENTS) + 1 and any(bot.startswith("`best` (") for bot in bots)
    assert all(re.search(r"\| [\d.]+ % \| [\d.]+ \.\. [\d.]+ \| [\d,]+ \|$", row) for row in rows[:-1])


@pytest.mark.parametrize(
    "part", [build.leaderboard, build.searches, lambda: build.strength(kepler_envs.load_game("kepler_run"))]
)
def test_tables_of_wins_have_a_dash_where_nothing_was_measured(part):
    table = part()
    assert "|  |" not in table
    assert ("| - |" in table) == table.endswith("\n\nA dash: not measured.")


def test_the_published_strengths_are_of_games_as_they_come():
    """The tables do not tell options and cards."""
    lines = read_lines(build.RECORD)
    assert lines and all((line.options, line.components) == ("", "") for line in lines)


def test_tables_are_pipe_tables():
    assert (
        build.markdown_table(("a", "b"), [(1, "x|y"), (2, "")]) == "| a | b |\n| --: | --- |\n| 1 | x\\|y |\n| 2 |  |"
    )


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_tables_cover_the_game(name):
    game = kepler_envs.load_game(name)
    assert [row.name for row in describe.piece_rows(game.observation)] == list(game.observation.pieces)
    assert [row.name for row in describe.fixed_rows(game.observation)] == [
        field.name for table in game.observation.fixed.values() for field in table.fields
    ]
    assert [row.name for row in describe.action_rows(game.actions)] == [block.name for block in game.actions.blocks]
    assert [row.name for row in describe.option_rows(game)] == [
        "num_players", *(option.name for option in game.option_list), "components",
    ]  # fmt: skip
    assert [row.value for row in describe.node_rows(game)] == [int(node) for node in game.nodes]
    tags = {row.what for row in describe.provenance_rows(game)}
    for table in describe.component_tables(game):
        for provenance in (row[table.columns.index("prov")] for row in table.rows):
            assert set(re.findall(r"\b[A-Z]\b", provenance)) <= tags and provenance


@pytest.mark.parametrize("name", kepler_envs.list_games())
def test_the_places_of_pieces_are_those_of_their_entries(name):
    """``468+1i+51j``: i is the row, j the place in it; without j, the entries of a row lie side by side."""
    layout = kepler_envs.load_game(name).observation
    for row in describe.piece_rows(layout):
        first, i, j = re.fullmatch(r"(\d+)(?:\+(\d+)i)?(?:\+(\d+)j)?", row.where).groups()
        indices = layout[row.name].indices()
        rows, places = np.indices((len(indices), indices[0].size))
        told = int(first) + int(i or 0) * rows + int(j or 1) * places
        np.testing.assert_array_equal(told.reshape(indices.shape), indices, row.name)


@pytest.mark.parametrize("page", links.pages(ROOT), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert list(links.broken(page)) == []


@pytest.mark.parametrize("page", links.pages(ROOT), ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_links_to_itself_through_what_it_includes(page):
    assert page not in list(links.included(page))


def test_links_of_included_parts_are_found():
    assert ROOT / "docs" / "games" / "ad_astra.md" in list(links.included(ROOT / "docs" / "index.md"))


def test_every_extra_for_users_is_in_the_table():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    table = (ROOT / "docs" / "index.md").read_text().partition("| extra |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE)))
    assert sorted(named) == sorted(set(extras) - {"dev", "docs"})


def written_in(module: str) -> set[str]:
    """The names at the top of a module, read and not imported: adapters import other libraries, which takes seconds."""
    path = ROOT / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    nodes = ast.parse(file.read_text(encoding="utf-8")).body
    imported = {name.name for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names}
    return imported | {node.name for node in nodes if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def test_the_reference_has_every_public_name_and_none_that_is_gone():
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "api").glob("*.md"))
    listed = re.findall(r"^\.\. auto(?:class|exception|function):: (\S+)$", pages, re.MULTILINE)
    for name in listed:
        module, _, own = name.rpartition(".")
        if ".adapters." in name:
            assert own in written_in(module), name
        else:
            assert pkgutil.resolve_name(name) is not None, name
    assert set(kepler_envs.__all__) <= {name.rpartition(".")[2] for name in listed}
