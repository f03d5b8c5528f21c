"""Every choice of greedy can be read off the observation: what it compares is there, in the rows its actions point
at."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from kepler_envs import bots
from kepler_envs.engine.batch import Batch
from kepler_envs.games.ad_astra.state import Node
from tests.games.ad_astra.scenario import ACCEPT, GAME, PASS, at, bank, plan, resource

SCORING, MOVEMENT = 8, 3
GAMES = 4
FIRST_ARTIFACT = 383


def read(node: Node, seen: dict[str, Any], mask: np.ndarray) -> int | None:
    """Greedy's choice by the observation; None at nodes where it compares nothing."""

    def game(name: str) -> int:
        return int(seen[f"game.{name}"][0])

    def best(ids: range, worth: np.ndarray) -> int:
        return int(ids[0] + np.where(mask[ids] > 0, worth, -9999).argmax())

    match node:
        case Node.PLAN:
            card = game("best_card") - 1
            space = "first_empty" if card < MOVEMENT else "late_empty" if card < SCORING else "last_empty"
            return plan(card, game(space))
        case Node.PRODUCE:
            return best(range(167, 173), seen["resources.scarce_worth"])
        case Node.MOVE:
            ship, system = game("best_starship"), game("best_system")
            return 173 + 9 * (ship - 1) + system - 1 if ship else PASS
        case Node.LAND | Node.BUILD_POS:
            return at(game("best_position") - 1)
        case Node.BUILD:
            return best(range(270, 278), seen["items.worth"]) if mask[270:278].any() else PASS
        case Node.TRADE:
            spare = game("spare")
            return bank(spare - 1) if game("missing") and spare and mask[bank(spare - 1)] else PASS
        case Node.BANK_GET | Node.ART_RES:
            return resource(game("least_held") - 1)
        case Node.REPLY:
            fair = game("offer_gain") == 0 and game("offer_balance") > 1
            return ACCEPT if game("offer_gain") > 0 or fair else PASS
        case Node.ELEMENT:
            first, second = seen["choices.worth"]
            return 300 + int(second > first)
        case Node.IDENT:
            return resource(game("most_held") - 1) if game("identical") >= 3 or not mask[PASS] else PASS
        case Node.DISCARD:
            return resource(game("most_held") - 1)
    return None


def test_choices_of_greedy_can_be_read_off_the_observation() -> None:
    """In its own games, with some random decisions in between, so that all nodes come."""
    config = GAME.configure(4)
    batch, rows = Batch(config, GAMES, seed=5), np.arange(GAMES)
    bot, random = bots.load("greedy", config), np.random.default_rng(0)
    bot.start(rows, rows.astype(np.uint64))
    found: Counter[Node] = Counter()
    for _ in range(250):
        chosen = bot.act(bots.protocol.TrustedDecisions(batch, rows))
        for row in rows:
            node = Node(int(batch.states[row]["node"]))
            expected = read(node, config.observation.names(batch.observation[row]), batch.action_mask[row])
            if expected is not None and chosen[row] < FIRST_ARTIFACT:
                assert chosen[row] == expected, f"{node.name}: {config.actions.text(int(chosen[row]))}"
                found[node] += 1
        batch.step(np.where(random.random(GAMES) < 0.3, batch.uniform(), chosen))
    assert {Node.PLAN, Node.PRODUCE, Node.MOVE, Node.LAND, Node.BUILD, Node.ELEMENT, Node.IDENT, Node.REPLY} <= set(
        found
    )
