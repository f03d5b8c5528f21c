"""The network's first layers on layouts of every kind of piece."""

from __future__ import annotations

import numpy as np
import pytest
import torch as th
from torch.nn import functional as F

import kepler_envs
from kepler_envs.adapters.pytorch import PieceInput, entries_of
from kepler_envs.adapters.sb3 import PieceExtractor, observation_space
from kepler_envs.engine.observation import CATEGORY, COUNT, FLAG, ONE_HOT, PLANE, Layout, piece, table

LAYOUT = Layout(
    [
        piece("turn", COUNT, 40, "turns", low=-40, scale=10),
        piece("suit", CATEGORY, 5, "low labels may be above or below 0", low=2),
        piece("terrain", CATEGORY, 99, "many labels", shape=3),
        piece("board", PLANE, 3, "pieces on a board", shape=(2, 4, 5)),
        table("players", 4, [piece("alive", FLAG, 1, "in the game"), piece("cards", COUNT, 9, "cards", shape=2)]),
        piece("role", ONE_HOT, 1, "own role", shape=3),
    ]
)


def random_observations(count: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.integers(LAYOUT.low, LAYOUT.high + 1, (count, LAYOUT.size)).astype(np.int16)


def features_one_by_one(vector: np.ndarray, left_out: set[int]) -> np.ndarray:
    """Every input of the first layer, written out entry by entry: scaled numbers, then signs of counts, then labels."""
    plain, signs, labels = [], [], []
    for placed in LAYOUT:
        for index in placed.indices().ravel():
            if index in left_out:
                continue
            value = int(vector[index])
            if placed.kind == CATEGORY:
                labels += [float(value == label) for label in range(placed.low, placed.high + 1)]
                continue
            plain.append(value / placed.scale)
            if placed.kind == COUNT:
                signs.append(float(np.sign(value)))
    return np.array(plain + signs + labels)


@pytest.mark.parametrize("patterns", [[], ["players.*[2:]", "terrain"]])
def test_the_first_layer_equals_a_linear_layer_over_features_written_out(patterns):
    left_out = set(entries_of(LAYOUT, patterns).tolist())
    layer = PieceInput(LAYOUT, 6, sorted(left_out))
    observations = random_observations(20)
    features = np.array([features_one_by_one(row, left_out) for row in observations])
    weight = np.concatenate([layer.linear.weight.detach().numpy().T, layer.rows.detach().numpy()])
    assert features.shape[1] == layer.inputs == len(weight)
    expected = features @ weight + layer.linear.bias.detach().numpy()
    for kind in (np.int16, np.float32):
        found = layer(th.as_tensor(observations.astype(kind))).detach().numpy()
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize(
    "patterns", [["players.*[2:]", "terrain"], ["turn", "suit", "terrain"], ["terrain[1:]", "board"]]
)
def test_a_layer_that_sees_more_takes_over_one_that_sees_less(patterns):
    less, more, again = (PieceInput(LAYOUT, 6, entries_of(LAYOUT, names)) for names in (patterns, [], patterns))
    x = th.as_tensor(random_observations(20))
    more.take_over(less)
    th.testing.assert_close(more(x), less(x))
    again.take_over(more)
    assert all(th.equal(one, other) for one, other in zip(again.parameters(), less.parameters(), strict=True))


def test_a_layer_takes_over_no_other_width():
    with pytest.raises(ValueError, match="a layer of width 6 cannot take over one of 7"):
        PieceInput(LAYOUT, 6).take_over(PieceInput(LAYOUT, 7))


def test_patterns_name_pieces_and_rows():
    layout = LAYOUT
    assert entries_of(layout, []).tolist() == []
    assert entries_of(layout, ["suit"]).tolist() == [1]
    assert entries_of(layout, ["terrain[1:]"]).tolist() == [3, 4]
    rows = entries_of(layout, ["players.*[3:]"])
    assert sorted(rows.tolist()) == list(range(layout.size - 3 - 3, layout.size - 3))
    with pytest.raises(ValueError, match="no piece fits 'hand'; there are: turn, suit"):
        entries_of(layout, ["hand"])
    with pytest.raises(ValueError, match=r"write name\[first:end\]"):
        entries_of(layout, ["terrain[1]"])


def test_entries_left_out_change_nothing():
    game = kepler_envs.load_game("kitten_adventurers")
    config = game.configure(3)
    space = observation_space(config.observation)
    extractor = PieceExtractor(space, config.observation, num_players=3, width=8, leave_out=["players.lane_*[1:]"])
    batch = kepler_envs.Batch(config, 8, 0)
    for _ in range(100):
        batch.step(batch.uniform())
    changed = batch.observation.copy()
    absent = entries_of(config.observation, ["players.*[3:]", "players.lane_*[1:]"])
    changed[:, absent] += 1
    with th.no_grad():
        assert th.equal(extractor(th.as_tensor(batch.observation)), extractor(th.as_tensor(changed)))
        changed[:, entries_of(config.observation, ["players.quest_count[:1]"])] += 1
        assert not th.equal(extractor(th.as_tensor(batch.observation)), extractor(th.as_tensor(changed)))


def test_planes_go_through_convolutions_when_asked():
    extractor = PieceExtractor(observation_space(LAYOUT), LAYOUT, width=8, channels=(4, 3))
    assert extractor.planes is not None
    observations = th.as_tensor(random_observations(5))
    first, second = (module for module in extractor.planes.convolutions if isinstance(module, th.nn.Conv2d))
    board = th.as_tensor(LAYOUT["board"].view(observations.numpy()).copy()).float() / 3
    maps = F.relu(second(F.relu(first(board))))
    expected = F.relu(extractor.pieces(observations) + extractor.planes.linear(maps.flatten(1)))
    assert th.allclose(extractor(observations), expected, atol=1e-6)
    without = PieceInput(LAYOUT, 8, entries_of(LAYOUT, ["board"]))
    assert extractor.pieces.inputs == without.inputs, "planes are not plain inputs as well"


def test_planes_of_labels_are_looked_up():
    """As one-hot planes would be: the same label gives the same numbers everywhere, another label others."""
    layout = Layout(
        [
            piece("height", PLANE, 5, "", shape=(3, 4)),
            piece("owner", PLANE, 2, "", shape=(3, 4)),
            piece("tail", COUNT, 3, ""),
        ]
    )
    extractor = PieceExtractor(observation_space(layout), layout, width=8, channels=(6,), label_planes=["owner"])
    assert extractor.planes is not None and extractor.planes.labels.weight.shape == (3, 4)
    observations = th.as_tensor(np.random.default_rng(1).integers(0, 3, (5, layout.size)).astype(np.int16))
    heights = th.as_tensor(layout["height"].view(observations.numpy()).copy()).float() / 5
    owners = th.as_tensor(layout["owner"].view(observations.numpy()).copy()).long()
    known = F.one_hot(owners, 3).float() @ extractor.planes.labels.weight
    boards = th.cat((heights[:, None], known.permute(0, 3, 1, 2)), 1)
    maps = F.relu(extractor.planes.convolutions[0](boards)).flatten(1)
    expected = F.relu(extractor.pieces(observations) + extractor.planes.linear(maps))
    assert th.allclose(extractor(observations), expected, atol=1e-6)
    assert extractor.pieces.inputs == PieceInput(layout, 8, entries_of(layout, ["height", "owner"])).inputs


def test_planes_that_are_left_out_still_go_through_convolutions():
    without = PieceExtractor(observation_space(LAYOUT), LAYOUT, width=8, leave_out=["board"])
    with_planes = PieceExtractor(observation_space(LAYOUT), LAYOUT, width=8, leave_out=["board"], channels=(4,))
    assert without.planes is None and with_planes.planes is not None
    assert without.pieces.inputs == with_planes.pieces.inputs


def test_planes_of_different_sizes_are_refused():
    layout = Layout([piece("one", PLANE, 1, "", shape=(3, 3)), piece("two", PLANE, 1, "", shape=(2, 3))])
    with pytest.raises(ValueError, match="different sizes"):
        PieceExtractor(observation_space(layout), layout, channels=(4,))


def test_a_layout_of_another_observation_is_refused():
    with pytest.raises(ValueError, match="the layout has"):
        PieceExtractor(observation_space(LAYOUT), kepler_envs.load_game("kitten_adventurers").observation)
