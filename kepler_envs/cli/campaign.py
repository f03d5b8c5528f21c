"""``kepler-envs campaign``: the solo campaigns of Kepler-3042, level by level."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from tyro.conf import Positional, arg

from kepler_envs.cli.codes import INTERRUPTED
from kepler_envs.cli.common import UsageError, check_target, choose_seed, optional
from kepler_envs.cli.match import Match
from kepler_envs.cli.play import converse
from kepler_envs.engine.seeds import following_seed
from kepler_envs.files import alone_with
from kepler_envs.printable import counted
from kepler_envs.terminal import grid, say, termination_interrupts
from kepler_envs.web.tables import PERSON

if TYPE_CHECKING:
    from kepler_envs.games.kepler_3042.campaign import Campaign


@dataclass(frozen=True)
class PlayCampaign:
    """Play a solo campaign of Kepler-3042. Bonus cubes carry over from each of its four levels to the next."""

    name: Annotated[Positional[str], arg(metavar="NAME")]
    """The campaign: its name, part of its name, or its number 0..4."""
    file: Annotated[Path | None, optional(metavar="FILE")] = None
    """File that keeps your progress. NAME.json in the current folder if left out. An existing campaign continues."""
    agent: Annotated[str, arg(metavar="AGENT")] = PERSON
    """Who plays: you, or an agent (uniform, greedy, mcts:1000, net:PATH)."""
    games: Annotated[int, arg(metavar="N")] = 1
    """Number of games to play at most. A lost level is tried again."""
    seed: Annotated[int | None, optional(metavar="SEED")] = None
    """Seed of the first deal. Other games use the seeds that follow it, and none that was played. Drawn if left out."""
    solo_planets: Annotated[int | None, optional(metavar="N")] = None
    """Number of planets on the map in a new campaign: 18 (if left out) or 20."""
    components: Annotated[Path | None, optional(metavar="FILE")] = None
    """Your own component file for a new campaign."""

    def run(self, console: Console) -> int:
        from kepler_envs.games.kepler_3042.campaign import CampaignError

        if self.games < 1:
            raise UsageError(f"--games {self.games} is not allowed; allowed: an integer from 1 on")
        try:
            path = self.file or self._usual_file()
            check_target(path)
            taken = UsageError(f"another process plays the campaign in {path}: wait for it, or name another --file")
            with alone_with(path, taken):  # each would write over the games of the other
                campaign = self._continued(path) if path.exists() else self._new()
                return self._go_on(console, campaign, path)
        except CampaignError as problem:
            raise UsageError(str(problem)) from problem

    def _go_on(self, console: Console, campaign: Campaign, path: Path) -> int:
        seed = choose_seed(self.seed)
        try:
            with termination_interrupts():
                self._play(console, campaign, seed, path)
        except KeyboardInterrupt:
            kept = f"{counted(len(campaign.attempts), 'game')} kept in {path}" if campaign.attempts else "no game kept"
            say(console, f"\nStopped; {kept}. The same command goes on.")
            return INTERRUPTED
        self._print(console, campaign)
        if campaign.attempts:
            say(console, f"Progress: {path}")
        return 0

    def _new(self) -> Campaign:
        from kepler_envs.games.kepler_3042.campaign import Campaign

        return Campaign.begin(self.name, 18 if self.solo_planets is None else self.solo_planets, self.components)

    def _usual_file(self) -> Path:
        """The file with the campaign's whole name, without what could lead out of the current folder: component files
        are often somebody else's."""
        from kepler_envs.games.kepler_3042.campaign import CampaignError, plain_name

        try:
            campaign = self._new()
        except CampaignError:
            typed = plain_name(self.name)  # as it may be called in a component file that the campaign was begun with
            if self.components is None and typed and _file_of(typed).exists():
                return _file_of(typed)
            raise
        return _file_of(plain_name(campaign.name) or str(campaign.number))

    def _continued(self, path: Path) -> Campaign:
        """The campaign in a file. What it was begun with stays."""
        from kepler_envs.games.kepler_3042.campaign import Campaign, find_campaign

        campaign = Campaign.load(path)
        if find_campaign(self.name, campaign.components) != campaign.number:
            raise UsageError(f"{path} holds the campaign {campaign.name}; name another --file")
        if self.solo_planets not in (None, campaign.solo_planets):
            raise UsageError(
                f"the campaign in {path} has {campaign.solo_planets} planets; leave --solo-planets out, or name "
                "another --file"
            )
        used = campaign.components
        if self.components is not None and (used is None or used.resolve() != self.components.resolve()):
            raise UsageError(
                f"the campaign in {path} was begun with {used or 'the component file of the game'}; leave --components "
                "out, or name another --file"
            )
        return campaign

    def _play(self, console: Console, campaign: Campaign, seed: int, path: Path) -> None:
        """Play the games asked for, and keep each. No deal comes twice."""
        for _ in range(self.games):
            while any(attempt.seed == seed for attempt in campaign.attempts):
                seed = following_seed(seed)
            if campaign.completed or not self._play_level(console, campaign, seed):
                break
            campaign.save(path)

    def _play_level(self, console: Console, campaign: Campaign, seed: int) -> bool:
        """One game; False if the person has left it."""
        minimum = campaign.minimum
        level = f"{campaign.name}, level {campaign.level}"
        bonus, least = counted(campaign.bonus, "bonus cube"), counted(minimum, "point")
        say(console, f"{level}, {bonus}, minimum {least}")
        with console.status("setting up (compiling, the first time) ..."):
            match = Match(campaign.configuration(), seed, {} if self.agent == PERSON else {0: self.agent})
        if self.agent == PERSON:
            if not converse(console, match, [0]):
                return False
        else:
            while not match.over:
                match.let_bot_decide()
        attempt = campaign.record(match.position, seed)
        lacking = f" (minimum {minimum})" if attempt.score < minimum else ""
        objectives = "all objectives" if attempt.objectives_done else "not all objectives"
        result = "won" if attempt.success else "lost"
        say(console, f"  {counted(attempt.score, 'point')}{lacking}, {objectives}: {result}")
        return True

    def _print(self, console: Console, campaign: Campaign) -> None:
        rows = [
            (
                one.level,
                one.bonus,
                one.seed,
                one.score,
                "yes" if one.objectives_done else "no",
                "won" if one.success else "lost",
            )
            for one in campaign.attempts
        ]
        console.print()
        columns = ("level", "bonus cubes", "seed", "points", "objectives", "result")
        console.print(grid(campaign.name, columns, rows, right=("level", "bonus cubes", "seed", "points")))
        if campaign.completed:
            say(console, "The campaign is completed.")
        else:
            say(console, f"Next: level {campaign.level} with {counted(campaign.bonus, 'bonus cube')}.")


def _file_of(word: str) -> Path:
    return Path(f"{word}.json")
