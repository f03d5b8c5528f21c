"""Action ids: blocks of consecutive ids with a name, an argument and a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kepler_envs.engine.checks import check_integer


@dataclass(frozen=True)
class Block:
    """``count`` ids from ``first`` on; ``text`` holds ``{}`` where the argument's label goes."""

    name: str
    first: int
    count: int
    text: str
    argument: str = ""
    labels: tuple[str, ...] = ()

    @property
    def ids(self) -> range:
        return range(self.first, self.first + self.count)

    def sentence(self, action: int) -> str:
        return self.text.format(self.labels[action - self.first]) if self.labels else self.text


class ActionSet:
    """All blocks of a game: ``len()`` is the size of its Discrete space.

    Texts are unique and lead back to their id (``text``, ``id_of``); blocks must be in order without gaps.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self.blocks = tuple(blocks)
        self._texts: list[str] = []
        for block in self.blocks:
            if block.first != len(self._texts):
                raise ValueError(f"block {block.name} starts at {block.first}, not at {len(self._texts)}")
            if block.labels and len(block.labels) != block.count:
                raise ValueError(f"block {block.name}: {block.count} ids but {len(block.labels)} labels")
            self._texts += [block.sentence(action) for action in block.ids]
        self._ids = {text: action for action, text in enumerate(self._texts)}
        if len(self._ids) != len(self._texts):
            twice = {text for text in self._texts if self._texts.count(text) > 1}
            raise ValueError(f"texts that stand for several ids: {sorted(twice)}")

    def __len__(self) -> int:
        return len(self._texts)

    def text(self, action: int) -> str:
        """What action ``action`` does, in words; ValueError outside the space."""
        return self._texts[check_integer("action", action, 0, len(self) - 1)]

    def id_of(self, text: str) -> int:
        """The id with that text; KeyError if there is none."""
        try:
            return self._ids[text]
        except KeyError:
            raise KeyError(f"no action reads {text!r}") from None

    def block_of(self, action: int) -> Block:
        """The block an id belongs to."""
        self.text(action)
        return next(block for block in self.blocks if action in block.ids)
