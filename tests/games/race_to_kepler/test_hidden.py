"""What a seat cannot know: hands, decks, bids, look zones and cities of others (section 6), and redrawing them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from random import Random
from typing import Any

import numpy as np
import pytest

from kepler_envs.engine.game import Configuration
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.games.race_to_kepler.state import NUM_KINDS, Node
from tests.choosing import eager
from tests.effort import games_to_play
from tests.games.race_to_kepler.invariants import EAGER, check_invariants
from tests.games.race_to_kepler.scenario import DONE, END, GAME, Seat, after, cards, scenario

PLAYER_COUNTS = range(2, 5)
HIDDEN_ZONES = ("hand", "deck", "bid")
IN_TURN = (Node.ACTION, Node.MOVE, Node.CHOICE, Node.REPLAY)


def positions(config: Configuration, seed: int, every: int) -> Iterator[Snapshot]:
    choose = eager(seed, EAGER, 0.9)
    position, number = Snapshot.deal(config, seed), 0
    while not position.over:
        if number % every == 0 or position.node in (Node.CITY, Node.BID):
            yield position
        position = position.apply(choose(position.legal_actions()))
        number += 1


def mixed(snapshot: Snapshot, observer: int, random: Random) -> Snapshot:
    """The concealed cards of the others dealt anew by hand, card by card; cities not chosen by the observer
    shuffled."""
    other = snapshot.clone()
    state = other.state
    for seat in range(snapshot.config.num_players):
        if seat != observer:
            _mix_cards(state, seat, random)
    if snapshot.node == Node.CITY:
        _mix_cities(state, snapshot.config.num_players, observer, random)
    state["rng"] = random.getrandbits(64)
    return other


def _mix_cards(state: Any, seat: int, random: Random) -> None:
    player = state["player"][seat]
    known = int(player["known_size"])
    seen = [int(kind) - 1 for kind in player["shown_kind"][: int(player["shown_size"])]]
    is_open = [bool(int(player["known_open"]) >> place & 1) for place in range(known)]
    stays = seen + [int(player["known_kind"][place]) - 1 for place in range(known) if is_open[place]]
    left = player["concealed"] - np.bincount(stays, minlength=NUM_KINDS)
    pool = [kind for kind in range(NUM_KINDS) for _ in range(int(left[kind]))]
    random.shuffle(pool)

    held = seen + [pool.pop() for _ in range(int(player["hand_size"] + player["bid_size"]) - len(seen))]
    random.shuffle(held)
    size = int(player["hand_size"])
    player["hand"], player["bid"] = (np.bincount(part, minlength=NUM_KINDS) for part in (held[:size], held[size:]))
    if seat == state["active"]:
        looked = [pool.pop() for _ in range(int(state["look_size"]))]
        state["look"] = np.bincount(looked, minlength=NUM_KINDS)
        state["look_kind"][: len(looked)] = [kind + 1 for kind in looked]
    kept = [int(player["known_kind"][place]) - 1 for place in range(known) if is_open[place]]
    player["deck"] = np.bincount([*pool, *kept], minlength=NUM_KINDS)
    for place in range(known):
        if not is_open[place]:
            player["known_kind"][place] = pool.pop() + 1
    if state["node"] == Node.BID and seat == state["seat"]:
        state["last_bid"] = max((kind + 1 for kind in np.flatnonzero(player["bid"])), default=0)


def _mix_cities(state: Any, players: int, observer: int, random: Random) -> None:
    left = [city for city in range(15) if not int(state["player"][observer]["offers"]) >> city & 1]
    random.shuffle(left)
    for seat in set(range(players)) - {observer}:
        player, dealt = state["player"][seat], [left.pop() for _ in range(3)]
        player["offers"] = sum(1 << city for city in dealt)
        if player["city"]:
            player["city"] = random.choice(dealt) + 1


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_hidden_facts_neither_show_nor_steer_resampling(players: int) -> None:
    """With any other cards in those places: same observation, text and picture, and redrawn to the same bytes."""
    config, random, changed = GAME.configure(players, max_rounds=14), Random(players), 0
    for seed in range(games_to_play(2)):
        for number, snapshot in enumerate(positions(config, seed, 7)):
            observer = number % players
            other = mixed(snapshot, observer, random)
            check_invariants(other.state, config)
            changed += other != snapshot
            assert np.array_equal(other.observe(observer), snapshot.observe(observer))
            assert other.text(observer) == snapshot.text(observer)
            if number % 10 == 0:
                assert other.drawing(observer).svg() == snapshot.drawing(observer).svg()
            if observer == snapshot.seat:
                assert other.legal_actions() == snapshot.legal_actions()
            if number % 3 == 0:
                assert other.resample(observer, number) == snapshot.resample(observer, number)
    assert changed > 20


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_only_hidden_facts_are_redrawn(players: int) -> None:
    config = GAME.configure(players, max_rounds=14)
    for number, snapshot in enumerate(positions(config, 5, 5)):
        for observer in range(players):
            drawn = snapshot.resample(observer, number)
            check_invariants(drawn.state, config)
            same = snapshot.clone()
            known = snapshot.node == Node.CITY or (observer == snapshot.seat and snapshot.node in IN_TURN)
            asked = int(snapshot.state["decisions"] - snapshot.state["decisions_before"]) if known else 0
            assert drawn.state["decisions"] == asked and drawn.state["decisions_before"] == 0
            for state in (same.state, drawn.state):
                state["rng"] = state["decisions"] = state["decisions_before"] = 0
                for seat in set(range(players)) - {observer}:
                    for zone in (
                        *HIDDEN_ZONES,
                        "known_kind",
                        *(("offers", "city") if snapshot.node == Node.CITY else ()),
                    ):
                        state["player"][seat][zone] = 0
                if observer != snapshot.state["active"]:
                    state["look"] = state["look_kind"] = 0
                if observer != snapshot.seat:
                    state["last_bid"] = 0
            assert same == drawn


def test_another_player_who_is_asked_has_a_choice() -> None:
    """Someone who is asked which Iron to eject has one; who looks at cards and must choose sees two kinds; who bids on
    has a card."""
    ore = after(scenario(Seat(hand="Ore Processor, Mafia, Iron", deck="9 Gold"), Seat()), "play Ore Processor")
    assert ore.node == Node.MOVE
    look = after(
        scenario(Seat(hand="Bio Engineer, Iron", deck="9 Iron", top="Iron, Gold, Iron"), Seat()), "play Bio Engineer"
    )
    seats = Seat(hand="Iron", deck="3 Iron, 2 Broker"), Seat(hand="2 Iron", deck="9 Iron")
    bid = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0]), END, "pick Iron")
    assert (bid.node, bid.seat) == (Node.BID, 0)
    for position in (ore, look, bid):
        for seed in range(games_to_play(60)):
            drawn = position.resample(1, seed)
            assert len(drawn.legal_actions()) >= 2
            assert (drawn.node, drawn.seat) == (position.node, position.seat)


def test_redraws_are_uniform() -> None:
    """Each concealed card is as likely in the hand, in the bid and on the deck as it is frequent, if the bid can go
    on."""
    seats = Seat(hand="Iron", deck="3 Iron, 2 Broker"), Seat(hand="Gold, Fencing, Mafia", deck="2 Jeweler", top="Heist")
    position = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0]), END, DONE, "pick Gold")
    assert (position.node, position.seat) == (Node.BID, 1)
    draws, found = games_to_play(2000), Counter()
    for seed in range(draws):
        player = position.resample(0, seed).state["player"][1]
        hand = [kind for kind in range(NUM_KINDS) for _ in range(int(player["hand"][kind]))]
        found[int(np.flatnonzero(player["bid"])[0]), tuple(hand), int(player["known_kind"][0]) - 1] += 1
    deals = Counter()
    for bid, *others in permutations((1, 21, 2, 24, 24, 48)):
        if max(others[:2]) >= bid:  # otherwise only the end of the bid would be left, and nobody would be asked
            deals[bid, tuple(sorted(others[:2])), others[2]] += 1
    assert set(found) == set(deals)
    expected = {deal: draws * count / sum(deals.values()) for deal, count in deals.items()}
    chi_square = sum((found[deal] - expected[deal]) ** 2 / expected[deal] for deal in deals)
    assert chi_square < len(deals) + 5 * (2 * len(deals)) ** 0.5


def test_the_value_of_cards_kept_secret_is_not_counted() -> None:
    """Adaptation takes two cards to hand: the cost of the first one is in nobody's view."""
    position = after(
        scenario(Seat(hand="Adaptation, Iron", top="Scavenger, Gold, Fencing, Iron")),
        "play Adaptation",
        "pick Scavenger",
    )
    layout = GAME.observation
    for seat in range(2):
        seen = position.observe(seat)
        assert layout["game.moved"].view(seen) == [1] and layout["game.value"].view(seen) == [0]
    assert not layout["look.card"].view(position.observe(1)).any()
    assert (layout["look.card"].view(position.observe(0)) > 0).sum() == 3
    public = after(
        scenario(Seat(hand="Broker, Gold, Iron"), supply="Physicist, Astronomer"), "play Broker", "pick Gold"
    )
    assert layout["game.asking"].view(public.observe(1)) == [26] and cards(public, "airlock", None) == "Gold"


def check_not_told_apart(one: Snapshot, two: Snapshot, watcher: int) -> None:
    """A seat that was shown the same in two positions until now is shown the same in them: in the observation, infos,
    texts, redrawn."""
    assert one != two and (one.node, one.seat) == (two.node, two.seat)
    assert np.array_equal(one.observe(watcher), two.observe(watcher))
    assert GAME.observation["game.decisions"].view(one.observe(watcher)) == 0
    assert one.text(watcher) == two.text(watcher)
    for seat in range(one.config.num_players):
        infos = [GAME.info(position.state, position.config.tables[0], seat) for position in (one, two)]
        assert infos[0] == infos[1] and infos[0]["decisions"] == 0
    for seed in range(5):
        assert one.resample(watcher, seed) == two.resample(watcher, seed)


@pytest.mark.parametrize("players", PLAYER_COUNTS)
def test_the_end_of_a_bid_does_not_tell_the_card(players: int) -> None:
    """Of Iron and Gold one is bid face down.

    Behind Iron the bidder is asked for more, behind Gold nothing is left to ask.
    """
    others = [Seat(hand="Iron, Mafia", deck="9 Iron") for _ in range(players - 1)]
    bidding = after(scenario(Seat(deck="Iron, Gold"), *others, crossed=[1, 0, 0, 0, 0, 0, 0]), END)
    assert (bidding.node, bidding.seat) == (Node.BID, 0)
    iron, gold = after(bidding, "pick Iron", DONE), after(bidding, "pick Gold")
    assert iron.state["decisions"] == gold.state["decisions"] + 1
    for watcher in range(1, players):
        check_not_told_apart(iron, gold, watcher)
    last = [after(position, *[DONE] * (players - 1)) for position in (iron, gold)]
    assert [position.node for position in last] == [Node.TITAN] * 2  # the bids are open
    for position in last:
        assert all(GAME.observation["game.decisions"].view(position.observe(seat)) == 0 for seat in range(players))


def test_looking_at_cards_does_not_tell_which_one_was_kept() -> None:
    """Bio Engineer keeps one of three cards, ejects an Iron and discards an Iron: asked for nothing or once."""
    ways = [
        (Seat(hand="Bio Engineer, Mafia", deck="Gold", top="Iron, Iron, Iron"), ()),
        (Seat(hand="Bio Engineer, Mafia", deck="Iron", top="Gold, Iron, Iron"), ("pick Gold",)),
    ]
    watched = []
    for number, (seat, picks) in enumerate(ways):
        position = after(scenario(seat, Seat()), "play Bio Engineer", *picks)
        assert position.node == Node.ACTION and cards(position, "airlock", None) == cards(position, "discard") == "Iron"
        assert GAME.observation["game.decisions"].view(position.observe(0)) == 1 + number  # its own, which it knows
        assert position.resample(0, 1).state["decisions"] == 1 + number
        watched.append(position)
    check_not_told_apart(*watched, watcher=1)


def test_public_texts() -> None:
    dealt = Snapshot.deal(GAME.configure(2), 1)
    assert {dealt.public_text(action) for action in dealt.legal_actions()} == {"keep a city"}
    seats = Seat(hand="Iron", deck="3 Iron, 2 Broker"), Seat(hand="2 Iron", deck="9 Iron")
    bid = after(scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0]), END)
    assert {bid.public_text(action) for action in bid.legal_actions()} == {"bid a card face down", DONE}
    looking = after(scenario(Seat(hand="Bio Engineer, Iron", top="Iron, Gold, Fencing")), "play Bio Engineer")
    assert {looking.public_text(action) for action in looking.legal_actions()} == {"pick a card"}
    ejecting = after(looking, "pick Gold")
    assert {ejecting.public_text(action) for action in ejecting.legal_actions()} == {"pick Iron", "pick Fencing"}


def test_cities_are_hidden_until_all_have_chosen() -> None:
    config = GAME.configure(3)
    position = Snapshot.deal(config, 4)
    cities, offers = config.observation["players.city"], config.observation["game.offers"]
    first = position.legal_actions()[0]
    position = position.apply(first)
    assert cities.view(position.observe(0)).tolist() == [first + 1, 0, 0, 0]
    for observer in (1, 2):
        assert not cities.view(position.observe(observer)).any()
        assert offers.view(position.observe(observer)).sum() == 3
    position = position.apply(position.legal_actions()[0]).apply(
        position.apply(position.legal_actions()[0]).legal_actions()[0]
    )
    chosen = set(position.state["player"]["city"][:3].tolist())
    for observer in range(3):
        seen = position.observe(observer)
        assert set(cities.view(seen)[:3].tolist()) == chosen and not offers.view(seen).any()


def test_cards_that_everybody_saw_are_kept_in_mind() -> None:
    """Gold fetched to hand, or put on the deck openly and drawn, is there in all redraws; until it is played or what is
    in hand may have changed."""
    ore = after(
        scenario(Seat(hand="Extractor, Mafia, Iron", deck="9 Iron"), Seat()), "play Extractor", "choose alternative 1"
    )
    shown, following = GAME.observation["cards.shown"], GAME.observation["players.next"]
    assert np.flatnonzero(shown.view(ore.observe(1))).tolist() == [1] and not shown.view(ore.observe(0)).any()
    assert all(ore.resample(1, seed).state["player"][0]["hand"][1] == 1 for seed in range(20))
    assert not shown.view(after(ore, "play Gold").observe(1)).any() and not shown.view(after(ore, END).observe(1)).any()
    refined = after(scenario(Seat(hand="Refiner", deck="3 Iron, 3 Mafia", discard="2 Gold, Iron"), Seat(hand="2 Iron")),
                    "play Refiner", "pick Gold", DONE)  # fmt: skip
    assert following.view(refined.observe(1))[1].tolist() == [2, 0, 0, 0, 0]
    assert following.view(refined.observe(0))[0].tolist() == [2, 0, 0, 0, 0]
    drawn = after(refined, END)
    assert drawn.seat == 1 and not following.view(drawn.observe(1)).any()
    assert np.flatnonzero(shown.view(drawn.observe(1))).tolist() == [1]
    assert all(drawn.resample(1, seed).state["player"][0]["hand"][1] > 0 for seed in range(20))


def test_a_known_card_may_have_been_bid() -> None:
    """Of the cards in hand and bid one is known to all; it may lie in either."""
    seats = Seat(hand="Iron", deck="9 Iron"), Seat(hand="Gold, Mafia", deck="9 Iron")
    position = scenario(*seats, crossed=[1, 0, 0, 0, 0, 0, 0])
    player = position.state["player"][1]
    player["shown_kind"][0], player["shown_size"] = 2, 1
    position = after(position, END, DONE, "pick Gold")
    draws = [position.resample(0, seed).state["player"][1] for seed in range(60)]
    assert all(player["hand"][1] + player["bid"][1] == 1 for player in draws)
    assert 0 < sum(int(player["bid"][1]) for player in draws) < 60
    assert GAME.observation["cards.shown"].view(position.observe(0))[1] == 1
