"""Rules of victory points, objectives, ranks and returns."""

from __future__ import annotations

import numpy as np

from kepler_envs.engine.game import RUNNING
from kepler_envs.engine.kernel import helper, leaf
from kepler_envs.engine.returns import ahead_of_others, rank_returns, ranks_by, scores_of
from kepler_envs.games.kepler_3042.rules_board import colonies
from kepler_envs.games.kepler_3042.state import (
    ANTIMATTER,
    MAX_LEVEL,
    NUM_OBJECTIVES,
    NUM_TECHS,
    NUM_TERMS,
    NUM_TRACKS,
    NUM_TYPES,
    NUM_ZONES,
    Requirement,
)

(
    ANTIMATTER_TERM, ALL_FIVE_TYPES_TERM, THREE_OF_A_TYPE_TERM, MINES_TERM, MAXIMUM_TECHNOLOGY_TERM, MEDALS_TERM,
    ZONES_TERM,
    TRACKS_TERM, TERRAFORMED_PLANETS_TERM, OBJECTIVE_TERM,
) = range(NUM_TERMS)  # fmt: skip
TERMS = (
    "antimatter", "all_five_types", "three_of_a_type", "mines", "maximum_technology", "medals", "zones", "tracks",
    "terraformed_planets", "objective",
)  # fmt: skip
"""The terms of the final score, in the order of a player's score sheet."""

(
    TERRAFORMED_TYPE, TERRAFORMED_ZONE, COLONISED_ZONE, COLONISED_EACH_ZONE, COLONISED_TYPE, COLONISED_TYPES,
    COLONISED_TOTAL,
    TERRAFORMED_TOTAL, TERRAFORMED_SAME_TYPE, TECHS_AT_LEVEL, ANTIMATTER_ON_PLANETS,
) = (int(requirement) for requirement in list(Requirement)[:-1])  # fmt: skip

FEW_POINTS = 60.0
"""Shaping: points that are worth one."""


# ---------------------------------------------------------------- terms


@leaf
def _antimatter_on_planets(player):
    """The antimatter that lies neither in storage nor in the pit, Earth included."""
    return int(player.total[ANTIMATTER]) - int(player.storage[ANTIMATTER]) - int(player.pit[ANTIMATTER])


@leaf
def _techs_at_least(player, level):
    count = 0
    for tech in range(NUM_TECHS):
        count += player.tech[tech] >= level
    return count


@leaf
def _types_colonised(player):
    count = 0
    for kind in range(NUM_TYPES):
        count += player.colonies_of_type[kind] > 0
    return count


@leaf
def _most_of_a_type(player):
    most = 0
    for kind in range(NUM_TYPES):
        most = max(most, int(player.colonies_of_type[kind]))
    return most


@leaf
def _terraformed_points(s, t, player):
    points = 0
    for slot in colonies(player):
        if s.planet_terraformed[player.slot[slot]]:
            points += int(t.planet[player.slot[slot]].vp)
    return points


@leaf
def _zone_points(t, player):
    points = 0
    for zone in range(NUM_ZONES):
        points += int(t.zone_vp[zone]) * int(player.colonies_in_zone[zone])
    return points


@leaf
def _track_points(t, player):
    points = 0
    for track in range(NUM_TRACKS):
        points += int(t.track_vp[track, player.track[track]])
    return points


@leaf
def _variety_points(t, player):
    """Points for a colony on every type of planet."""
    return int(t.vp_five_types) if _types_colonised(player) == NUM_TYPES else 0


@leaf
def _series_points(t, player):
    """Points for three colonies on planets of one type, given once."""
    return int(t.vp_three_of_a_type) if _most_of_a_type(player) >= 3 else 0


@leaf
def _mine_points(t, player):
    return int(t.vp_mine) * int(player.ships_on_mines)


@leaf
def _technology_points(t, player):
    return int(t.vp_max_technology) * _techs_at_least(player, MAX_LEVEL)


@leaf
def _medal_points(t, player):
    return int(t.vp_medal) * (int(player.medals[0]) + int(player.medals[1]))


@leaf
def _antimatter_points(t, player):
    return int(t.vp_antimatter) * _antimatter_on_planets(player)


@helper
def public_points(s, t, seat):
    """The points that everybody can see: every term but the objective."""
    player = s.player[seat]
    points = _antimatter_points(t, player) + _technology_points(t, player) + _medal_points(t, player)
    points += _track_points(t, player) + _mine_points(t, player)
    if player.colonies > 0:
        points += _variety_points(t, player) + _series_points(t, player) + _zone_points(t, player)
        points += _terraformed_points(s, t, player)
    return points


@helper
def write_score_sheet(s, t, seat):
    """Write the terms one by one, once the game is over."""
    player = s.player[seat]
    player.objectives_done = _satisfied_objectives(s, t, seat) == player.objectives
    sheet = player.score_sheet
    sheet[ANTIMATTER_TERM] = _antimatter_points(t, player)
    sheet[ALL_FIVE_TYPES_TERM] = _variety_points(t, player)
    sheet[THREE_OF_A_TYPE_TERM] = _series_points(t, player)
    sheet[MINES_TERM] = _mine_points(t, player)
    sheet[MAXIMUM_TECHNOLOGY_TERM] = _technology_points(t, player)
    sheet[MEDALS_TERM] = _medal_points(t, player)
    sheet[ZONES_TERM] = _zone_points(t, player)
    sheet[TRACKS_TERM] = _track_points(t, player)
    sheet[TERRAFORMED_PLANETS_TERM] = _terraformed_points(s, t, player)
    sheet[OBJECTIVE_TERM] = _objective_points(s, t, seat)


# ---------------------------------------------------------------- objectives


@leaf
def _terraformed_like(s, t, player, requirement, subject):
    """The number of terraformed planets of a type or in a zone."""
    count = 0
    for slot in colonies(player):
        number = int(player.slot[slot])
        place = int(s.planet_hex[number]) - 1
        is_like = t.planet[number].kind == subject
        if requirement == TERRAFORMED_ZONE:
            is_like = t.zone[place] == subject
        count += s.planet_terraformed[number] != 0 and is_like
    return count


@leaf
def _most_terraformed_of_a_type(s, t, player):
    most = 0
    for kind in range(NUM_TYPES):
        most = max(most, _terraformed_like(s, t, player, np.int64(TERRAFORMED_TYPE), np.int64(kind)))
    return most


@helper
def achieved(s, t, seat, requirement, subject):
    """How much of what an objective asks for a seat has."""
    player = s.player[seat]
    if player.colonies == 0 and requirement < TECHS_AT_LEVEL:
        return 0  # all of these are about colonies
    if requirement in (TERRAFORMED_TYPE, TERRAFORMED_ZONE):
        return _terraformed_like(s, t, player, requirement, subject)
    if requirement == COLONISED_ZONE:
        return int(player.colonies_in_zone[subject])
    if requirement == COLONISED_EACH_ZONE:
        fewest = int(player.colonies)
        for zone in range(NUM_ZONES):
            fewest = min(fewest, int(player.colonies_in_zone[zone]))
        return fewest
    if requirement == COLONISED_TYPE:
        return int(player.colonies_of_type[subject])
    if requirement == COLONISED_TYPES:
        return _types_colonised(player)
    if requirement == COLONISED_TOTAL:
        return int(player.colonies)
    if requirement == TERRAFORMED_TOTAL:
        return int(player.terraformed)
    if requirement == TERRAFORMED_SAME_TYPE:
        return _most_terraformed_of_a_type(s, t, player)
    if requirement == TECHS_AT_LEVEL:
        return _techs_at_least(player, subject)
    if requirement == ANTIMATTER_ON_PLANETS:
        return _antimatter_on_planets(player)
    return int(player.track[subject])


@leaf
def _satisfied_objectives(s, t, seat):
    """The required objectives that a seat satisfies now, as bits."""
    return _find_satisfied(s, t, np.int64(seat))


@helper
def _find_satisfied(s, t, seat):
    required = np.uint64(s.player[seat].objectives)
    done = np.uint64(0)
    for number in range(NUM_OBJECTIVES):
        if required >> np.uint64(number) & np.uint64(1):
            objective = t.objective[number]
            if achieved(s, t, seat, np.int64(objective.test), np.int64(objective.subject)) >= objective.count:
                done |= np.uint64(1) << np.uint64(number)
    return done


@helper
def _objective_points(s, t, seat):
    done = _satisfied_objectives(s, t, seat)
    points = 0
    for number in range(NUM_OBJECTIVES):
        if done >> np.uint64(number) & np.uint64(1):
            points += int(t.objective[number].vp)
    return points


# ---------------------------------------------------------------- results


@helper
def _score(s, t, seat):
    """The victory points, the objective included."""
    return public_points(s, t, seat) + _objective_points(s, t, seat)


scores = scores_of(_score)


@leaf
def _highest_terraformed(s, player):
    """The number that decides between equal points (R)."""
    highest = 0
    for slot in colonies(player):
        if s.planet_terraformed[player.slot[slot]]:
            highest = max(highest, int(player.slot[slot]))
    return highest


@helper
def _standing(s, t, seat):
    """The number that players are compared by: points, then the highest number of a terraformed planet (below 64)."""
    return 64 * _score(s, t, seat) + _highest_terraformed(s, s.player[seat])


ranks = ranks_by(_standing)


@leaf
def _has_succeeded(s, t):
    """Whether a solo game is won: all required objectives satisfied, and the minimum score reached (R)."""
    points = public_points(s, t, 0) + _objective_points(s, t, 0)
    return _satisfied_objectives(s, t, 0) == s.player[0].objectives and points >= t.minimum_score[s.level]


@helper
def returns(s, t, final_ranks, out):
    """Write the returns.

    Solo pays +1 for success and -1 for failure. Otherwise the ranks count, with ties shared, or winning alone.
    """
    n = int(s.num_players)
    if n == 1:
        out[0] = 1.0 if _has_succeeded(s, t) else -1.0
    elif s.win_loss:
        _share_by_winning(final_ranks, n, out)
    else:
        rank_returns(final_ranks, n, out)


@leaf
def _share_by_winning(final_ranks, n, out):
    """Share +1 equally among winners and -1 among losers. If all win, nobody gets anything."""
    winners = 0
    for seat in range(n):
        winners += final_ranks[seat] == 1
    for seat in range(n):
        if winners == n:
            out[seat] = 0.0
        else:
            out[seat] = 1 / winners if final_ranks[seat] == 1 else -1 / (n - winners)


@leaf
def _few_points(s, t):
    return FEW_POINTS


_potential_of_several = ahead_of_others(public_points, _few_points)


@helper
def potential(s, t, out):
    """Write the potential for shaping by public points. It is 0 once the game is over.

    Solo: coefficient x points with satisfied objectives / minimum score.
    """
    if s.end != RUNNING:
        for seat in range(int(s.num_players)):
            out[seat] = 0.0
    elif s.num_players == 1:
        own = public_points(s, t, 0) + _objective_points(s, t, 0)
        out[0] = s.shaping * own / t.minimum_score[s.level]
    else:
        _potential_of_several(s, t, out)
