"""Self-play with a pool of opponents: ``python -m agents.train ad_astra --seat pool``.

At every table the learner has one seat, a different one each game. Each other seat is played by one of these:

* the learner as it is, which also learns from this seat;
* an earlier snapshot of the learner: any of them, or those most likely to beat it (prioritised fictitious self-play:
  Vinyals et al. 2019, *Grandmaster level in StarCraft II using multi-agent reinforcement learning*, weight (1 - p)^2
  for a snapshot that the learner beats with probability p);
* a sparring partner: a bot by its spec, ``greedy``, ``mcts:100``, ``bc-v1``.

Who plays whom changes with every game. Only a few snapshots and partners, the *line-up*, play at a time, and each is
asked once per step for all its seats together. Everybody is rated while they play, by Bradley-Terry over all pairs of a
table (Weng and Lin 2011). openskill calls that ``BradleyTerryFull``; its ``PlackettLuce`` updates ties wrongly.

All this is in the environment and pickled with it, so that a run continues exactly. Bots loaded by name are not: they
start anew with every rollout.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from openskill.models import BradleyTerryFull

from agents.checkpoint import half_precision
from agents.joined_batch import JoinedBatch, JoinedBot
from agents.settings import PoolConfig
from kepler_envs.adapters.sb3 import PiecePolicy, SharedSeatVecEnv
from kepler_envs.bots.networks.checkpoint import plain_weights
from kepler_envs.engine.network import NetworkShape
from kepler_envs.engine.seeds import opponent_seeds
from kepler_envs.networks import PositionNetwork, draw, position_network

LEARNER = -1
"""The learner, where seats hold the number of a member."""

RATING = BradleyTerryFull(tau=0.0)
LEARNER_DRIFT = 25 / 300
"""How much less sure the learner's rating is before each game, because the learner changes; openskill's own tau. It is
a standard deviation, to which that of the rating is added in squares.

Members do not change.
"""
DECAY = 0.99
"""Weight that old results keep at each new one, as in AlphaStar: the learner they were won against is gone."""


# ---------------------------------------------------------------- members and their ratings


@dataclass
class Member:
    """The learner, a snapshot or a sparring partner, with what is known of its strength.

    Attributes:
        name: its spec, or the step it was taken at.
        weights: the network of a snapshot in float16, as NumPy stores arrays; empty for others, and once nobody plays
            it any more.
        steps: decisions of the learner when it joined.
        mu, sigma: rating and its uncertainty (openskill's scale: everybody begins at 25 +- 25/3).
        games: rated games.
        faced, beaten: games with the learner, and those in which the learner finished ahead; old ones fade.
    """

    name: str
    weights: bytes = b""
    steps: int = 0
    mu: float = RATING.mu
    sigma: float = RATING.sigma
    games: int = 0
    faced: float = 0.0
    beaten: float = 0.0

    @property
    def beaten_rate(self) -> float:
        """Probability that the learner finishes ahead; one half if nothing is known."""
        return self.beaten / self.faced if self.faced else 0.5


def rate_game(seats: Sequence[Member], ranks: Sequence[int]) -> None:
    """Update the ratings of those who played a game, from their ranks (1 is best, ties share one).

    A member on several seats gets the mean of what these seats would get.
    """
    teams = [[RATING.rating(mu=member.mu, sigma=member.sigma)] for member in seats]
    after = [team[0] for team in RATING.rate(teams, ranks=[float(rank) for rank in ranks])]
    for member in {id(member): member for member in seats}.values():
        own = [rating for rating, sitting in zip(after, seats, strict=True) if sitting is member]
        member.mu = float(np.mean([rating.mu for rating in own]))
        member.sigma = float(np.mean([rating.sigma for rating in own]))
        member.games += 1


def pfsp_weights(beaten_rates: Sequence[float]) -> np.ndarray:
    """How often to meet each opponent: (1 - p)^2, normalised; equally often if all are always beaten."""
    weights = (1 - np.asarray(beaten_rates, np.float64)) ** 2
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))


def most_crowded(steps: Sequence[int]) -> int:
    """Index of the ascending number, neither first nor last, that leaves the smallest gap when removed; the first
    such."""
    gaps = [steps[place + 1] - steps[place - 1] for place in range(1, len(steps) - 1)]
    return 1 + int(np.argmin(gaps))


# ---------------------------------------------------------------- the pool


class Pool:
    """Snapshots and sparring partners, and who of them plays next.

    Attributes:
        learner: the learner's rating.
        members: everybody who ever joined; a member's number is its place here.
        snapshots, partners: numbers of those that can be drawn.
        lineup: numbers of those that take seats in new games.
    """

    def __init__(self, config: PoolConfig, seed: int) -> None:
        self.config = config
        self.learner = Member("learner")
        self.members = [Member(spec) for spec in config.sparring]
        self.partners = list(range(len(self.members)))
        self.snapshots: list[int] = []
        self.lineup: list[int] = []
        self.rng = np.random.default_rng([seed, 0x900C])

    def add_snapshot(self, policy: PiecePolicy, steps: int) -> None:
        """Add the current learner to the pool. If there are too many snapshots, drop the one whose two neighbours are
        closest to each other."""
        learner = self.learner
        self.snapshots.append(len(self.members))
        self.members.append(Member(f"step {steps}", half_precision(policy), steps, learner.mu, learner.sigma))
        if len(self.snapshots) > self.config.snapshots:
            del self.snapshots[most_crowded([self.members[number].steps for number in self.snapshots])]

    def change_lineup(self) -> None:
        """Draw the whole line-up, or replace the member that has been in it longest."""
        if self._frozen_share() == 0:
            return
        self.lineup = self.lineup[1:] if len(self.lineup) == self.config.lineup else self.lineup
        while len(self.lineup) < self.config.lineup:
            self.lineup.append(self._draw_member())

    def _shares(self) -> dict[str, float]:
        """The shares of the kinds of members that can be drawn now."""
        config = self.config
        shares = {"past": config.past, "pfsp": config.pfsp} if self.snapshots else {}
        return {**shares, "sparring": config.sparring_share} if self.partners else shares

    def _frozen_share(self) -> float:
        """How often a member plays a seat. What cannot be drawn yet falls to the learner."""
        return sum(self._shares().values()) / self.config.total

    def _draw_member(self) -> int:
        shares = self._shares()
        way = str(self.rng.choice(list(shares), p=np.array(list(shares.values())) / sum(shares.values())))
        if way == "sparring":
            return int(self.rng.choice(self.partners))
        rates = [self.members[number].beaten_rate for number in self.snapshots]
        return int(self.rng.choice(self.snapshots, p=pfsp_weights(rates) if way == "pfsp" else None))

    def seat_game(self, players: int, learner_seat: int) -> np.ndarray:
        """Players of a new game: (players,) numbers of members, or LEARNER."""
        seated = np.full(players, LEARNER)
        if self.lineup:
            frozen = self.rng.random(players) < self._frozen_share()
            seated[frozen] = self.rng.choice(self.lineup, int(frozen.sum()))
        seated[learner_seat] = LEARNER
        return seated

    def book(self, seated: np.ndarray, ranks: np.ndarray) -> None:
        """Update all ratings from the ranks (players,) of a game, and count it between the learner and the others."""
        if (seated == LEARNER).all():
            return
        learner = self.learner
        learner.sigma = float(np.hypot(learner.sigma, LEARNER_DRIFT))
        rate_game([learner if number == LEARNER else self.members[number] for number in seated], ranks.tolist())
        own = ranks[seated == LEARNER]
        for number in np.unique(seated[seated != LEARNER]):
            member, its = self.members[number], ranks[seated == number][:, None]
            member.faced = DECAY * member.faced + 1
            member.beaten = DECAY * member.beaten + float(np.mean((own < its) + 0.5 * (own == its)))

    def forget(self, seated: np.ndarray) -> None:
        """Drop the networks of snapshots that are neither drawn nor playing any more. Their ratings stay."""
        needed = {*self.snapshots, *self.lineup, *np.unique(seated).tolist()}
        for number, member in enumerate(self.members):
            if number not in needed:
                member.weights = b""

    # ------------------------------------------------------------ what people look at

    def table(self) -> list[dict[str, Any]]:
        """A line for the learner and each member, best first."""
        drawn = {*self.snapshots, *self.partners}
        numbered = [(LEARNER, self.learner), *enumerate(self.members)]
        lines = [
            {
                "member": member.name,
                "steps": member.steps,
                "rating": round(member.mu, 3),
                "uncertainty": round(member.sigma, 3),
                "games": member.games,
                "learner_ahead": "" if number == LEARNER or not member.games else round(member.beaten_rate, 4),
                "drawn": number in drawn,
            }
            for number, member in numbered
        ]
        return sorted(lines, key=lambda line: -line["rating"])

    def summary(self) -> str:
        """The ratings of the learner, the partners and the best snapshot, in words."""
        rated = [self.members[number] for number in self.snapshots if self.members[number].games]
        best = max(rated, key=lambda member: member.mu, default=None)
        shown = [self.learner, *(self.members[number] for number in self.partners), *([best] if best else [])]
        ratings = ", ".join(f"{member.name} {member.mu:.1f} +- {2 * member.sigma:.1f}" for member in shown)
        return f"ratings: {ratings} (best of {len(rated)})" if best else f"ratings: {ratings}"


# ---------------------------------------------------------------- the games


class PoolVecEnv(SharedSeatVecEnv):
    """Games in which the learner plays some seats, and members of a pool the others.

    Args:
        batch: the games.
        pool: who else plays. network: the network of its snapshots.

    Attributes:
        seated: int64 (N, P), who plays each seat: the number of a member, or LEARNER.
        opponent_seconds: time spent on the choices of members so far.
    """

    def __init__(self, batch: JoinedBatch, pool: Pool, network: NetworkShape) -> None:
        super().__init__(batch, JoinedBot(network.over, batch) if network.over else None)
        self.pool = pool
        self.network = network
        self.seated = np.full((batch.num_envs, batch.num_players), LEARNER)
        self.opponent_seconds = 0.0
        self._rollouts = 0
        self._seen = np.empty(0, np.int16)
        self._players: dict[int, PositionNetwork | JoinedBot] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_players": {}}

    def load_partners(self) -> None:
        """Load the sparring partners now, so that errors show before any training."""
        for number in self.pool.partners:
            self._player(number)

    @property
    def learning(self) -> np.ndarray:
        return self._sitting() == LEARNER

    def _sitting(self) -> np.ndarray:
        """int64 (N,): who is to move in each game."""
        return self.seated[self._rows, self.batch.seat]

    def begin_rollout(self) -> None:
        """Draw a new line-up. Bots loaded by name start anew in the running games."""
        pool = self.pool
        pool.change_lineup()
        pool.forget(self.seated)
        playing = {*pool.lineup, *np.unique(self.seated).tolist()}
        playing.update(pool.partners)
        self._players = {number: player for number, player in self._players.items() if number in playing}
        self._rollouts += 1
        self._start(self._rows, np.uint64(self._rollouts))

    def _observe(self) -> np.ndarray:
        """What the seats to move see. It is kept for those that are asked next, so that a bot below is asked once."""
        self._seen = super()._observe()
        return self._seen

    def reset(self) -> np.ndarray:
        observation = super().reset()
        self._seat(self._rows)
        return observation

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        result = super().step_wait()
        ended = np.flatnonzero(result[2])
        if len(ended):
            ranks = self.batch.final_rank
            for row in ended:
                players = self.batch.players[row]
                self.pool.book(self.seated[row, :players], ranks[row, :players])
            self._seat(ended)
        return result

    def _seat(self, rows: np.ndarray) -> None:
        """Choose who plays the games that begin in these rows."""
        episodes = self.batch.episodes
        for row in rows:
            players = int(self.batch.players[row])
            learner_seat = int(row + episodes[row]) % players
            self.seated[row, :players] = self.pool.seat_game(players, learner_seat)
        self._start(rows, np.uint64(0))

    def _start(self, rows: np.ndarray, salt: np.uint64) -> None:
        """Start the sparring partners that play in these rows."""
        seeds = opponent_seeds(self.batch.seed[rows] + salt)
        for number in self.pool.partners:
            its = (self.seated[rows] == number).any(1)
            if its.any():
                self._player(number).start(rows[its], seeds[its])

    def others_choose(self, actions: np.ndarray) -> np.ndarray:
        began = time.perf_counter()
        sitting = self._sitting()
        others = np.unique(sitting[sitting != LEARNER])
        if len(others):
            actions = actions.copy()
            seen, masks = self._seen, self.batch.action_mask
            for number in others:
                asked = np.flatnonzero(sitting == number)
                player = self._player(number)
                if isinstance(player, JoinedBot):
                    actions[asked] = player(self.batch, asked)
                else:
                    actions[asked] = self._sample(player, seen[asked], masks[asked])
        self.opponent_seconds += time.perf_counter() - began
        return actions

    def _sample(self, network: PositionNetwork, seen: np.ndarray, masks: np.ndarray) -> np.ndarray:
        priors, _ = network(seen, masks)
        return draw(priors, self.pool.rng.random(len(seen)))

    def _player(self, number: int) -> Any:
        """What plays for a member: a network or a bot."""
        if number not in self._players:
            member = self.pool.members[number]
            if number in self.pool.partners:
                self._players[number] = JoinedBot(member.name, self.batch)
            else:
                inputs = self.network.inputs(self.batch.config)
                self._players[number] = position_network(inputs, plain_weights(member.weights))
        return self._players[number]
