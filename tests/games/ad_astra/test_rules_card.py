"""Whether the rules card of Ad Astra says what the component file and the options say."""

from __future__ import annotations

import re
from itertools import combinations

from kepler_envs.engine.components import names
from kepler_envs.games.ad_astra.state import COLONIES_FACTORIES
from kepler_envs.rules import blocks, rules_text, table_rows
from tests.games.ad_astra.scenario import GAME
from tests.scenario import members


def table(head: str) -> list[list[str]]:
    """The rows of the table of the card that begins with this head, without the head itself."""
    [lines] = [lines for lines in blocks(rules_text(GAME)) if lines[0].startswith(f"| {head} |")]
    return table_rows(lines)[1:]


def test_what_is_on_scoring_cards() -> None:
    """Elements by their names in the list of moves, card by card, and what each of them brings."""
    tables = GAME.configure().tables[0]
    elements, points = names(tables["element_name"]), tables["element_points"].tolist()
    cells = [cell.split(": ") for _, *couple in table("card") for cell in couple]
    assert [name for name, _ in cells] == [elements[element] for element in tables["element"].flat]
    brought = [[number] for number in points]
    brought[COLONIES_FACTORIES].append(int(tables["factory_points"]))
    told = [[int(number) for number in re.findall(r"\d+", words)] for _, words in cells]
    assert told == [brought[element] for element in tables["element"].flat]


def test_what_the_cards_of_a_faction_reach() -> None:
    """Movement cards show six different stars, production cards every resource once, and no two factions are alike."""
    tables = GAME.configure().tables[0]
    couples = [set(map(int, faction["production"])) for faction in tables["faction"]]
    assert all(one.isdisjoint(other) for one, other in combinations(couples, 2))
    for faction in tables["faction"]:
        reached, produced = (
            [choice for couple in faction[kind] for choice in members(couple)] for kind in ("movement", "production")
        )
        assert len(set(reached)) == 6 == len(reached) and sorted(produced) == [0, 1, 2, 3, 4, 5]
    assert "your movement cards six of the eight stars" in " ".join(rules_text(GAME).split())
