"""What holds in every position of Race to Kepler, and across every decision."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from kepler_envs.engine.game import RUNNING, TERMINATED, Configuration
from kepler_envs.games.race_to_kepler.actions import ACQUIRE_GOLD, OPERATE, PICK, PLAY
from kepler_envs.games.race_to_kepler.effects import Hook, Op
from kepler_envs.games.race_to_kepler.state import (
    FIRST_CREW,
    FIRST_TITAN,
    GOLD,
    IRON,
    KNOWN_SLOTS,
    LOOK_ZONE,
    MAFIA,
    MAX_PLAYERS,
    MOST_COUNTED,
    MOST_UNITS,
    NUM_KINDS,
    NUM_ORIGINS,
    SHOWN_SLOTS,
    STACK,
    EndReason,
    Node,
    Origin,
)

EAGER = frozenset(range(PLAY, PICK))
"""Playing, acquiring, operating: whatever is no end of the turn."""

REVEALS = ("cards.other_discard", "cards.airlock", "cards.offer", "game.energy", "players.city")
"""Where cards come to light, and cities; energy tells how much Gold is in a hand where a card counts it."""
ASKS_TELL = True  # from how many kinds a bidder or the active player chooses

PLAYTHROUGH_OPTIONS = {"max_rounds": 15}
"""Whole random games are long, and too much to read."""

ASKS = {Node.MOVE: Op.MOVE, Node.CHOICE: Op.CHOICE, Node.REPLAY: Op.REPLAY}
ENCOUNTER = (Node.BID, Node.TITAN)
ZONES = ("hand", "deck", "discard", "play", "bid")


def check_invariants(state: Any, config: Configuration) -> None:
    """AssertionError if a position breaks a rule of the game or a promise of state.py."""
    tables, players = config.tables[0], int(state["num_players"])
    assert state["num_players"] == config.num_players and state["end"] in (RUNNING, TERMINATED)
    node = Node(int(state["node"]))
    assert (node == Node.OVER) == (state["end"] != RUNNING)
    _check_cards(state, tables, players)
    _check_table(state, tables, node)
    _check_stack(state, tables, node)
    for seat in range(MAX_PLAYERS):
        if seat < players:
            _check_player(state, tables, seat, node)
        else:
            assert not state["player"][seat : seat + 1].tobytes().strip(b"\0")
    _check_turn(state, tables, players, node)
    _check_end(state, config)


def _check_cards(state: Any, tables: Any, players: int) -> None:
    """I1, I2: every card of the game is somewhere, once."""
    found = state["supply"].astype(int) + state["airlock"] + state["crew_deck"] + state["look"]
    for player in state["player"][:players]:
        for zone in ZONES:
            assert (player[zone] >= 0).all(), zone
            found += player[zone]
    found[GOLD] += state["gold_pile"]
    found[FIRST_TITAN:] += state["titan_row"] + state["titan_deck"]
    wanted = tables["card"]["copies"].astype(int)
    wanted[IRON], wanted[MAFIA] = players * tables["start_iron"], players * tables["start_mafia"]
    assert found.tolist() == wanted.tolist()
    for zone in ("supply", "airlock", "crew_deck", "look", "titan_row", "titan_deck", "gold_pile"):
        assert (state[zone] >= 0).all(), zone


def _check_table(state: Any, tables: Any, node: Node) -> None:
    crew = slice(FIRST_CREW, FIRST_TITAN)
    for zone, size in (("supply", "supply_size"), ("crew_deck", "crew_deck_size")):
        assert state[zone].sum() == state[zone][crew].sum() == state[size]
    assert state["supply_size"] <= tables["supply_size"]  # I3
    if node == Node.ACTION and state["crew_deck_size"] > 0:
        assert state["supply_size"] == tables["supply_size"]
    assert state["titan_deck"].sum() == state["titan_deck_size"]
    assert set(np.unique([*state["titan_row"], *state["titan_deck"], *state["token"], *state["crossed"]])) <= {0, 1}
    assert state["titan_row"].any() == (node in ENCOUNTER)  # I4
    assert state["race"] in (0, 1) and (state["race"] or node == Node.BID or node == Node.TITAN or state["token"].all())


def _check_stack(state: Any, tables: Any, node: Node) -> None:
    depth = int(state["depth"])
    assert 0 <= depth <= STACK and (node in ASKS) == (depth > 0)
    assert not state["frame"][depth:].tobytes().strip(b"\0")
    looking = 0
    for level, frame in enumerate(state["frame"][:depth]):
        assert 0 <= frame["at"] < tables["instructions"] and 0 <= frame["origin"] < NUM_ORIGINS
        assert (frame["kind"] == 0) == (frame["origin"] >= Origin.TRAIT) and 0 <= frame["kind"] <= NUM_KINDS
        assert frame["moved"] >= 0 and frame["value"] >= 0
        instruction = tables["program"][int(frame["at"])]
        assert frame["own"] == 0 or frame["origin"] in (Origin.ON_DISCARD, Origin.ON_EJECT, Origin.TRAIT)
        assert not frame["in_move"] or instruction["op"] == Op.MOVE
        looking += int(frame["looking"])
        if level == depth - 1:
            assert instruction["op"] == ASKS[node]
    size = int(state["look_size"])
    assert looking <= 1 and (looking or size == 0)
    assert (state["look_kind"][:size] > 0).all() and not state["look_kind"][size:LOOK_ZONE].any()
    assert Counter((state["look_kind"][:size] - 1).tolist()) == _counter(state["look"])


def _counter(zone: np.ndarray) -> Counter[int]:
    return Counter({kind: int(zone[kind]) for kind in np.flatnonzero(zone)})


def _check_player(state: Any, tables: Any, seat: int, node: Node) -> None:
    player = state["player"][seat]
    active, choosing = seat == state["active"] and node != Node.CITY, node == Node.CITY
    assert player["present"] == 1 and player["parsecs"] >= 0
    for zone in ("hand", "deck", "discard", "play", "bid"):
        assert player[zone].sum() == player[f"{zone}_size"], zone
    looked_at = state["look"] if active else 0
    assert (player["concealed"] == player["hand"] + player["deck"] + player["bid"] + looked_at).all()
    if not active:  # I4
        assert player["play_size"] == 0
    size = int(player["known_size"])
    assert 0 <= size <= KNOWN_SLOTS and not player["known_kind"][size:].any()
    assert Counter((player["known_kind"][:size] - 1).tolist()) <= _counter(player["deck"])
    _check_seen(player, size)
    _check_estimates(state, tables, player, looked_at)
    _check_city(state, tables, player, seat, choosing)
    _check_bid(state, player, seat, node)


def _check_seen(player: Any, known: int) -> None:
    """What everybody knows of single cards is so."""
    assert int(player["known_open"]) < 1 << known
    size = int(player["shown_size"])
    assert (
        0 <= size <= SHOWN_SLOTS and (player["shown_kind"][:size] > 0).all() and not player["shown_kind"][size:].any()
    )
    assert Counter((player["shown_kind"][:size] - 1).tolist()) <= _counter(player["hand"] + player["bid"])


def _check_estimates(state: Any, tables: Any, player: Any, looked_at: Any) -> None:
    """What is kept ready for observations."""
    owned = player["hand"].astype(int) + player["deck"] + player["discard"] + player["play"] + player["bid"] + looked_at
    worth, cards = int(owned @ tables["card"]["worth"].astype(int)), int(owned.sum())
    assert (player["worth"], player["cards"], player["average"]) == (worth, cards, worth // max(1, cards))
    parsecs = int(player["parsecs"])
    spaces = tables["token_space"][state["token"] > 0]
    assert player["to_kepler"] == tables["track_length"] - parsecs
    assert player["to_token"] == min((int(space) - parsecs for space in spaces if space > parsecs), default=0)


def _check_city(state: Any, tables: Any, player: Any, seat: int, choosing: bool) -> None:
    city, offers = int(player["city"]), int(player["offers"])
    if choosing:
        assert offers.bit_count() == tables["cities_dealt"] and player["open_city"] == 0 and player["hand_size"] == 0
        assert (city > 0) == (seat < state["seat"]) and (city == 0 or offers >> city - 1 & 1)
    else:
        assert offers == 0 and city > 0 and player["open_city"] == city
    assert city == 0 or int(tables["cities"]) >> city - 1 & 1


def _check_bid(state: Any, player: Any, seat: int, node: Node) -> None:
    if node != Node.BID:
        assert player["bid_size"] == player["bid_closed"] == player["bid_place"] == 0
        return
    bidding = seat == state["seat"]
    assert (player["bid_place"] > 0) == bool(bidding or player["bid_closed"])
    assert player["bid_place"] > 0 or player["bid_size"] == 0
    assert not (bidding and player["bid_closed"])
    if bidding:
        assert state["last_bid"] == max((kind + 1 for kind in np.flatnonzero(player["bid"])), default=0)
        assert state["last_bidder"] == seat + 1


def _check_turn(state: Any, tables: Any, players: int, node: Node) -> None:
    for name in ("energy", "money", "market", "discount"):
        assert 0 <= state[name] <= MOST_UNITS
    for name in ("ejected", "discarded", "market_taken", "gold_played", "crew_played", "titan_played", "ops_used"):
        assert 0 <= state[name] <= MOST_COUNTED
    assert 0 <= state["gold_played"] <= state["resource_played"]
    assert 0 <= state["decisions_before"] <= state["decisions"]
    assert 0 <= state["rounds"] <= state["max_rounds"] and state["chosen"] <= players
    cities = [int(player["city"]) for player in state["player"][:players] if player["city"]]
    assert len(set(cities)) == len(cities) == state["chosen"]
    if node in (Node.ACTION, *ASKS):
        assert state["seat"] == state["active"]
        assert state["op_used"].sum() <= state["ops_used"]
        if tables["city"][int(state["player"][int(state["active"])]["city"]) - 1]["hook"] != Hook.REPEAT_OPS:
            assert state["op_used"].sum() == state["ops_used"]
    if node in ENCOUNTER:
        assert state["energy"] == state["money"] == state["market"] == state["discount"] == 0
    if node != Node.CITY and state["end"] == RUNNING:
        for place in range(players):  # the turns taken in this round, the active player's once it is cleaned up
            seat = (int(state["first"]) + place) % players
            done = (int(state["active"]) - int(state["first"])) % players + (node in ENCOUNTER)
            assert state["player"][seat]["turns"] == state["rounds"] + (place < done)
    if node != Node.BID:
        assert state["last_bid"] == state["last_bidder"] == 0


def _check_end(state: Any, config: Configuration) -> None:
    reason = EndReason(int(state["end_reason"]))
    assert (reason == EndReason.RUNNING) == (state["end"] == RUNNING)
    arrived = np.flatnonzero(state["player"]["parsecs"] >= config.tables[0]["track_length"]).tolist()
    assert arrived == ([int(state["winner"]) - 1] if state["winner"] else [])
    assert bool(state["winner"]) == (reason == EndReason.KEPLER)
    assert (reason == EndReason.ROUNDS) == (state["rounds"] == state["max_rounds"])


def check_decision(before: Any, action: int, after: Any, config: Configuration) -> None:
    """I5, I6 and what else only goes one way; what one decision can change at all."""
    assert after["decisions"] == before["decisions"] + 1
    assert (after["player"]["parsecs"] >= before["player"]["parsecs"]).all()
    assert (after["token"] <= before["token"]).all() and after["race"] >= before["race"]
    assert after["rounds"] >= before["rounds"] and after["gold_pile"] <= before["gold_pile"]
    assert after["crew_deck_size"] <= before["crew_deck_size"]
    assert before["token"].sum() - after["token"].sum() <= int(before["num_players"]) + 1
    if before["node"] == Node.ACTION and after["node"] == Node.ACTION:
        _check_action(before, action, after, config)


def _check_action(before: Any, action: int, after: Any, config: Configuration) -> None:
    """What cards without further effects and operations do, unless the turn has ended behind them."""
    active = int(before["active"])
    player, was = after["player"][active], before["player"][active]
    if after["active"] != active or player["turns"] != was["turns"]:
        return
    if action in (PLAY + IRON, PLAY + GOLD) and config.components is None:
        kind = action - PLAY
        assert player["play"][kind] == was["play"][kind] + 1 and player["hand"][kind] == was["hand"][kind] - 1
        assert after["money"] - before["money"] == kind + 1
    if OPERATE <= action < PICK:
        assert after["ops_used"] == before["ops_used"] + 1
    if ACQUIRE_GOLD <= action < OPERATE:
        assert after["market_taken"] == before["market_taken"] + 1 and after["money"] <= before["money"]
