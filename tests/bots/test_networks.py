"""Networks in compiled code: what PyTorch computes, and for each position by itself."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import kepler_envs
from agents import checkpoint
from agents.checkpoint import bot_of
from agents.network_views import view_of
from agents.torch_network import TorchNetwork
from kepler_envs.adapters.sb3 import PiecePolicy
from kepler_envs.bots.networks import CompiledNetwork, ConvolutionalNetwork, NetworkShape
from kepler_envs.bots.protocol import TrustedDecisions
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.registry import list_games

ARCHITECTURES = {"usual": (128, (128,)), "deep": (24, (40, 16)), "linear": (30, ())}


def network_of(
    config: Configuration,
    width: int,
    hidden: tuple[int, ...],
    channels: tuple[int, ...] = (),
    seats: int | None = None,
) -> PiecePolicy:
    """A network with the game's view, all of whose weights are random: none of them may be left out."""
    view = view_of(config.game.name)
    network = NetworkShape(width, hidden, view.leave_out, view.anchor, channels, view.label_planes, seats)
    policy = checkpoint.build(network, config)
    generator = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for weights in policy.parameters():
            weights.normal_(0, 0.2 if weights.dim() == 1 else weights.shape[-1] ** -0.5, generator=generator)
    return policy


def positions(config: Configuration, rows: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """(observations, masks) from uniform play, some of every step."""
    batch = Batch(config, rows, 5)
    observations, masks = [], []
    for _ in range(steps):
        observations.append(batch.observation.copy())
        masks.append(batch.action_mask.copy())
        batch.step(batch.uniform())
    return np.concatenate(observations), np.concatenate(masks)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("game", list_games())
def test_it_computes_what_pytorch_computes(game, architecture):
    for players in {kepler_envs.load_game(game).min_players, kepler_envs.load_game(game).max_players}:
        config = kepler_envs.load_game(game).configure(players)
        policy = network_of(config, *ARCHITECTURES[architecture])
        observations, masks = positions(config, 4, 100)
        priors, values = checkpoint.network_of(policy)(observations, masks)
        expected_priors, expected_values = TorchNetwork(policy)(observations, masks)
        np.testing.assert_allclose(priors, expected_priors, atol=2e-5)
        np.testing.assert_allclose(values, expected_values, atol=2e-5)
        assert not priors[masks == 0].any()
        assert priors.std(0).max() > 0.01, "the priors should depend on the position"


@pytest.mark.parametrize("game", list_games())
def test_every_value_an_entry_may_have_is_taken_in(game):
    """Also those that play hardly comes to: entries drawn from all of their range, the bounds themselves among them."""
    config = kepler_envs.load_game(game).configure()
    policy = network_of(config, 32, (32,))
    low, high = (bound.astype(np.int64) for bound in (config.observation.low, config.observation.high))
    drawn = np.random.default_rng(1).integers(low, high + 1, (50, len(low)))
    observations = np.concatenate([drawn, [low, high]]).astype(np.int16)
    masks = np.ones((len(observations), len(config.actions)), np.int8)
    answers = (network(observations, masks) for network in (checkpoint.network_of(policy), TorchNetwork(policy)))
    for found, expected in zip(*answers, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("game", list_games())
def test_an_answer_depends_on_no_other_position(game):
    config = kepler_envs.load_game(game).configure()
    network = checkpoint.network_of(network_of(config, 32, (32,)))
    observations, masks = positions(config, 3, 20)
    together = network(observations, masks)
    for row in (0, 17, 59):
        alone = network(observations[row : row + 1], masks[row : row + 1])
        assert [part[0].tobytes() for part in alone] == [part[row].tobytes() for part in together]


def test_its_weights_are_a_copy():
    config = kepler_envs.load_game("kitten_adventurers").configure()
    policy = network_of(config, 16, (16,))
    network = checkpoint.network_of(policy)
    observations, masks = positions(config, 2, 5)
    before = network(observations, masks)
    with torch.no_grad():
        for weights in policy.parameters():
            weights.zero_()
    for old, new in zip(before, network(observations, masks), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("seats", [None, 4])
def test_convolutions_compute_what_pytorch_computes(seats):
    """In double precision: what PyTorch says up to its own last bits, whatever else is asked at the same time."""
    config = kepler_envs.load_game("kepler_3042").configure()
    policy = network_of(config, 16, (16,), channels=(3, 2), seats=seats)
    network = checkpoint.network_of(policy)
    assert isinstance(network, ConvolutionalNetwork)
    observations, masks = positions(config, 4, 60)
    found, expected = network(observations, masks), TorchNetwork(policy)(observations, masks)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
    alone = network(observations[7:8], masks[7:8])
    np.testing.assert_allclose(alone[0][0], found[0][7], rtol=1e-6, atol=1e-9)


def test_an_anchor_beside_convolutions():
    """The same network computed both ways, where it has no convolutions: what is seen from an anchor, too."""
    config = kepler_envs.load_game("kitten_adventurers").configure()
    policy = network_of(config, 24, (16,))
    view = view_of(config.game.name)
    inputs = NetworkShape(24, (16,), view.leave_out, view.anchor).inputs(config)
    observations, masks = positions(config, 4, 60)
    found = ConvolutionalNetwork(inputs, checkpoint.arrays_of(policy))(observations, masks)
    for one, other in zip(found, TorchNetwork(policy)(observations, masks), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def test_a_network_with_convolutions_is_not_compiled():
    config = kepler_envs.load_game("kepler_3042").configure()
    inputs = NetworkShape(16, (16,), channels=(2,)).inputs(config)
    with pytest.raises(ValueError, match="without convolutions"):
        CompiledNetwork(inputs, {})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda arrays: arrays.pop("value_net.bias"), "value_net.bias is missing"),
        (lambda arrays: arrays.update({"action_net.bias": np.zeros(3)}), r"action_net.bias is \(3,\), it must be "),
        (lambda arrays: arrays.update(more=np.zeros(3)), "more has no place in it"),
    ],
)
def test_weights_of_another_network_are_refused(change, words):
    config = kepler_envs.load_game("kitten_adventurers").configure()
    arrays = checkpoint.arrays_of(network_of(config, 16, (16,)))
    view = view_of(config.game.name)
    inputs = NetworkShape(16, (16,), view.leave_out, view.anchor).inputs(config)
    inputs.check(arrays)
    change(arrays)
    with pytest.raises(ValueError, match=words):
        inputs.check(arrays)


def test_other_activations_are_refused():
    policy = network_of(kepler_envs.load_game("kitten_adventurers").configure(), 16, (16,))
    policy.mlp_extractor.value_net[1] = torch.nn.Tanh()
    with pytest.raises(ValueError, match="only linear layers with ReLU"):
        checkpoint.network_of(policy)


@pytest.mark.parametrize("channels", [(), (2,)], ids=["compiled", "convolutions"])
def test_draws_follow_the_probabilities(channels):
    """4,000 draws at one position: each action as often as its probability says, within five standard errors."""
    config = kepler_envs.load_game("kepler_3042").configure()
    policy = network_of(config, 16, (16,), channels)
    batch = Batch(config, 4000, 5)
    batch.observation[:], batch.action_mask[:] = batch.observation[0], batch.action_mask[0]
    agent = bot_of(policy, deterministic=False)
    rows = np.arange(4000)
    agent.start(rows, np.arange(4000, dtype=np.uint64) * np.uint64(7919))
    drawn = np.bincount(agent.act(TrustedDecisions(batch, rows)), minlength=len(config.actions)) / 4000
    priors, _ = checkpoint.network_of(policy)(batch.observation[:1], batch.action_mask[:1])
    error = np.sqrt(priors[0] * (1 - priors[0]) / 4000)
    assert (abs(drawn - priors[0]) <= 5 * error + 1e-6).all()
    assert (drawn > 0).sum() > 1
