"""Where everything stands in the vectors: sections 5 and 6.1 of the specification."""

from __future__ import annotations

import numpy as np
import pytest

from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.race_to_kepler import actions
from kepler_envs.games.race_to_kepler.state import Node
from tests.choosing import eager
from tests.effort import games_to_play
from tests.games.race_to_kepler.invariants import EAGER
from tests.games.race_to_kepler.scenario import DONE, GAME, Seat, after, scenario

OFFSETS = {
    "own_hand": 0, "own_deck": 51, "own_discard": 102, "own_play": 153, "own_bid": 204, "own_look": 255, "own_known": 306,
    "own_top": 357, "opponents.concealed": 408, "supply": 867, "airlock": 918, "crew_deck": 969, "titan_row": 1020,
    "titan_deck": 1036, "asking_card": 1052, "players.city": 1103, "offers": 1211, "energy": 1226, "departments": 1238,
    "op_used": 1242, "race": 1246, "tokens": 1252, "crossed": 1259, "node": 1266, "move_source": 1273,
    "move_destination": 1285, "move_mode": 1291, "picks_left": 1295, "origin": 1299, "options": 1307,
}  # fmt: skip


def test_pieces_stand_where_the_specification_has_them() -> None:
    layout = GAME.observation
    assert layout.size == 1308
    assert {name: layout[name].offset for name in OFFSETS} == OFFSETS
    assert layout["players.city"].strides[0] == 27 and layout["opponents.concealed"].strides[0] == 153


def test_action_ids() -> None:
    assert (actions.CITY, actions.PLAY, actions.ACQUIRE_GOLD, actions.ACQUIRE + 3) == (0, 15, 66, 67)
    assert (actions.OPERATE, actions.PICK, actions.OPTION, actions.DONE, actions.END_TURN) == (99, 103, 154, 158, 159)
    assert len(GAME.actions) == 160


@pytest.mark.parametrize("players", range(2, 5))
def test_the_vector_says_what_the_state_is(players: int) -> None:
    """Every piece against the state, read in another way than it is written; and within its bounds."""
    config, layout = GAME.configure(players), GAME.observation
    for seed in range(games_to_play(2)):
        choose, position, number = eager(seed, EAGER, 0.9), Snapshot.deal(config, seed), 0
        while not position.over:
            number += 1
            if number % 4 == 0 or position.node in (Node.BID, Node.TITAN, Node.REPLAY):
                seat = number % players
                seen = position.observe(seat)
                assert (seen >= layout.low).all() and (seen <= layout.high).all()
                _check(position, seat, {name: view.tolist() for name, view in layout.names(seen).items()})
            position = position.apply(choose(position.legal_actions()))


def _check(position: Snapshot, seat: int, seen: dict) -> None:
    state, players = position.state, position.config.num_players
    own, active = state["player"][seat], int(state["active"])
    order = [(seat + distance) % players for distance in range(players)]
    for zone in ("hand", "deck", "discard", "play", "bid"):
        assert seen[f"own_{zone}"] == own[zone].tolist()
    assert seen["own_look"] == (state["look"] if seat == active else 0 * state["look"]).tolist()
    known = (own["known_kind"][: int(own["known_size"])] - 1).tolist()
    assert seen["own_known"] == np.bincount(known, minlength=51).tolist()
    assert np.flatnonzero(seen["own_top"]).tolist() == known[-1:]
    for distance in range(1, 4):
        for zone in ("concealed", "discard", "play"):
            expected = state["player"][order[distance]][zone].tolist() if distance < players else [0] * 51
            assert seen[f"opponents.{zone}"][distance - 1] == expected
    for zone in ("supply", "airlock", "crew_deck", "titan_row", "titan_deck"):
        assert seen[zone] == state[zone].tolist()
    for name in (
        "parsecs",
        "hand_size",
        "deck_size",
        "discard_size",
        "play_size",
        "turns",
        "bid_size",
        "bid_closed",
        "present",
    ):
        assert seen[f"players.{name}"][:players] == [int(state["player"][other][name]) for other in order]
    choosing = position.node == Node.CITY
    for name, who in (("active", active), ("first", int(state["first"])), ("decides", position.seat)):
        marked = [] if choosing and name != "decides" else [order.index(who)]
        assert np.flatnonzero(seen[f"players.{name}"]).tolist() == marked, name
    for name in ("energy", "money", "market", "discount", "ejected", "discarded", "market_taken", "gold_played", "op_used",
                 "resource_played", "crew_played", "titan_played", "ops_used", "race", "gold_pile", "crossed"):  # fmt: skip
        assert seen[name] == state[name].tolist(), name
    assert seen["round"] == state["rounds"] and seen["tokens"] == state["token"].tolist()
    own_turn = seat == active and position.node in (Node.ACTION, Node.MOVE, Node.CHOICE, Node.REPLAY)
    known = own_turn or choosing
    assert seen["decisions"] == (state["decisions"] - state["decisions_before"] if known else 0)
    assert seen["node"] == [int(node == position.node) for node in range(7)]
    _check_program(position, seen)


def _check_program(position: Snapshot, seen: dict) -> None:
    state = position.state
    if not state["depth"]:
        assert not any(seen["origin"]) and not any(seen["asking_card"]) and seen["moved"] == seen["value"] == 0
        return
    frame = state["frame"][int(state["depth"]) - 1]
    instruction = position.config.tables[0]["program"][int(frame["at"])]
    assert np.flatnonzero(seen["origin"]).tolist() == [frame["origin"]]
    assert np.flatnonzero(seen["asking_card"]).tolist() == ([frame["kind"] - 1] if frame["kind"] else [])
    moving = position.node == Node.MOVE
    for name, fieldname in (("move_source", "what"), ("move_destination", "destination"), ("move_mode", "mode")):
        assert np.flatnonzero(seen[name]).tolist() == ([instruction[fieldname]] if moving else [])
    assert seen["picks_made"] == (frame["moved"] if moving else 0)
    assert seen["picks_left"] == (min(10, instruction["amount"]) - frame["moved"] if moving else 0)
    assert seen["options"] == (instruction["amount"] if position.node == Node.CHOICE else 0)


def test_a_long_move_counts_on() -> None:
    """After ten picks of "any number" nothing is said to be left."""
    position = after(
        scenario(Seat(hand="Demolition Experts, 14 Gold, Iron")), "play Demolition Experts", "choose alternative 2"
    )
    layout = GAME.observation
    for picked in range(12):
        seen = position.observe(0)
        assert layout["picks_made"].view(seen) == picked and layout["picks_left"].view(seen) == 10 - picked
        position = after(position, "pick Gold")
    assert after(position, DONE).state["energy"] == 24
