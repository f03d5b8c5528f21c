"""The network of ``engine/network.py`` in PyTorch, for training. It answers as its compiled copy in ``networks`` does.

Everything is computed for whole minibatches. Rows of fixed tables, and what rows add to logits, are computed only where
legal actions point at them, and joins only for the references that are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch as th
from torch import nn
from torch.nn import functional as F

from kepler_envs.engine.inputs import TableInputs
from kepler_envs.engine.network import NetworkInputs
from kepler_envs.engine.observation import COUNT, REFERENCE

ILLEGAL = -1e8
"""The logit of an action that is not legal."""
FOLLOWED = 4.0
"""What an untrained network over a bot adds to the logit of the bot's choice. With ten legal actions, it follows the
bot six times out of seven."""

Arrays = Mapping[str, th.Tensor]


class _Room(nn.Module):
    """Holds arrays whose names a module also has for methods, such as ``to``."""


def _furnish(module: nn.Module, name: str, size: tuple[int, ...]) -> None:
    *rooms, last = name.split(".")
    for room in rooms:
        module = module._modules.setdefault(room, _Room())
    module._parameters[last] = nn.Parameter(th.zeros(size))


def _keep(module: nn.Module, name: str, values: np.ndarray) -> None:
    """Keep constants that follow the module to its device. They are made from the layout, so they are not saved."""
    module.register_buffer(name, th.as_tensor(values), persistent=False)


# ---------------------------------------------------------------- inputs


class RowInputs(nn.Module):
    """Turns observations into the inputs of all rows.

    It does what :meth:`~kepler_envs.engine.inputs.TableInputs.encode` does, but for all tables at once.

    Each entry becomes one number at a place of its own (a count becomes two), or a 1 at the place of its label. All
    other inputs are 0.
    """

    def __init__(self, inputs: NetworkInputs) -> None:
        super().__init__()
        self.tables = {name: one for name, one in inputs.tables.items() if one.entries is not None}
        self.size = sum(one.rows * one.size for one in self.tables.values())
        entries = inputs.layout.size
        start, before, stride = (np.zeros(entries, np.int64) for _ in range(3))
        one_hot, scale = np.zeros(entries, np.int64), np.zeros(entries, np.float32)
        counts, references = np.zeros(entries, np.bool_), np.zeros(entries, np.bool_)
        first = 0
        for table in self.tables.values():
            where = table.entries
            before[where], stride[where] = first, table.rows * table.size
            for column, one in enumerate(table.inputs):
                at = where[:, column]
                start[at] = np.arange(table.rows) * table.size + one.first - (one.low if one.one_hot else 0)
                one_hot[at], scale[at] = one.one_hot, 0 if one.one_hot else one.inverse_scale
                counts[at], references[at] = one.kind == COUNT, one.kind == REFERENCE and not one.one_hot
            first += table.rows * table.size
        for name, values in (
            ("start", start), ("before", before), ("stride", stride), ("one_hot", one_hot), ("scale", scale),
            ("counts", np.flatnonzero(counts)), ("references", np.flatnonzero(references)),
        ):  # fmt: skip
            _keep(self, name, values)
        self._places = th.zeros(0, 0, dtype=th.int64)

    def forward(self, x: th.Tensor) -> dict[str, th.Tensor]:
        """Observations int16 (N, D) -> float (N, rows * size) by table."""
        games, places = len(x), self._places_of(len(x))
        numbers = x.to(self.scale.dtype)
        values = th.addcmul(self.one_hot.to(numbers.dtype), numbers, self.scale)
        if self.references.numel():
            values[:, self.references] = values[:, self.references].clamp(max=1)
        out = numbers.new_zeros(games * self.size)
        out.scatter_(0, th.addcmul(places, x.long(), self.one_hot).view(-1), values.view(-1))
        if self.counts.numel():
            signs = numbers.index_select(1, self.counts).sign()
            out.scatter_(0, (places.index_select(1, self.counts) + 1).view(-1), signs.view(-1))
        found, first = {}, 0
        for name, table in self.tables.items():
            size = games * table.rows * table.size
            found[name] = out[first : first + size].view(games, table.rows * table.size)
            first += size
        return found

    def _places_of(self, games: int) -> th.Tensor:
        """Where the inputs of each entry begin, (N, D). They are kept for the next minibatch of the same size."""
        if self._places.shape != (games, len(self.start)) or self._places.device != self.start.device:
            rows = th.arange(games, device=self.start.device).unsqueeze(1)
            self._places = self.start + games * self.before + rows * self.stride
        return self._places


# ---------------------------------------------------------------- the network


class _Seen(NamedTuple):
    """The references that are there in a minibatch: the rows that have them, and the rows they refer to."""

    game: th.Tensor
    row: th.Tensor
    to: th.Tensor


class _Pointed(NamedTuple):
    """The rows of a fixed table that legal actions point at, each once."""

    game: th.Tensor
    row: th.Tensor
    number: th.Tensor
    """(N * rows,), the place of each row among them, -1 if nothing points at it."""


class PieceNetwork(nn.Module):
    """The network that :mod:`kepler_envs.engine.network` describes. Its ``state_dict`` has exactly the arrays named
    there.

    Args:
        inputs: the tables, references and actions that it deals with.
    """

    def __init__(self, inputs: NetworkInputs) -> None:
        super().__init__()
        self.inputs = inputs
        self.rows_in = RowInputs(inputs)
        for name, size in inputs.expected_shapes().items():
            _furnish(self, name, size)
        self._plan_joins()
        self._plan_heads()
        self.reset_parameters()

    @property
    def device(self) -> th.device:
        """The device that holds its weights."""
        return next(self.parameters()).device

    # ------------------------------------------------------------ what is needed

    def _plan_joins(self) -> None:
        tables, pointers = self.inputs.tables, self.inputs.actions.pointers
        pointed = pointers.tables if self.inputs.heads else ()
        self._said_of = [name for name in self.inputs.rows_of if name in self.inputs.pooled or name in pointed]
        self._joins = [
            join for join in self.inputs.joins if join.table in self._said_of or join.of in self._said_of
        ]  # other joins change nothing
        for number, join in enumerate(self._joins):
            table, columns = tables[join.table], list(join.columns)
            if table.entries is not None:
                _keep(self, f"references_{number}", table.entries[:, columns].ravel())
            else:
                _keep(self, f"references_{number}", table.values[:, columns].astype(np.int64))
        self._fixed = [name for name, table in tables.items() if table.entries is None]
        for number, name in enumerate(self._fixed):
            _keep(self, f"fixed_{number}", tables[name].encode(tables[name].values))

    def _plan_heads(self) -> None:
        pointers, heads = self.inputs.actions.pointers, self.inputs.heads
        names = [name for name, _ in heads]
        head = [names.index(block.name) if block.name in names else -1 for block in self.inputs.actions.blocks]
        _keep(self, "head_of", np.array(head)[pointers.block])
        _keep(self, "table_of", pointers.table)
        _keep(self, "row_of", pointers.row)

    @th.no_grad()
    def reset_parameters(self) -> None:
        """Start anew. Layers with relu begin as in He et al. 2015, and logits and values begin close to 0."""
        tables, shape = self.inputs.tables, self.inputs.shape
        entries = max(1, self.inputs.layout.size)
        for name, weights in self.named_parameters():
            kind, last = name.split(".")[0], name.rsplit(".", 1)[1]
            if name == "follow.bias":
                weights.fill_(FOLLOWED)
            elif last == "bias":
                weights.zero_()
            elif last == "flat":
                weights.normal_(0, (1 / entries) ** 0.5)
            elif last == "pool":
                weights.normal_(0, (1 / (shape.rows * len(self.inputs.pooled))) ** 0.5)
            elif last == "encoder":
                weights.normal_(0, (1 / len(tables[name.split(".")[1]].inputs)) ** 0.5)
            elif last == "row":
                weights.normal_(0, 0.3)
            elif kind == "joins":
                weights.normal_(0, 0.3 * (1 / (len(self.inputs.joins) + len(weights) ** 0.5)) ** 0.5)
            elif kind in ("policy", "value"):
                weights.normal_(0, (2 / weights.shape[1]) ** 0.5)
            elif last == "context":
                weights.normal_(0, (1 / weights.shape[1]) ** 0.5)
            elif last == "axes":
                weights.normal_(0, 0.3).add_(1)
            elif last == "out":
                weights.normal_(0, 0.1 * shape.rows**-0.5)
            else:  # actions, values, and how far a bot is followed
                weights.normal_(0, 0.1 * weights.shape[1] ** -0.5)

    # ------------------------------------------------------------ forward

    def forward(self, observations: th.Tensor, masks: th.Tensor | None = None) -> tuple[th.Tensor, th.Tensor]:
        """Judge positions.

        Args:
            observations: int16 (N, D), what the seats to move see. Over a bot, the last entry of each is that bot's
                choice.
            masks: bool (N, A), what they may do. None allows everything.

        Returns:
            Log-probabilities (N, A), and the returns (N, P) that it expects for all seats, the observing one first.
        """
        arrays, games = dict(self.named_parameters()), len(observations)
        inputs = self.rows_in(observations)
        first = arrays["first.bias"].expand(games, -1)
        for name, numbers in inputs.items():
            first = th.addmm(first, numbers, arrays[f"tables.{name}.flat"])
        action_game = action = pointed = None
        said: dict[str, th.Tensor] = {}
        if self.inputs.rows_of:
            action_game, action = self._pointing(games, masks)
            pointed = self._rows_pointed_at(games, action_game, action)
            said = self._rows(arrays, inputs, observations, pointed)
        if self.inputs.pooled:
            means = [
                F.relu(said[name]).view(games, self.inputs.tables[name].rows, self.inputs.shape.rows).mean(1)
                for name in self.inputs.pooled
            ]
            first = th.addmm(
                first, th.cat(means, 1), th.cat([arrays[f"tables.{name}.pool"] for name in self.inputs.pooled])
            )
        first = F.relu(first)
        context, value = (self._layers(arrays, side, first) for side in ("policy", "value"))
        logits = F.linear(context, arrays["actions.weight"], arrays["actions.bias"])
        if self.inputs.heads and len(action):
            by_rows = self._by_rows(arrays, context, said, pointed, action_game, action)
            places = action_game * logits.shape[1] + action
            logits = logits + logits.new_zeros(logits.numel()).scatter(0, places, by_rows).view_as(logits)
        if self.inputs.shape.over:
            better = F.linear(context, arrays["follow.weight"], arrays["follow.bias"])
            logits = logits.scatter_add(1, observations[:, -1:].long(), better)
        if masks is not None:
            logits = logits.masked_fill(~masks, ILLEGAL)
        return F.log_softmax(logits, 1), F.linear(value, arrays["values.weight"], arrays["values.bias"])

    def _layers(self, arrays: Arrays, side: str, x: th.Tensor) -> th.Tensor:
        for number in range(len(self.inputs.shape.hidden)):
            x = F.relu(F.linear(x, arrays[f"{side}.{number}.weight"], arrays[f"{side}.{number}.bias"]))
        return x

    # ------------------------------------------------------------ what actions point at

    def _pointing(self, games: int, masks: th.Tensor | None) -> tuple[th.Tensor, th.Tensor]:
        """(M,) and (M,): the game and the id of each legal action that points at rows."""
        having = th.ge(self.head_of, 0)
        asked = having.expand(games, -1) if masks is None else masks & having
        game, action = asked.nonzero(as_tuple=True)
        return game, action

    def _rows_pointed_at(self, games: int, game: th.Tensor, action: th.Tensor) -> dict[str, _Pointed]:
        """The rows that legal actions point at, for each fixed table."""
        found = {}
        for number, name in enumerate(self.inputs.actions.pointers.tables if self.inputs.heads else ()):
            if name not in self._fixed:
                continue
            rows = self.inputs.tables[name].rows
            table, row = self.table_of[action], self.row_of[action]
            its, axis = ((table == number) & (row >= 0)).nonzero(as_tuple=True)
            asked = th.zeros(games * rows, dtype=th.bool, device=game.device)
            asked[game[its] * rows + row[its, axis]] = True
            places = asked.nonzero().squeeze(1)
            numbers = th.full((games * rows,), -1, device=game.device)
            numbers[places] = th.arange(len(places), device=game.device)
            found[name] = _Pointed(places // rows, places % rows, numbers)
        return found

    def _by_rows(
        self, arrays: Arrays, context: th.Tensor, said: Arrays, pointed: Mapping[str, _Pointed], game: th.Tensor,
        action: th.Tensor
    ) -> th.Tensor:  # fmt: skip
        """(M,): what the rows that actions point at add to their logits."""
        heads, size = self.inputs.heads, self.inputs.shape.rows
        names = [name for name, _ in heads]
        most = self.table_of.shape[1]
        axes = [F.pad(arrays[f"heads.{name}.axes"], (0, 0, 0, most - count)) for name, count in heads]
        weights = th.cat([arrays[f"heads.{name}.context"] for name in names])
        bias = th.cat([arrays[f"heads.{name}.bias"] for name in names])
        seen = F.linear(context, weights, bias).view(-1, size)  # (N * heads, rows)
        head = self.head_of[action]
        hidden = seen.index_select(0, game * len(heads) + head)
        every, places = self._places(said, pointed, game, action)
        for axis in range(most):
            weight = th.stack([one[axis] for one in axes]).index_select(0, head)
            hidden = hidden + weight * every.index_select(0, places[:, axis])
        out = th.stack([arrays[f"heads.{name}.out"] for name in names]).index_select(0, head)
        return (F.relu(hidden) * out).sum(1)

    def _places(
        self, said: Arrays, pointed: Mapping[str, _Pointed], game: th.Tensor, action: th.Tensor
    ) -> tuple[th.Tensor, th.Tensor]:
        """(what is said of all rows one after the other, where the rows (M, K) of these actions are in it).

        Its last row is zeros, for axes that point at nothing.
        """
        table, row = self.table_of[action], self.row_of[action]
        names = self.inputs.actions.pointers.tables
        every = [*(said[name] for name in names)]
        every.append(every[0].new_zeros(1, every[0].shape[1]))
        nowhere = sum(len(one) for one in every) - 1
        places, first = th.full_like(row, nowhere), 0
        for number, name in enumerate(names):
            rows = self.inputs.tables[name].rows
            at = game.unsqueeze(1) * rows + row.clamp(0, rows - 1)  # for other tables: not used, but within bounds
            at = pointed[name].number[at] if name in pointed else at
            places = th.where((table == number) & (row >= 0), at + first, places)
            first += len(said[name])
        return th.cat(every), places

    # ------------------------------------------------------------ what is said of rows

    def _rows(
        self, arrays: Arrays, inputs: Arrays, observations: th.Tensor, pointed: Mapping[str, _Pointed]
    ) -> dict[str, th.Tensor]:
        """What is said of each row (N * rows, R); in fixed tables, only of the rows that are pointed at (M, R)."""
        games = len(observations)
        said: dict[str, th.Tensor] = {}
        for name in self._said_of:
            table = self.inputs.tables[name]
            own = self._inputs_of(name, inputs) @ arrays[f"tables.{name}.encoder"]
            own = own.view(-1, table.rows, own.shape[1]) + arrays[f"tables.{name}.row"]
            said[name] = own.reshape(-1, own.shape[2])
        told = self._told(arrays, inputs, games)
        steady = [self._is_fixed(join.table) and self._is_fixed(join.of) for join in self._joins]
        for number in np.flatnonzero(steady):
            self._join_fixed(number, said, told)
        for name, rows in pointed.items():
            said[name] = said[name].index_select(0, rows.row)
        for number, join in enumerate(self._joins):
            if self._is_fixed(join.table):
                if not steady[number]:
                    self._join_from_fixed(number, said, told, pointed)
            else:
                self._join(number, said, told, pointed, observations)
        return said

    def _is_fixed(self, name: str) -> bool:
        return name in self._fixed

    def _inputs_of(self, name: str, inputs: Arrays) -> th.Tensor:
        """The inputs of a table's rows (N * rows, size), or of a fixed table's (rows, size)."""
        if self._is_fixed(name):
            return getattr(self, f"fixed_{self._fixed.index(name)}")
        return inputs[name].view(-1, self.inputs.tables[name].size)

    def _told(self, arrays: Arrays, inputs: Arrays, games: int) -> dict[tuple[str, str], th.Tensor]:
        """What each row adds to the rows it is joined with, by (join, "to" or "back").

        They are (N * rows, R), or (rows, R) for a fixed table.
        """
        found = {}
        for name, table in self.inputs.tables.items():
            ways = self._ways_from(name)
            if not ways:
                continue
            if table.rows == 1 and any(way == "back" for _, way in ways):
                for join, way in ways:
                    if way == "back":
                        one = arrays[f"joins.{join}.back"]
                        found[join, way] = one if self._is_fixed(name) else one.expand(games, -1)
                ways = [one for one in ways if one[1] == "to"]
                if not ways:
                    continue
            weights = [arrays[f"joins.{join}.{way}"] for join, way in ways]
            all_weights = th.cat(weights, 1)
            numbers = th.addmm(all_weights[-1], self._inputs_of(name, inputs), all_weights[:-1])
            found.update(zip(ways, numbers.split(self.inputs.shape.rows, 1), strict=True))
        return found

    def _ways_from(self, name: str) -> list[tuple[str, str]]:
        """The joins in which a row of this table adds something to another row, each with its direction."""
        ways = [(join.name, "to") for join in self._joins if join.of == name and join.table in self._said_of]
        return ways + [(join.name, "back") for join in self._joins if join.table == name and join.of in self._said_of]

    def _join_fixed(self, number: int, said: dict[str, th.Tensor], told: Mapping[tuple[str, str], th.Tensor]) -> None:
        """Join two fixed tables. The result is the same in all positions."""
        join, references = self._joins[number], getattr(self, f"references_{number}")
        row, column = references.nonzero(as_tuple=True)
        to = references[row, column] - 1
        if join.table in said:
            said[join.table].index_add_(0, row, told[join.name, "to"].index_select(0, to))
        if join.of in said:
            said[join.of].index_add_(0, to, told[join.name, "back"].index_select(0, row))

    def _join_from_fixed(
        self, number: int, said: dict[str, th.Tensor], told: Mapping[tuple[str, str], th.Tensor],
        pointed: Mapping[str, _Pointed]
    ) -> None:  # fmt: skip
        """Join a fixed table with the table in the vector that it refers to."""
        join, references = self._joins[number], getattr(self, f"references_{number}")
        rows = self.inputs.tables[join.of].rows
        if join.table in pointed:
            its = pointed[join.table]
            place, column = references[its.row].nonzero(as_tuple=True)
            to = references[its.row[place], column] - 1
            said[join.table].index_add_(0, place, told[join.name, "to"].index_select(0, its.game[place] * rows + to))
        if join.of in said:
            row, column = references.nonzero(as_tuple=True)
            back = told[join.name, "back"]
            steady = back.new_zeros(rows, back.shape[1])
            steady = steady.index_add(0, references[row, column] - 1, back.index_select(0, row))
            own = said[join.of]
            said[join.of] = (own.view(-1, rows, own.shape[1]) + steady).view_as(own)

    def _join(
        self, number: int, said: dict[str, th.Tensor], told: Mapping[tuple[str, str], th.Tensor],
        pointed: Mapping[str, _Pointed], observations: th.Tensor,
    ) -> None:  # fmt: skip
        """Join a table in the vector with the table that it refers to."""
        join, tables = self._joins[number], self.inputs.tables
        entries = getattr(self, f"references_{number}")
        seen = self._seen(observations, entries, tables[join.table], tables[join.of])
        row = seen.game * tables[join.table].rows + seen.row
        to = seen.game * tables[join.of].rows + seen.to
        if join.table in said:
            of = seen.to if self._is_fixed(join.of) else to
            said[join.table].index_add_(0, row, told[join.name, "to"].index_select(0, of))
        if join.of in said:
            if join.of in pointed:
                to = pointed[join.of].number[to]
                asked = (to >= 0).nonzero().squeeze(1)
                row, to = row[asked], to[asked]
            said[join.of].index_add_(0, to, told[join.name, "back"].index_select(0, row))

    @staticmethod
    def _seen(observations: th.Tensor, entries: th.Tensor, table: TableInputs, of: TableInputs) -> _Seen:
        references = observations.index_select(1, entries)
        game, place = references.nonzero(as_tuple=True)
        return _Seen(game, place // (len(entries) // table.rows), references[game, place].long() - 1)
