"""What a seat is shown in the course of a game tells nothing that is hidden: neither by counters, nor by how often
others were asked.

Two worlds that a seat cannot tell apart are played on with the same public decisions. What the others hold and choose
in secret may differ, and with it whether they are asked at all: a node with one legal id is settled unasked. The seat
is shown the same in both worlds until a rule brings something hidden to light.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice, product
from random import Random

import numpy as np

from kepler_envs import Configuration, Snapshot
from kepler_envs.engine import one_game
from tests.contract.subjects import chooser, every_player_count, hooks_of, is_tiny
from tests.effort import games_to_play

MOST_UNASKED = 2  # decisions that one world settles and the other asks for, one after the other
MOST_CROSSED = 400  # pairs that are looked at where both worlds have such decisions
FEW_IDS = 12  # where more are legal no hidden thing settles a node
FEWEST = 50  # positions to compare
MOST_TINY_GAMES = 40  # that are played for them
ATTEMPTS = 5  # at a world in which a secret decision can be the same
SAME, BEHIND, REVEALED, LOST = "same", "asked in one world only", "came to light", "no such decision"


@every_player_count
def test_the_same_public_decisions_show_the_same(config: Configuration) -> None:
    """At every decision of random games, for a seat that knows all it can; the worlds are drawn anew on the way,
    too."""
    hooks, found = hooks_of(config.game), Counter[str]()
    has_shaping = any(option.name == "shaping" for option in config.game.option_list)
    shaped = config.game.configure(config.num_players, **({"shaping": 0.25} if has_shaping else {}))
    for seed in range(games_to_play(2) + (MOST_TINY_GAMES if is_tiny(config.game) else 0)):
        if seed >= games_to_play(2) and found[SAME] > FEWEST:
            break
        found += compare_worlds(shaped, seed, watcher=seed % config.num_players)
    assert found[SAME] > found[REVEALED] and found[SAME] > FEWEST, f"too few positions of use were compared: {found}"
    # no pair of worlds is of use that takes the same way through the nodes; where only public facts settle one, none
    # can differ
    assert (found[BEHIND] > 0) == hooks.asks_tell, found


def compare_worlds(config: Configuration, seed: int, watcher: int) -> Counter[str]:
    """Play a random game and beside it a world that ``watcher`` cannot tell from it; how its decisions went.

    Where something hidden came to light, or the other world has no such decision, a new one takes its place.
    """
    random, choose, found = Random(seed), chooser(config, seed), Counter[str]()
    one, number = Snapshot.deal(config, seed), 0
    two = one.resample(watcher, seed)
    while not one.over:
        number += 1
        action = choose(one.legal_actions())
        two, reply = same_decision(one, action, two, watcher, number, random)
        if reply < 0:
            found[LOST] += 1
            one = one.apply(action)
            two = one.resample(watcher, number)
            continue
        how, one, two = follow(one.apply(action), two.apply(reply), watcher, random)
        found[how] += 1
        if how == REVEALED:
            two = one.resample(watcher, number)
            continue
        check_shown(one, two, watcher, with_text=number % 25 == 0)
        if random.random() < 0.3:
            two = two.resample(watcher, number)
    return found


def same_decision(
    one: Snapshot, action: int, two: Snapshot, watcher: int, number: int, random: Random
) -> tuple[Snapshot, int]:
    """(the other world, an id that means the same there to the watcher, -1 for none), with the same chance to come."""
    for attempt in range(ATTEMPTS):
        if one.seat == watcher:
            alike = [action]
        else:
            heard = one.public_text(action)
            alike = [other for other in two.legal_actions() if two.public_text(other) == heard]
        if alike:
            two = two.clone()
            two.state["rng"] = one.state["rng"]
            return two, random.choice(alike)
        two = two.resample(watcher, ATTEMPTS * number + attempt)
    return two, -1


def follow(one: Snapshot, two: Snapshot, watcher: int, random: Random) -> tuple[str, Snapshot, Snapshot]:
    """Let the world that asks for more decisions come up to the one that settled them: (what there was to see, both
    worlds).

    AssertionError where the watcher sees a difference that no rule shows it.
    """
    if looks_alike(one, two, watcher):
        return SAME, one, two
    reveals = set(hooks_of(one.game).reveals)
    if where(one) == where(two) and reveals & set(differences(one, two, watcher)):
        return REVEALED, one, two  # further decisions could make the worlds alike again
    ones, twos = ([world, *without_watcher(world, watcher, random)] for world in (one, two))
    pairs = [(one, two), *((one, later) for later in twos[1:]), *((later, two) for later in ones[1:])]
    crossed = list(islice(product(ones[1:], twos[1:]), MOST_CROSSED))  # each world asks for what the other settles
    for pair in (*pairs, *crossed):
        if looks_alike(*pair, watcher):
            return BEHIND, *pair
    comparable = [pair for pair in (*pairs, *crossed) if where(pair[0]) == where(pair[1])] or crossed or pairs[:1]
    seen = min((differences(*pair, watcher) for pair in comparable), key=lambda names: (len(names), names))
    if comparable is crossed:  # what is turned up behind those decisions may lead to another node
        seen = next((names for pair in crossed if reveals & set(names := differences(*pair, watcher))), seen)
    assert reveals & set(seen), (
        f"player_{watcher} can tell worlds apart by {', '.join(seen)} after {one.seat}, {one.node.name}"
    )
    return REVEALED, one, two


def without_watcher(position: Snapshot, watcher: int, random: Random) -> Iterator[Snapshot]:
    """What a few more decisions of the others lead to, of those that sound the same a random one."""
    level = [position]
    for _ in range(MOST_UNASKED):
        level = [later for earlier in level for later in _next(earlier, watcher, random)]
        yield from level


def _next(position: Snapshot, watcher: int, random: Random) -> list[Snapshot]:
    legal = [] if position.over or position.seat == watcher else position.legal_actions()
    if len(legal) > FEW_IDS:
        return []
    random.shuffle(legal)
    return [position.apply(action) for action in {position.public_text(action): action for action in legal}.values()]


def where(position: Snapshot) -> tuple[int, int, bool]:
    return int(position.node), position.seat, position.over


def looks_alike(one: Snapshot, two: Snapshot, watcher: int) -> bool:
    return where(one) == where(two) and np.array_equal(one.observe(watcher), two.observe(watcher))


def differences(one: Snapshot, two: Snapshot, watcher: int) -> list[str]:
    """The pieces of the observation that are not the same."""
    differs = one.observe(watcher) != two.observe(watcher)
    return [piece.name for piece in one.config.observation if piece.view(differs).any()]


def check_shown(one: Snapshot, two: Snapshot, watcher: int, with_text: bool) -> None:
    """What else there is to see: legal ids, infos, rewards, texts; and a position redrawn, which a searching bot sees
    to the last byte."""
    seats = range(one.config.num_players)
    infos = [[world.game.info(world.state, world.config.tables[0], seat) for seat in seats] for world in (one, two)]
    if one.over:  # hidden objectives are open, and count
        same = infos[0] == infos[1]
        assert not same or np.array_equal(one.results()[2], two.results()[2])
        return
    assert infos[0] == infos[1]
    assert np.array_equal(potential(one), potential(two))
    if one.seat == watcher:
        assert one.legal_actions() == two.legal_actions()
        assert [one.public_text(action) for action in one.legal_actions()] == [
            two.public_text(action) for action in two.legal_actions()
        ]
    assert one.resample(watcher, 7) == two.resample(watcher, 7)
    if with_text:
        assert one.text(watcher) == two.text(watcher)


def potential(position: Snapshot) -> np.ndarray:
    """What shaping rewards are the differences of, float32 (P,)."""
    out = np.zeros(position.config.num_players, np.float32)
    one_game.potential_kernel(position.game)(position.states, position.config.tables, out)
    return out
