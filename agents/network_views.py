"""What the networks of each game look at, and how: measured choices, one entry a game.

A view is no part of the game: the observation has more in it, and a network with the plain view learns, too, but for longer.
"""

from __future__ import annotations

from dataclasses import dataclass

from kepler_envs.adapters.sb3 import Anchor


@dataclass(frozen=True)
class View:
    """Pieces of the observation that are left out, an axis to look at from one of its places, planes whose values are labels.

    Convolutions (``--channels``) see all planes, also those that are left out as plain inputs.
    """

    leave_out: tuple[str, ...] = ()
    anchor: Anchor | None = None
    label_planes: tuple[str, ...] = ()


PLAIN = View()

VIEWS = {
    "kitten_adventurers": View(
        # half of all entries, next to no use, and twice the time
        leave_out=("players.lane_*[1:]",),
        # cards are needed, or in the way, by their distance from the own quest card
        anchor=Anchor(
            entry="players.quest_top[:1]",
            reach=12,
            counts=(("ladders", 1), ("own_hand", 0), ("players.lane_types[:1]", 0)),
            labels=("players.lane_*_top[:1]", "players.lane_*_second[:1]", "players.lane_*_third[:1]"),
            actions=("PLAY_HAND", "END_WITH", "AS_VALUE"),
        ),
    ),
    "kepler_3042": View(
        # the same in every game on one map: as plain inputs they say nothing
        leave_out=("hex.terrain", "hex.star_kind", "hex.zone", "hex.star_in_play", "hex.sol_distance"),
        label_planes=("hex.body", "hex.planet", "hex.planet_owner", "hex.ship_owner"),
    ),
}  # fmt: skip


def view_of(game: str) -> View:
    """The view of a game's networks, the plain one unless there is another."""
    return VIEWS.get(game, PLAIN)
