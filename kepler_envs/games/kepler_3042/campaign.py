"""Solo campaigns: four levels one after the other, with bonus cubes carried from each to the next.

For example::

    campaign = Campaign.begin("Sons of Progress")
    config = campaign.configuration()          # of the level to play now, an ordinary configuration for one player
    ...                                        # play it, with any seed, to its end
    campaign.record(snapshot, seed)            # the final position: the next level, or the same once more
    campaign.save("progress.json")             # and Campaign.load("progress.json") continues from there
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from kepler_envs.engine.checks import check_type, is_integer
from kepler_envs.engine.components import names
from kepler_envs.engine.game import ComponentError, Configuration
from kepler_envs.engine.seeds import check_seed
from kepler_envs.engine.snapshot import Snapshot
from kepler_envs.files import write_atomically
from kepler_envs.games.kepler_3042 import GAME
from kepler_envs.games.kepler_3042.components import load_components
from kepler_envs.games.kepler_3042.state import NUM_LEVELS

FORMAT = "kepler-campaign-1"


class CampaignError(ValueError):
    """There is no such campaign, a position does not belong to the level, or a file cannot be read.

    The message says which.
    """


@dataclass(frozen=True)
class Attempt:
    """A level that was played.

    ``score`` is in VP. ``objectives_done`` tells whether all required objectives were satisfied.
    """

    level: int
    bonus: int
    seed: int
    score: int
    objectives_done: bool
    success: bool
    decisions: int


@dataclass
class Campaign:
    """The progress of a campaign.

    Attributes:
        number: the number of the campaign, 0..4, as in the game's option ``campaign``.
        level: the level to play next, 1..4. It stays at the last one once ``completed``.
        bonus: the bonus cubes at the start of that level.
        completed: whether all four levels are won.
        attempts: everything played so far.
        solo_planets: 18 or 20, as in the option of that name.
        components: the component file, or None for the game's own.
        cards: the digest of the component tables that it was begun with.
    """

    number: int
    level: int = 1
    bonus: int = 0
    completed: bool = False
    attempts: list[Attempt] = field(default_factory=list)
    solo_planets: int = 18
    components: Path | None = None
    cards: str = ""

    @classmethod
    def begin(cls, name: str | int, solo_planets: int = 18, components: str | Path | None = None) -> Campaign:
        """Start a campaign at its first level. ``name`` is its number, its name or a part of the name.

        Raises:
            CampaignError: there is no such campaign; the message names all.
            OptionError: ``solo_planets`` is not allowed, or ``components`` is no path.
            ComponentError: the component file is wrong.
        """
        config = GAME.configure(1, components, solo_planets=solo_planets)
        return cls(
            find_campaign(name, config.components), solo_planets=config.values["solo_planets"],
            components=config.components, cards=config.components_digest,
        )  # fmt: skip

    @property
    def name(self) -> str:
        return campaign_names(self.components)[self.number]

    @property
    def minimum(self) -> int:
        """The least points that win the level to play now."""
        return int(self.configuration().tables[0]["minimum_score"][self.level])

    def configuration(self) -> Configuration:
        """The configuration of the level to play now."""
        return GAME.configure(
            1, self.components, campaign=self.number, level=self.level, bonus=self.bonus, solo_planets=self.solo_planets
        )

    def record(self, last: Snapshot, seed: int) -> Attempt:
        """Record the result of a level. After success the next level follows, after failure the same one again.

        Args:
            last: the final position.
            seed: the seed it was dealt from.

        Raises:
            CampaignError: the campaign is completed, the game is not over, or it belongs to another level.
            TypeError: ``last`` is no snapshot.
            ValueError: the seed is not an integer 0 .. 2**64 - 1.
        """
        check_type("last", last, Snapshot, "Snapshot.deal begins a game")
        seed = check_seed(seed)
        if self.completed:
            raise CampaignError(f"the campaign {self.name} is completed")
        if not last.over:
            raise CampaignError("the game is not over yet")
        if last.config.digest != self.configuration().digest:
            raise CampaignError(f"the game is {last.config.describe()}, the level is {self.configuration().describe()}")
        info = last.config.game.info(last.state, last.config.tables[0], 0)
        attempt = Attempt(
            self.level, self.bonus, seed, info["final_vp"], info["objective_done"], info["success"],
            int(last.state["decisions"]),
        )  # fmt: skip
        self.attempts.append(attempt)
        self.completed = attempt.success and self.level == NUM_LEVELS
        if not self.completed:
            self.level, self.bonus = info["next_level"], info["next_bonus"]
        return attempt

    # ------------------------------------------------------------ the file

    def save(self, path: str | Path) -> None:
        """Write the progress as JSON. An interrupted write leaves the file as it was."""
        written = {"format": FORMAT, "name": self.name, **asdict(self)}
        written["components"] = None if self.components is None else str(self.components)
        write_atomically(Path(path), (json.dumps(written, indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> Campaign:
        """Read the progress that :meth:`save` wrote. Raises CampaignError if the file holds none."""
        try:
            found = json.loads(Path(path).read_text(encoding="utf-8"))
        except RecursionError:
            raise CampaignError(f"{path}: cannot be read: nested too deeply") from None
        except (OSError, ValueError) as problem:  # no UTF-8, no JSON, or integers with thousands of digits
            raise CampaignError(f"{path}: cannot be read: {problem}") from problem
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise CampaignError(f"{path}: no campaign's progress (format {FORMAT})")
        try:
            campaign = cls._from(found)
            campaign._check_cards()
        except ValueError as problem:
            raise CampaignError(f"{path}: {problem}") from problem
        return campaign

    def _check_cards(self) -> None:
        """Raise ValueError if a component file of one's own has changed since, or cannot be read."""
        try:
            digest = self.configuration().components_digest
        except ComponentError as problem:
            raise ValueError(
                f"{problem}; the campaign was begun with this file: put it back, or begin anew in another file"
            ) from problem
        if digest != self.cards and self.components is not None:
            raise ValueError(
                f"{self.components} has other cards than the campaign was begun with; take those, or begin anew in "
                "another file"
            )

    @classmethod
    def _from(cls, found: Mapping[str, Any]) -> Campaign:
        attempts = _of_type(found, "attempts", list)
        components = None if found.get("components", "") is None else Path(_of_type(found, "components", str, PATH))
        return cls(
            **{name: _of_type(found, name, kind) for name, kind in PROGRESS.items()},
            attempts=[_attempt(attempt) for attempt in attempts],
            components=components,
            cards=_of_type(found, "cards", str),
        )


PROGRESS = {"number": int, "level": int, "bonus": int, "completed": bool, "solo_planets": int}
ATTEMPT = get_type_hints(Attempt)
WANTED = {bool: "true or false", int: "an integer", list: "a list", str: "a text"}
PATH = "a path or null"


def _attempt(found: Any) -> Attempt:
    if not isinstance(found, dict):
        raise ValueError(f"an attempt is {found!r}; it must have {', '.join(ATTEMPT)}")
    if set(found) != set(ATTEMPT):
        raise ValueError(f"an attempt has {', '.join(found)}; it must have {', '.join(ATTEMPT)}")
    return Attempt(**{name: _of_type(found, name, kind) for name, kind in ATTEMPT.items()})


def _of_type(found: Mapping[str, Any], name: str, kind: type, wanted: str = "") -> Any:
    if name not in found:
        raise ValueError(f"{name} is missing; it must be {wanted or WANTED[kind]}")
    if type(found[name]) is not kind:
        raise ValueError(f"{name} is {found[name]!r}; it must be {wanted or WANTED[kind]}")
    return found[name]


def campaign_names(components: Path | None = None) -> tuple[str, ...]:
    """The names of the five campaigns, by number."""
    return names(load_components(components)[0]["campaign_name"])


def find_campaign(name: str | int, components: Path | None = None) -> int:
    """The number of a campaign from its name, its number, or a part of the name that no other has, in this order."""
    all_names = campaign_names(components)
    readings = list(_readings(name, all_names))
    for found in readings:
        if len(found) == 1:
            return found[0]
    problem = f"{name!r} may mean several campaigns" if any(readings) else f"no campaign {name!r}"
    offered = ", ".join(f"{number} {full}" for number, full in enumerate(all_names))
    raise CampaignError(f"{problem}; there are: {offered}")


def _readings(name: str | int, all_names: Sequence[str]) -> Iterator[list[int]]:
    """The campaigns that ``name`` may mean, the most exact reading first. An integer is always a number."""
    numbers, text = range(len(all_names)), str(name)
    if is_integer(name):
        yield [number for number in numbers if number == name]
        return
    yield [number for number in numbers if all_names[number] == text]
    yield [number for number in numbers if all_names[number].casefold() == text.casefold()]
    yield [number for number in numbers if str(number) == text]
    part = plain_name(text)
    yield [number for number in numbers if part and part in plain_name(all_names[number])]


def plain_name(name: str) -> str:
    """Letters and digits of any script, with words joined by underscores, as in file names and on the command line."""
    return re.sub(r"[\W_]+", "_", name.casefold()).strip("_")
