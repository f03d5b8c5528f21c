"""The test vectors of the specification, each by its number."""

from __future__ import annotations

import pytest

from kepler_envs import KeplerEnv
from kepler_envs.engine.game import TERMINATED
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.race_to_kepler.state import EndReason, Node
from tests.games.race_to_kepler.scenario import (
    DONE,
    END,
    GAME,
    OP_1,
    OP_2,
    OP_3,
    OP_4,
    OPT_1,
    OPT_2,
    Seat,
    after,
    cards,
    legal,
    numbers,
    parsecs,
    scenario,
    tokens,
    top_cards,
)


@pytest.mark.parametrize(("players", "gold", "total"), [(2, 26, 126), (3, 24, 134), (4, 22, 142)])
def test_1_setup(players: int, gold: int, total: int) -> None:
    state = Snapshot.deal(GAME.configure(players), 1).state
    assert (state["gold_pile"], state["crew_deck_size"], state["supply_size"]) == (gold, 59, 5)
    zones = state["player"]["concealed"].sum() + state["supply"].sum() + state["crew_deck"].sum()
    assert zones + state["gold_pile"] + state["titan_deck"].sum() == total
    assert state["crew_deck"].sum() == 59 and state["supply"].sum() == 5


def test_2_launch() -> None:
    start = scenario(
        Seat(hand="3 Iron, Gold, Mafia", deck="4 Iron, Gold"), Seat(), supply="Astronomer, Extractor", race=0
    )
    played = after(start, "play Iron", "play Iron", "play Iron", "play Gold")
    assert numbers(played, "money") == (5,)
    bought = after(played, "acquire Astronomer")
    assert numbers(bought, "money", "market") == (3, 0)
    assert cards(bought, "discard") == "Astronomer"
    assert not any(text.startswith("acquire") for text in legal(bought))
    ended = after(bought, END)
    player = ended.state["player"][0]
    assert (player["discard_size"], player["hand_size"], player["deck_size"]) == (6, 5, 0)
    assert ended.seat == 0 and ended.state["player"][1]["turns"] == 1  # the other turn passed unasked


def test_3_reshuffle() -> None:
    ended = after(scenario(Seat(hand="2 Iron", deck="2 Iron", discard="Gold, 6 Iron")), END)
    player = ended.state["player"][0]
    assert (player["hand_size"], player["deck_size"], player["discard_size"]) == (5, 6, 0)
    assert (player["hand"] + player["deck"]).tolist()[:2] == [10, 1]
    assert player["hand"][0] >= 4  # two Iron for certain, then three of nine


def test_4_race() -> None:
    start = scenario(Seat(hand="2 Gold"), supply="Energeticist")
    bought = after(start, "play Gold", "play Gold", "acquire Energeticist")
    assert cards(bought, "hand") == "Energeticist" and numbers(bought, "money") == (0,)
    assert numbers(after(bought, "play Energeticist", OPT_2), "energy") == (1,)


def test_5_triggers_on_ejecting() -> None:
    start = scenario(Seat("Tokyo", hand="Astronomer, Unknown Substance, Iron", deck="Gold"))
    position = after(start, "play Astronomer", "pick Unknown Substance")
    assert numbers(position, "energy", "ejected") == (4, 1)
    assert cards(position, "hand") == "Iron, Gold" and cards(position, "airlock", None) == "Unknown Substance"


def test_6_all_or_nothing() -> None:
    position = after(scenario(Seat(hand="Teleporter, Iron")), "play Teleporter")
    assert position.node == Node.ACTION and numbers(position, "energy") == (1,)
    assert cards(position, "hand") == "Iron"


@pytest.mark.parametrize(("city", "energy"), [("Istanbul", 4), ("Tokyo", 5)])
def test_7_physicist(city: str, energy: int) -> None:
    asked = after(scenario(Seat(city, hand="Physicist, Iron", top="Gold")), "play Physicist")
    ejected = after(asked, OPT_1)
    assert cards(ejected, "airlock", None) == "Gold" and numbers(ejected, "energy") == (energy,)
    taken = after(asked, OPT_2)
    assert cards(taken, "hand") == "Iron, Gold" and numbers(taken, "energy") == (1,)


def test_8_bio_engineer() -> None:
    start = scenario(Seat(hand="Bio Engineer", top="Iron, Fencing, Gold"))
    position = after(start, "play Bio Engineer", "pick Gold", "pick Fencing", OPT_1)
    assert numbers(position, "money", "ejected", "discarded") == (2, 1, 1)
    assert (cards(position, "hand"), cards(position, "discard")) == ("Gold", "Iron")
    assert position.state["look_size"] == 0


def test_9_amplify_comes_back() -> None:
    start = scenario(Seat(hand="Machinist, Amplify, Iron", deck="2 Iron"))
    position = after(start, "play Machinist", "pick Amplify")
    assert numbers(position, "energy", "discarded") == (2, 1)
    assert cards(position, "hand") == "3 Iron, Amplify"


def test_10_scan() -> None:
    start = scenario(Seat("Moscow", hand="Iron", top="Amplify, Iron"), energy=1)
    position = after(start, OP_1, "pick Amplify")
    assert numbers(position, "energy") == (0,)
    assert cards(position, "hand") == "Iron, Amplify" and top_cards(position) == "Iron"


def test_11_discount() -> None:
    start = scenario(Seat(hand="Trade Specialist, Gold, Iron"), supply="Astronomer, Physicist")
    played = after(start, "play Trade Specialist", "play Gold", "play Iron")
    assert numbers(played, "energy", "market", "money") == (1, 2, 3)
    bought = after(played, "acquire Gold")
    assert numbers(bought, "money") == (1,)
    bought = after(bought, "acquire Astronomer")
    assert numbers(bought, "money", "market") == (0, 0)


@pytest.mark.parametrize(("name", "price"), [("Astronomer", 1), ("Gold", 1), ("Scavenger", 4)])
def test_12_discounts_add_up(name: str, price: int) -> None:
    start = scenario(Seat("Bangkok", hand="2 Iron"), supply="Astronomer, Scavenger", discount=1, money=price)
    assert numbers(after(start, f"acquire {name}"), "money") == (0,)
    poor = scenario(Seat("Bangkok", hand="2 Iron"), supply="Astronomer, Scavenger", discount=1, money=price - 1)
    assert f"acquire {name}" not in legal(poor)


def test_13_refiner() -> None:
    start = scenario(Seat(hand="Refiner, Mafia", discard="2 Iron, Gold", deck="Iron"))
    position = after(start, "play Refiner", "pick Gold", "pick Iron")
    assert numbers(position, "energy", "money", "market") == (3, 2, 2)
    assert top_cards(position) == "Iron, Gold"


def test_14_demolition_experts() -> None:
    start = scenario(Seat(hand="Demolition Experts, 3 Gold"))
    position = after(start, "play Demolition Experts", OPT_2, "pick Gold", "pick Gold", DONE)
    assert numbers(position, "energy") == (4,)
    assert (cards(position, "airlock", None), cards(position, "hand")) == ("2 Gold", "Gold")


def test_15_seoul() -> None:
    start = scenario(Seat("Seoul", hand="Mafia", discard="Iron"), energy=10, supply="Scavenger")
    position = after(start, OP_1, OP_2, OP_3, "pick Iron", OP_4)
    assert parsecs(position) == [7, 0]
    assert numbers(position, "energy", "money", "market") == (0, 1, 2)


def test_16_tehran() -> None:
    position = after(scenario(Seat("Tehran", hand="3 Gold, Iron")), *["play Gold"] * 3)
    assert numbers(position, "energy") == (3,)
    rich = scenario(Seat("Tehran", hand="3 Gold, Iron"), energy=5)
    assert parsecs(after(rich, *["play Gold"] * 3, OP_3)) == [3, 0]


def test_17_encounter() -> None:
    others = "Iron, Gold, Jeweler"
    start = scenario(
        Seat(hand="Iron", deck="Gold, 4 Iron"), Seat(hand=others, parsecs=2), Seat(hand=others, parsecs=2),
        Seat(hand=others), energy=8, race=0,
    )  # fmt: skip
    ended = after(start, *[OP_4] * 4, END)
    assert cards(ended, "hand") == "4 Iron, Gold"
    assert tokens(ended) == [3, 5, 8, 11, 14, 17]
    order = [(ended.node, ended.seat)]
    first = after(ended, "pick Iron", "pick Gold")
    order.append((first.node, first.seat))
    second = after(first, "pick Jeweler")
    order.append((second.node, second.seat))
    third = after(second, DONE)
    order.append((third.node, third.seat))
    assert order == [(Node.BID, 0), (Node.BID, 1), (Node.BID, 2), (Node.BID, 3)]
    won = after(third, "pick Jeweler")
    assert (won.node, won.seat) == (Node.TITAN, 1)
    assert [cards(won, "discard", seat) for seat in range(4)] == ["2 Iron, Gold", "Jeweler", "", "Jeweler"]
    taken = won.apply(won.legal_actions()[0])
    assert numbers(taken, "titan_deck_size", "race", "active") == (15, 1, 1)
    assert taken.state["player"][1]["hand"][35:].sum() == 1 and not taken.state["titan_row"].any()


def test_18_order_of_bids_and_no_winner() -> None:
    seats = [Seat(hand="Iron", parsecs=place, deck="5 Iron") for place in (5, 3, 5, 5)]
    position = after(scenario(*seats, active=2, crossed=[0, 1, 0, 0, 0, 0, 0], race=0), END)
    order = []
    while position.node == Node.BID:
        order.append(position.seat)
        position = after(position, DONE)
    assert order == [2, 3, 0, 1]
    assert numbers(position, "titan_deck_size", "race", "active") == (16, 1, 3)


def test_19_a_bid_of_value_0_wins() -> None:
    seats = Seat(hand="Iron", deck="5 Iron"), Seat(hand="Amplify", deck="5 Iron")
    position = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0]), END, DONE, "pick Amplify")
    assert (position.node, position.seat) == (Node.TITAN, 1)


def test_20_karachi_jumps_instead() -> None:
    seats = Seat("Karachi", hand="Iron", deck="5 Iron", parsecs=1), Seat(hand="2 Iron")
    start = scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0])
    won = after(start, END, "pick Iron", DONE, DONE)
    assert (won.node, won.seat) == (Node.TITAN, 0) and DONE in legal(won)
    position = after(won, DONE)
    assert parsecs(position) == [4, 0] and 3 in tokens(position)
    assert numbers(position, "titan_deck_size") == (16,)


def test_21_arrival() -> None:
    position = after(scenario(Seat("Moscow", hand="Iron", deck="5 Iron", parsecs=18), energy=5), OP_3)
    assert parsecs(position) == [21, 0] and position.over and position.state["end"] == TERMINATED
    assert numbers(position, "winner", "look_size", "depth") == (1, 0, 0)
    assert EndReason(int(position.state["end_reason"])) == EndReason.KEPLER
    assert position.results()[2].tolist() == [1, -1]


def test_22_cloning() -> None:
    start = scenario(Seat(hand="Cloning, Iron", play="Energeticist"), ejected=2, crew_played=1)
    position = after(start, "play Cloning", OPT_2)
    assert numbers(position, "energy", "crew_played") == (3, 1)


def test_23_operations_repeated() -> None:
    position = after(scenario(Seat("Istanbul", hand="Iron"), energy=5), OP_4, OP_4)
    assert parsecs(position) == [2, 0] and numbers(position, "energy") == (1,)
    assert OP_1 in legal(position) and OP_4 not in legal(position)


def test_24_lagos() -> None:
    start = scenario(Seat("Lagos", hand="Iron"), supply="2 Fencing, 3 Broker", crew_deck="3 Jeweler", energy=1)
    position = after(start, OP_1, "pick Broker")
    assert numbers(position, "energy", "supply_size") == (1, 5)
    assert cards(position, "airlock", None) == "Broker"
    assert cards(position, "supply", None) == "2 Fencing, Jeweler, 2 Broker"


def test_25_a_card_that_ejects_itself() -> None:
    position = after(scenario(Seat("Tokyo", hand="Fencing, Iron")), "play Fencing", "pick Fencing", OPT_1)
    assert numbers(position, "money", "energy") == (2, 1)
    assert (cards(position, "airlock", None), cards(position, "play")) == ("Fencing", "")


def test_26_broker() -> None:
    start = scenario(Seat(hand="Broker, Gold, Iron"), supply="Physicist, Scavenger, Astronomer")
    position = after(start, "play Broker", "pick Gold")
    assert legal(position) == {"pick Astronomer", "pick Physicist"}


def test_27_warp_pilot() -> None:
    start = scenario(Seat(hand="Warp Pilot, Unknown Substance", deck="3 Iron"))
    position = after(start, "play Warp Pilot", "pick Iron", "pick Unknown Substance")
    assert numbers(position, "energy") == (3,) and cards(position, "hand") == "2 Iron"


def test_28_titans_have_no_cost() -> None:
    start = scenario(Seat(hand="Scavenger, Iron"), airlock="Amplify", supply="Fencing, Physicist")
    position = after(start, "play Scavenger", "pick Fencing", DONE)
    assert position.node == Node.ACTION
    assert (cards(position, "hand"), cards(position, "airlock", None)) == ("Iron, Fencing", "Amplify")


def test_29_thrust_operator() -> None:
    start = scenario(Seat(hand="Thrust Operator, Iron", top="Unknown Substance, Iron"))
    assert numbers(after(start, "play Thrust Operator"), "energy", "discarded") == (4, 2)


def test_30_amplify_from_the_deck() -> None:
    position = after(scenario(Seat(hand="Thrust Operator, Iron", top="Amplify, Iron")), "play Thrust Operator")
    assert numbers(position, "energy") == (2,) and cards(position, "hand") == "Iron, Amplify"


def test_31_kinshasa() -> None:
    position = after(scenario(Seat("Kinshasa", hand="2 Gold, Iron")), "play Gold", "play Gold", "acquire Gold")
    assert numbers(position, "energy", "money") == (1, 1)


@pytest.mark.parametrize(
    ("own", "other", "winner"), [(1, "2 Iron", 0), (1, "Gold", 0), (1, "Iron, Gold", 1), (0, "Iron", 1)]
)
def test_32_lima(own: int, other: str, winner: int) -> None:
    """One Iron counts 3, and no bid counts nothing; seat 0 bids first."""
    seats = Seat("Lima", hand="Iron", deck="2 Iron, 3 Gold"), Seat(hand=other)
    position = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0], supply=""), END)
    while position.node == Node.BID:
        bidding = own if position.seat == 0 else 3
        own -= position.seat == 0
        options = [action for action in position.legal_actions() if action < position.config.actions.id_of(DONE)]
        text = position.config.actions.text(options[0]) if bidding > 0 else DONE
        position = after(position, text)
    assert (position.node, position.seat) == (Node.TITAN, winner)


# ---------------------------------------------------------------- rules that no vector shows


def test_a_turn_begins_with_nothing_of_the_last_one() -> None:
    """4.1: counters, departments and used operations are those of the turn."""
    counters = {
        "ejected": 1, "discarded": 2, "market_taken": 1, "gold_played": 1, "resource_played": 3, "crew_played": 1,
        "titan_played": 1, "ops_used": 2, "all_ops": 1, "energy": 3, "money": 3, "discount": 1,
    }  # fmt: skip
    lists = {"department": [1, 0, 1, 1], "op_used": [1, 0, 0, 1]}
    seats = Seat(hand="Iron", deck="5 Iron"), Seat(hand="Iron, Gold")
    begun = after(scenario(*seats, market=3, **counters, **lists), END)
    assert (begun.node, begun.seat) == (Node.ACTION, 1)
    assert dict(zip(counters, numbers(begun, *counters), strict=True)) == dict.fromkeys(counters, 0)
    assert numbers(begun, "market") == (1,)
    assert not begun.state["department"].any() and not begun.state["op_used"].any()


def test_what_is_played_is_counted() -> None:
    """3.1: Iron and Gold, Gold alone, crew, titans, and the departments of both; Mafia is none of them."""
    position = scenario(Seat(hand="Iron, Gold, Mafia, Jeweler, Excavation"))
    for name, counted, departments in (
        ("Iron", (1, 0, 0, 0), [0, 0, 0, 0]),
        ("Gold", (2, 1, 0, 0), [0, 0, 0, 0]),
        ("Mafia", (2, 1, 0, 0), [0, 0, 0, 0]),
        ("Jeweler", (2, 1, 1, 0), [0, 0, 0, 1]),  # a smuggler
        ("Excavation", (2, 1, 1, 1), [0, 0, 1, 1]),  # a miner
    ):
        position = after(position, f"play {name}")
        assert numbers(position, "resource_played", "gold_played", "crew_played", "titan_played") == counted
        assert position.state["department"].tolist() == departments


def test_the_last_gold() -> None:
    """R3: it can be acquired, and then there is none."""
    start = scenario(Seat(hand="Iron"), money=6, market=2, gold_pile=1)
    bought = after(start, "acquire Gold")
    assert numbers(bought, "gold_pile", "money", "market", "market_taken") == (0, 3, 1, 1)
    assert legal(bought) == {"play Iron", "play Gold", END}


def test_the_last_crew_card() -> None:
    """R3: it comes to the supply, and then the supply is no longer refilled."""
    start = scenario(Seat(hand="Iron"), supply="5 Fencing", crew_deck="Jeweler", money=4, market=2)
    bought = after(start, "acquire Fencing")
    assert cards(bought, "supply", None) == "4 Fencing, Jeweler" and numbers(bought, "crew_deck_size") == (0,)
    bought = after(bought, "acquire Fencing")
    assert cards(bought, "supply", None) == "3 Fencing, Jeweler" and numbers(bought, "supply_size") == (4,)


@pytest.mark.parametrize(("city", "hand_size"), [("Karachi", 5), ("Shanghai", 6), ("Lima", 5), ("Bangkok", 5)])
def test_the_number_of_a_trait_is_for_its_own_hook(city: str, hand_size: int) -> None:
    """3.2: only Bangkok's is off every price, only Shanghai's makes the hand larger."""
    price = 1 if city == "Bangkok" else 2
    seat = Seat(city, hand="Iron", deck="9 Iron")
    start = scenario(seat, supply="Astronomer", money=price)
    assert "acquire Gold" not in legal(start)
    bought = after(start, "acquire Astronomer")
    assert numbers(bought, "money") == (0,)
    assert after(bought, END).state["player"][0]["hand_size"] == hand_size
    poor = scenario(seat, supply="Astronomer", money=price - 1)
    assert "acquire Astronomer" not in legal(poor)


def test_a_token_is_crossed_by_entering_its_space() -> None:
    """3.1: not by leaving a space whose token a player has left there."""
    moved = after(scenario(Seat(hand="Iron", parsecs=3), energy=2), OP_4)
    assert parsecs(moved) == [4, 0] and not moved.state["crossed"].any()
    moved = after(scenario(Seat(hand="Iron", parsecs=4), energy=2), OP_4)
    assert moved.state["crossed"].tolist() == [0, 0, 1, 0, 0, 0, 0]


def test_tokens_crossed_count_for_one_turn() -> None:
    """R9: of two tokens crossed the further one stays, and whoever plays next has not crossed it.

    The decisions of the encounter are none of the next turn.
    """
    seats = [Seat(hand="Iron", deck="5 Iron", parsecs=4), Seat(hand="Iron", deck="5 Iron")]
    begun = after(scenario(*seats, crossed=[1, 1, 0, 0, 0, 0, 0]), END, DONE, DONE)
    assert (begun.node, begun.seat) == (Node.ACTION, 1) and tokens(begun)[0] == 3
    assert begun.state["decisions"] == begun.state["decisions_before"] == 3
    following = after(begun, END)
    assert (following.node, following.seat) == (Node.ACTION, 0) and tokens(following)[0] == 3


def test_a_bid_is_a_set() -> None:
    """4.2: kinds come in ascending order."""
    seats = Seat(hand="Iron", deck="Gold, 3 Iron, Jeweler"), Seat(hand="2 Iron")
    asked = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0]), END)
    assert legal(asked) == {"pick Iron", "pick Gold", "pick Jeweler", DONE}
    assert legal(after(asked, "pick Gold")) == {"pick Jeweler", DONE}


def test_equal_bidders_follow_clockwise_from_the_last_one() -> None:
    """4.2: from the active player only for the first bidder. Behind seat 2 comes seat 3, not seat 1."""
    seats = [Seat(hand="Iron", parsecs=place, deck="5 Iron") for place in (0, 3, 5, 3)]
    position = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0]), END)
    order = []
    while position.node == Node.BID:
        order.append(position.seat)
        position = after(position, DONE)
    assert order == [2, 3, 1, 0]


@pytest.mark.parametrize("active", [0, 1])
@pytest.mark.parametrize(
    ("city", "first", "second", "first_wins"),
    [
        ("Istanbul", "Iron", "Iron", True),  # equal values: the earlier bidder
        ("Istanbul", "Iron", "Gold", False),
        ("Istanbul", "Gold", "Iron", True),
        ("Istanbul", "Physicist", "2 Gold", False),  # 5 against 3 + 3
        ("Karachi", "Iron", "Gold", False),  # the number of its trait is no bonus
    ],
)
def test_the_highest_bid_wins(active: int, city: str, first: str, second: str, first_wins: bool) -> None:
    """4.2: whatever the numbers of the seats. Of equal parsecs the active player bids first; each bids all it has."""
    seats = [Seat(city, deck=first), Seat(hand=second)][:: 1 - 2 * active]
    position = after(scenario(*seats, active=active, crossed=[1, 0, 0, 0, 0, 0, 0]), END)
    while position.node == Node.BID:
        position = position.apply(min(position.legal_actions()))
    assert (position.node, position.seat) == (Node.TITAN, active if first_wins else 1 - active)


@pytest.mark.parametrize("titans", ["Heist, Swarm", "Heist", ""])
def test_the_last_titans(titans: str) -> None:
    """4.2: as many as there are; without any there are no bids, but the token goes and the Race phase begins."""
    seats = Seat(hand="Iron", deck="5 Iron"), Seat(hand="2 Iron")
    position = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0], titans=titans, race=0), END)
    assert 1 not in tokens(position)
    if titans:
        position = after(position, "pick Iron", DONE, DONE)
    if titans == "Heist, Swarm":
        assert (position.node, position.seat) == (Node.TITAN, 0) and legal(position) == {"pick Heist", "pick Swarm"}
    elif titans:  # the only one is taken unasked
        assert (position.node, position.seat) == (Node.ACTION, 1) and cards(position, "hand") == "4 Iron, Heist"
    else:
        assert (position.node, position.seat) == (Node.ACTION, 1) and numbers(position, "race") == (1,)


@pytest.mark.parametrize("zone", ["hand", "discard"])
def test_a_card_ejected_from_hand_or_discard_pile_was_its_owners(zone: str) -> None:
    """3.4: Amplify counts the same from both, here by Tokyo's last operation; Tokyo adds one energy for each card."""
    seat = Seat("Tokyo", hand="Iron, Mafia, Amplify" if zone == "hand" else "Iron, Mafia")
    seat.discard = "Amplify" if zone == "discard" else ""
    position = after(scenario(seat, energy=9), OP_4, "pick Amplify", "pick Iron")
    assert numbers(position, "energy") == (2 + 1 + 1,) and parsecs(position) == [4, 0]


@pytest.mark.parametrize("reward_mode", ["win", "rank"])
@pytest.mark.parametrize("first", [0, 2])
def test_the_round_cap(first: int, reward_mode: str) -> None:
    """7.1, 7.3: the last round ends when the first player is to move again. Returns are half of those by rank."""
    config = GAME.configure(3, max_rounds=7, reward_mode=reward_mode)
    seats = [Seat(hand="Iron", deck="5 Iron", parsecs=place) for place in (5, 2, 2)]
    start = scenario(*seats, config=config, first=first, active=(first + 1) % 3, rounds=6)
    last_turn = after(start, END)
    assert not last_turn.over and numbers(last_turn, "active", "rounds") == ((first + 2) % 3, 6)
    ended = after(last_turn, END)
    assert ended.over and numbers(ended, "rounds", "winner") == (7, 0)
    assert EndReason(int(ended.state["end_reason"])) == EndReason.ROUNDS
    assert ended.results()[0].tolist() == [1, 2, 2]
    assert ended.results()[2].tolist() == [1 / 2, -1 / 4, -1 / 4]


def test_shaping_compares_parsecs_with_the_mean_of_the_others() -> None:
    """Section 7.3: a parsec is a twentieth of what wins."""
    config = GAME.configure(3, shaping=0.5)
    env = KeplerEnv(config)
    env.restore(scenario(Seat(hand="Iron"), Seat(parsecs=3), Seat(), config=config, energy=4))
    env.step(config.actions.id_of(OP_4))
    assert list(env.rewards.values()) == pytest.approx([0.5 / 20, -0.25 / 20, -0.25 / 20])
