"""Places seen from an anchor: inputs and logits against calculations card by card."""

from __future__ import annotations

import numpy as np
import pytest
import torch as th
from gymnasium import spaces

import kepler_envs
from kepler_envs.adapters.pytorch import Anchor, AnchorInput, AnchorOutput
from kepler_envs.adapters.sb3 import PiecePolicy, observation_space, piece_policy
from kepler_envs.engine.actions import ActionSet, Block
from kepler_envs.engine.observation import CATEGORY, COUNT, Layout, piece

PLACES, REACH = 6, 3
LAYOUT = Layout(
    [
        piece("hand", COUNT, 4, "cards of each value", shape=PLACES),
        piece("wanted", CATEGORY, PLACES, "1 + value of the card that is wanted, 0 none"),
        piece("ladders", COUNT, 4, "ladders that need value 1 and up", shape=PLACES - 1),
        piece("tops", CATEGORY, PLACES, "1 + value, 0 none", shape=2),
    ]
)
ANCHOR = Anchor("wanted", REACH, (("hand", 0), ("ladders", 1)), ("tops",), ("PLAY", "DROP"))
ACTIONS = ActionSet(
    [
        Block("PASS", 0, 1, "pass"),
        Block("PLAY", 1, PLACES, "play {}", "value", tuple("abcdef")),
        Block("DROP", 1 + PLACES, PLACES, "drop {}", "value", tuple("abcdef")),
    ]
)


def observations(count: int = 200) -> np.ndarray:
    return np.random.default_rng(0).integers(LAYOUT.low, LAYOUT.high + 1, (count, LAYOUT.size)).astype(np.int16)


@pytest.mark.parametrize("kind", [np.int16, np.float32])
def test_inputs_are_what_lies_below_the_anchor(kind):
    layer = AnchorInput(LAYOUT, ANCHOR, 7)
    weight, rows = layer.linear.weight.detach().numpy(), layer.rows.detach().numpy().reshape(2, REACH + 1, 7)
    vectors = observations()
    expected = np.zeros((len(vectors), 7))
    for number, vector in enumerate(vectors):
        hand, ladders = LAYOUT["hand"].view(vector), LAYOUT["ladders"].view(vector)
        wanted, tops = int(LAYOUT["wanted"].view(vector)) - 1, LAYOUT["tops"].view(vector) - 1
        present = np.zeros((2, REACH))
        for below in range(1, REACH + 1):
            place = wanted - below
            if wanted >= 0 and place >= 0:
                present[0, below - 1] = hand[place] > 0
                present[1, below - 1] = place >= 1 and ladders[place - 1] > 0
        expected[number] = weight @ present.ravel()
        for lane, top in enumerate(tops):
            below = wanted - top if wanted >= 0 and top >= 0 else 0
            expected[number] += rows[lane, below if 1 <= below <= REACH else 0]
    found = layer(th.as_tensor(vectors.astype(kind))).detach().numpy()
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_logits_are_added_by_distance():
    layer = AnchorOutput(LAYOUT, ANCHOR, ACTIONS, 5)
    vectors = observations()
    features = th.randn(len(vectors), 5)
    scores = layer.linear(features).detach().numpy().reshape(len(vectors), 2, REACH + 2)
    found = layer(features, th.as_tensor(vectors), th.zeros(len(vectors), len(ACTIONS))).detach().numpy()
    for number, vector in enumerate(vectors):
        wanted = int(LAYOUT["wanted"].view(vector)) - 1
        assert found[number, 0] == 0, "passing has no place"
        for block in range(2):
            for place in range(PLACES):
                near = wanted >= 0 and 0 <= wanted - place <= REACH
                bucket = wanted - place if near else REACH + 1
                assert found[number, 1 + block * PLACES + place] == pytest.approx(scores[number, block, bucket])


def test_what_cannot_be_an_anchor_is_refused():
    with pytest.raises(ValueError, match="not one category"):
        AnchorInput(LAYOUT, Anchor("tops", 2), 3)
    with pytest.raises(ValueError, match="not one category"):
        AnchorInput(LAYOUT, Anchor("hand[:1]", 2), 3)
    with pytest.raises(ValueError, match="no block of actions is called FOLD"):
        AnchorOutput(LAYOUT, Anchor("wanted", 2, actions=("FOLD",)), ACTIONS, 3)


def test_every_way_to_ask_a_policy_agrees():
    config = kepler_envs.load_game("kitten_adventurers").configure(4)
    anchor = Anchor(
        "players.quest_top[:1]", 12, (("own_hand", 0),), ("players.lane_*_top[:1]",), ("PLAY_HAND", "AS_VALUE")
    )
    network = piece_policy(config.observation, 4, 16, (16,), anchor=anchor, actions=config.actions)
    batch = kepler_envs.Batch(config, 64, 0)
    th.manual_seed(0)
    choices = spaces.Discrete(len(config.actions))
    policy = PiecePolicy(observation_space(config.observation), choices, lambda _: 1e-3, **network)
    with th.no_grad():
        policy.anchor_net.linear.weight.normal_()
    for _ in range(50):
        batch.step(batch.uniform())
    seen, masks = th.as_tensor(batch.observation), batch.action_mask.astype(bool)
    with th.no_grad():
        actions, values, log_probs = policy(seen, deterministic=True, action_masks=masks)
        again, log_probs_again, entropy = policy.evaluate_actions(seen, actions, th.as_tensor(masks))
        plain = policy.get_distribution(seen, masks)
    assert masks[np.arange(64), actions].all()
    assert th.allclose(values, again) and th.allclose(log_probs, log_probs_again)
    assert th.allclose(plain.log_prob(actions), log_probs, atol=1e-6)
    assert th.allclose(plain.entropy(), entropy, atol=1e-5)
    assert (policy.predict(batch.observation, action_masks=masks, deterministic=True)[0] == actions.numpy()).all()
    assert any(
        parameter is policy.anchor_net.linear.weight
        for group in policy.optimizer.param_groups
        for parameter in group["params"]
    )
