"""Networks that learn in compiled code: the same function, and the same gradients, as PyTorch finds."""

from __future__ import annotations

import math
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch as th

import kepler_envs
from benchmarks.learner import BATCH_SIZE, EPOCHS, N_STEPS, NUM_ENVS, learning_model
from kepler_envs.adapters.pytorch import CompiledLearner, Goal, PieceNetwork, TorchLearner, compiled, learner_of
from kepler_envs.adapters.pytorch.compiled import ENOUGH_TO_LEARN
from kepler_envs.engine.kernel import helper
from kepler_envs.engine.network import NetworkInputs, NetworkShape
from kepler_envs.networks import DivergedError
from kepler_envs.networks.gradients import CHUNK
from kepler_envs.networks.simd import (
    BLOCK,
    add_product,
    add_product_portable,
    add_times,
    add_times_portable,
    add_where_positive,
    add_where_positive_portable,
    keep_where_positive,
    keep_where_positive_portable,
    spread_row,
    spread_row_portable,
)
from kepler_envs.networks.threads import in_parts
from kepler_envs.registry import list_games
from tests.networks.subjects import SHAPES, made_up_inputs, positions, random_positions, random_weights


@pytest.fixture
def two_threads():
    before = th.get_num_threads()
    th.set_num_threads(2)
    yield
    th.set_num_threads(before)


def network_of(inputs: NetworkInputs, seed: int = 11) -> PieceNetwork:
    network = PieceNetwork(inputs)
    network.load_state_dict({name: th.as_tensor(one) for name, one in random_weights(inputs, seed).items()})
    return network


def chosen_actions(masks: np.ndarray) -> np.ndarray:
    dice = np.random.default_rng(3)
    return np.array([dice.choice(np.flatnonzero(mask)) for mask in masks])


def judged_by_pytorch(network: PieceNetwork, observations: np.ndarray, masks: np.ndarray, actions: np.ndarray):
    log_probs, values = network(th.as_tensor(observations), th.as_tensor(masks).bool())
    chosen = log_probs.gather(1, th.as_tensor(actions).unsqueeze(1)).squeeze(1)
    return chosen, -(log_probs.exp() * log_probs).sum(1), values


def assert_same_gradients(inputs: NetworkInputs, observations: np.ndarray, masks: np.ndarray) -> None:
    """Of any sum of what is judged, by all weights; PyTorch computes in double precision."""
    network = network_of(inputs)
    precise = network_of(inputs).double()
    actions, dice = chosen_actions(masks), np.random.default_rng(0)
    found = CompiledLearner(network).judge(observations, masks, actions)
    expected = judged_by_pytorch(precise, observations, masks, actions)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.detach(), other.detach(), rtol=1e-4, atol=1e-4)
    factors = [th.as_tensor(dice.normal(size=tuple(one.shape))) for one in expected]
    sum((one * factor.float()).sum() for one, factor in zip(found, factors, strict=True)).backward()
    sum((one * factor).sum() for one, factor in zip(expected, factors, strict=True)).backward()
    for (name, one), other in zip(network.named_parameters(), precise.parameters(), strict=True):
        right = np.zeros(one.shape) if other.grad is None else other.grad.numpy()
        got = np.zeros(one.shape) if one.grad is None else one.grad.numpy()
        np.testing.assert_allclose(got, right, rtol=1e-3, atol=1e-3 * abs(right).max() + 1e-5, err_msg=name)


@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_are_those_of_pytorch(shape):
    """All kinds of fields, references between all kinds of tables, actions with any axes. There are a whole chunk of
    positions, a whole block and a rest."""
    inputs = made_up_inputs(SHAPES[shape])
    assert_same_gradients(inputs, *random_positions(inputs.layout, len(inputs.actions), CHUNK + BLOCK + 1))


@pytest.mark.parametrize("zeros", [0.0, 1.0], ids=["full", "empty"])
def test_gradients_of_full_and_empty_observations(zeros):
    inputs = made_up_inputs(NetworkShape(20, (20,), 8))
    assert_same_gradients(inputs, *random_positions(inputs.layout, len(inputs.actions), 20, zeros, legal=0.9))


def test_threads_that_judge_with_one_learner_take_turns():
    inputs = made_up_inputs(NetworkShape(20, (20,), 8))
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 600)
    actions, learner = chosen_actions(masks), CompiledLearner(network_of(inputs))
    halves = [slice(0, 300), slice(300, 600)]

    def judge(half: slice) -> list[th.Tensor]:
        with th.no_grad():
            return list(learner.judge(observations[half], masks[half], actions[half]))

    alone, together = [judge(half) for half in halves], []
    for _ in range(5):
        with ThreadPoolExecutor(2) as pool:
            together += pool.map(judge, halves)
    for number, found in enumerate(together):
        assert all(map(th.equal, found, alone[number % 2]))


@pytest.fixture
def used(monkeypatch) -> list[int]:
    """The number of threads of each call of compiled code."""
    found = []

    def watched(work, count, threads):
        found.append(threads)
        return in_parts(work, count, threads)

    monkeypatch.setattr("kepler_envs.adapters.pytorch.compiled.in_parts", watched)
    return found


def test_gradients_by_two_threads(two_threads, used):
    """A part has a whole chunk and a rest, and blocks that are not full."""
    inputs = made_up_inputs(NetworkShape(20, (20,), 8))
    given = random_positions(inputs.layout, len(inputs.actions), 2 * ENOUGH_TO_LEARN + 101)
    assert_same_gradients(inputs, *given)
    assert used == [2, 2], "to judge, and to go back"


def test_two_threads_share_a_minibatch_of_the_usual_size(two_threads, used):
    """They are a little smaller than asked: some decisions at the end of a rollout cannot be learned from."""
    model = learning_model("kitten_adventurers", 4, True)
    model.learn(NUM_ENVS * N_STEPS)
    assert used.count(2) == EPOCHS * NUM_ENVS * N_STEPS // BATCH_SIZE


def test_pytorch_starts_no_threads_of_its_own(two_threads, monkeypatch):
    """They would spin beside the learner's, or be woken for a few microseconds of work."""
    used = []
    product = compiled._product

    def watched(one, other):
        used.append((th.get_num_threads(), threading.get_ident()))
        return product(one, other)

    monkeypatch.setattr(compiled, "_product", watched)
    inputs = made_up_inputs(NetworkShape(20, (20,), 8))
    given = random_positions(inputs.layout, len(inputs.actions), 2 * ENOUGH_TO_LEARN)
    goal = Goal(np.zeros((2 * ENOUGH_TO_LEARN, inputs.seats), np.float32), 1.0)
    CompiledLearner(network_of(inputs)).learn(*given, chosen_actions(given[1]), goal)
    assert {threads for threads, _ in used} == {1} and len({thread for _, thread in used}) == 2
    assert th.get_num_threads() == 2, "as it was"


def test_answers_by_two_threads_are_those_of_one(two_threads, used):
    inputs = made_up_inputs(NetworkShape(20, (20,), 8))
    given = random_positions(inputs.layout, len(inputs.actions), 16 * BLOCK + 3)
    learner = CompiledLearner(network_of(inputs))
    both = learner.answer(*given)
    th.set_num_threads(1)
    for one, other in zip(learner.answer(*given), both, strict=True):
        np.testing.assert_array_equal(one, other)
    assert used == [2, 1]


@pytest.mark.parametrize("game", list_games())
def test_gradients_in_every_game(game):
    config = kepler_envs.load_game(game).configure()
    assert_same_gradients(NetworkShape(24, (24,), 16).inputs(config), *positions(config, 4, 30))


@pytest.mark.parametrize("large", [0.0, 1000.0])
def test_what_is_left_of_a_sure_choice_is_exact(large):
    """However large the logits are. Derivatives by all logits of a position add up to 0. If they did not, Adam would
    turn the rest into whole steps: the logits would drift together, and the network would be lost after some thousand
    updates."""
    inputs = made_up_inputs(NetworkShape(20, (20,), 8))
    network = network_of(inputs)
    for weights in network.parameters():
        weights.data.zero_()
    network.actions.bias.data[:] = large + 8 * (th.arange(len(inputs.actions)) % 2)
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 60)
    masks[:] = 0
    masks[:, :2] = 1
    goal = Goal(np.zeros((60, inputs.seats), np.float32), 0.0)
    said = CompiledLearner(network).learn(observations, masks, np.ones(60, np.int64), goal)
    np.testing.assert_allclose(said.told, -np.log1p(np.exp(-8.0)), rtol=1e-3)
    wrong, right = network.actions.bias.grad[:2].tolist()
    assert wrong == pytest.approx(1 / (1 + np.exp(8.0)), rel=1e-3)
    assert right == pytest.approx(-wrong, rel=1e-3)


@pytest.mark.parametrize("shape", ["usual", "over a bot"])
def test_several_actions_share_a_position(shape):
    """Their log-probabilities are added up in shares, as a cross-entropy needs it; what has no share may be any
    number."""
    inputs, dice = made_up_inputs(SHAPES[shape]), np.random.default_rng(7)
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 30, legal=0.01)
    shares = np.where(masks != 0, dice.random(masks.shape), 0).astype(np.float32)
    actions = np.argsort(-shares, axis=1)[:, :5]
    asked = np.take_along_axis(shares, actions, 1)
    assert (asked == 0).any() and (asked[:, 1] > 0).any()
    one, other = network_of(inputs), network_of(inputs).double()
    found, _, _ = CompiledLearner(one).judge(observations, masks, actions, asked)
    expected, _, _ = TorchLearner(other).judge(observations, masks, actions, asked)
    by_hand = other(th.as_tensor(observations), th.as_tensor(masks).bool())[0].detach().numpy()
    total = [
        sum(by_hand[n, a] * share for a, share in zip(actions[n], asked[n], strict=True) if share) for n in range(30)
    ]
    np.testing.assert_allclose(expected.detach(), total, rtol=1e-5)
    np.testing.assert_allclose(found.detach(), expected.detach(), rtol=1e-4, atol=1e-4)
    weights = th.as_tensor(dice.normal(size=30))
    (found * weights.float()).sum().backward()
    (expected * weights).sum().backward()
    for (name, got), right in zip(one.named_parameters(), other.parameters(), strict=True):
        if right.grad is not None:
            most = float(right.grad.abs().max())
            np.testing.assert_allclose(got.grad, right.grad, rtol=1e-3, atol=1e-3 * most + 1e-5, err_msg=name)


def test_arrays_may_be_read_only_and_lie_as_they_like():
    """As those of a file that is mapped into memory, or every other position of some."""
    inputs = made_up_inputs(SHAPES["usual"])
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 40)
    learner, dice, right = CompiledLearner(network_of(inputs)), np.random.default_rng(5), []
    asked = [observations, masks, chosen_actions(masks)]
    before, advantages = (dice.normal(size=40).astype(np.float32) for _ in range(2))
    goal = Goal(dice.normal(size=(40, inputs.seats)).astype(np.float32), 0.7, 0.05, before, advantages, 0.2)
    shares = np.ones((40, 1), np.float32)
    for given in (asked, [np.asfortranarray(one) for one in asked], asked):
        if right:
            for array in (*given, goal.returns, before, advantages, shares):
                array.flags.writeable = False
        several = [*given[:2], given[2][:, None]]
        found = [*learner.judge(*given), *learner.judge(*several, shares), *learner.learn(*given, goal)]
        right = right or [th.as_tensor(one).detach().clone() for one in found]
        for one, other in zip(found, right, strict=True):
            np.testing.assert_array_equal(th.as_tensor(one).detach(), other)


def goal_of(kind: str, inputs: NetworkInputs, told: np.ndarray, dice: np.random.Generator) -> Goal:
    """Of 40 positions. PPO's ratios are from 0.4 to 2.5, so that some are clipped on each side."""
    returns = dice.normal(size=(40, inputs.seats)).astype(np.float32)
    if kind == "ppo":
        before = told - dice.uniform(-0.9, 0.9, 40)
        advantages = dice.normal(size=40).astype(np.float32)
        return Goal(returns[:, :-1], 0.7, 0.05, before.astype(np.float32), advantages, 0.2)
    returns[dice.random(returns.shape) < 0.3] = np.nan
    return Goal(returns, 0.7, 0.05)


@pytest.mark.parametrize("kind", ["ppo", "cross-entropy", "shares"])
@pytest.mark.parametrize("shape", ["usual", "over a bot"])
def test_learning_in_one_pass_is_the_loss_and_its_gradient(kind, shape):
    """PyTorch computes the same goal in double precision, by its own operations and autograd."""
    inputs, dice = made_up_inputs(SHAPES[shape]), np.random.default_rng(5)
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 40)
    one, other = network_of(inputs), network_of(inputs).double()
    actions, shares = chosen_actions(masks), None
    if kind == "shares":
        actions = np.stack([actions, chosen_actions(masks)], 1)
        shares = dice.uniform(0, 1, (40, 2)).astype(np.float32)
        shares[::5] = 0
    told = CompiledLearner(one).judge(observations, masks, actions, shares)[0].detach().numpy()
    goal = goal_of(kind, inputs, told, dice)
    found = CompiledLearner(one).learn(observations, masks, actions, goal, shares)
    expected = TorchLearner(other).learn(observations, masks, actions, goal, shares)
    for part, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, right, rtol=1e-4, atol=1e-4)
    for (name, got), right in zip(one.named_parameters(), other.parameters(), strict=True):
        assert (got.grad is None) == (right.grad is None) or not (right.grad if got.grad is None else got.grad).any()
        if right.grad is not None and got.grad is not None:
            most = float(right.grad.abs().max())
            np.testing.assert_allclose(got.grad, right.grad, rtol=1e-3, atol=1e-3 * most + 1e-6, err_msg=name)
    if kind == "ppo":
        ratio = np.exp(found.told - goal.before)
        assert ((ratio > 1.2) & (goal.advantages > 0)).any() and ((ratio < 0.8) & (goal.advantages < 0)).any()
        assert ((ratio > 1.2) & (goal.advantages < 0)).any(), "what makes it worse is not clipped"


@pytest.mark.parametrize("kind", [CompiledLearner, TorchLearner])
@pytest.mark.parametrize("most", [0.5, 1e6])
def test_clipped_gradients_are_those_of_pytorch(most, kind):
    inputs = made_up_inputs(NetworkShape(20, (20,), 8))
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 40)
    network, actions = network_of(inputs), chosen_actions(masks)
    learner = kind(network)
    learner.learn(
        observations, masks, actions, goal_of("cross-entropy", inputs, np.zeros(40), np.random.default_rng(5))
    )
    before = [one.grad.clone() for one in network.parameters()]
    norm = float(th.nn.utils.clip_grad_norm_(network.parameters(), most))
    expected = [one.grad.clone() for one in network.parameters()]
    for one, grad in zip(network.parameters(), before, strict=True):
        one.grad.copy_(grad)
    learner.clip_gradients(most)
    assert (norm > most) == (most < 1)
    for one, right in zip(network.parameters(), expected, strict=True):
        np.testing.assert_allclose(one.grad, right, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("kind", [CompiledLearner, TorchLearner])
@pytest.mark.parametrize("weight", [1e30, math.nan])
def test_gradients_without_a_norm_are_told_of(weight, kind):
    """Clipped to a share of infinity, they would be 0: a run would go on and learn nothing."""
    inputs = made_up_inputs(NetworkShape(20, (20,), 8))
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 40)
    learner = kind(network_of(inputs))
    learner.learn(observations, masks, chosen_actions(masks), Goal(np.ones((40, inputs.seats), np.float32), weight))
    with pytest.raises(DivergedError, match="^the gradients are too large for float32, or no finite numbers any more"):
        learner.clip_gradients(0.5)


def test_it_learns_as_pytorch_does():
    """Ten steps of gradient descent from the same beginning lead to the same weights."""
    inputs = made_up_inputs(NetworkShape(24, (20,), 16))
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 50)
    actions, after = chosen_actions(masks), []
    for in_compiled_code in (True, False):
        network = network_of(inputs)
        learner, optimizer = CompiledLearner(network), th.optim.SGD(network.parameters(), 0.01)
        for _ in range(10):
            asked = (observations, masks, actions)
            chosen, entropy, values = learner.judge(*asked) if in_compiled_code else judged_by_pytorch(network, *asked)
            optimizer.zero_grad()
            (values.square().mean() - chosen.mean() - 0.01 * entropy.mean()).backward()
            optimizer.step()
        after.append({name: one.detach().numpy().copy() for name, one in network.named_parameters()})
    before = {name: one.detach().numpy() for name, one in network_of(inputs).named_parameters()}
    for name, weights in after[0].items():
        moved = abs(after[1][name] - before[name]).max()
        np.testing.assert_allclose(weights, after[1][name], atol=0.05 * moved + 1e-6, err_msg=name)


@pytest.mark.parametrize("training", [True, False])
def test_answers_are_those_of_the_present_weights(training):
    """Also after a step of an optimizer, and after weights were loaded."""
    inputs = made_up_inputs(NetworkShape(16, (16,), 8))
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 20)
    network = network_of(inputs)
    learner = CompiledLearner(network)
    network.train(training)

    def assert_answers() -> None:
        with th.no_grad():
            log_probs, values = network(th.as_tensor(observations), th.as_tensor(masks).bool())
        priors, told = learner.answer(observations, masks)
        np.testing.assert_allclose(priors, log_probs.exp(), atol=1e-5)
        np.testing.assert_allclose(told, values, rtol=1e-4, atol=1e-5)

    assert_answers()
    optimizer = th.optim.Adam(network.parameters(), 0.1, fused=True)
    learner.judge(observations, masks, chosen_actions(masks))[0].sum().backward()
    optimizer.step()
    assert_answers()
    network.load_state_dict(network_of(inputs, seed=12).state_dict())
    assert_answers()


def test_learners_agree():
    """In compiled code, and in PyTorch's operations, which a GPU needs."""
    inputs = made_up_inputs(SHAPES["over a bot"])
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 20)
    actions, network = chosen_actions(masks), network_of(inputs).eval()
    assert isinstance(learner_of(network), CompiledLearner)
    assert isinstance(learner_of(PieceNetwork(inputs).to("meta")), TorchLearner)
    for part, other in zip(
        CompiledLearner(network).judge(observations, masks, actions),
        TorchLearner(network).judge(observations, masks, actions),
        strict=True,
    ):
        np.testing.assert_allclose(part.detach(), other.detach(), rtol=1e-4, atol=1e-4)
    for part, other in zip(
        CompiledLearner(network).answer(observations, masks),
        TorchLearner(network).answer(observations, masks),
        strict=True,
    ):
        np.testing.assert_allclose(part, other, rtol=1e-4, atol=1e-5)


def test_without_known_returns_the_loss_is_that_of_the_policy():
    told, entropy, values = th.tensor([-1.0, -3.0]), th.zeros(2), th.ones(2, 3)
    assert float(Goal(np.full((2, 3), np.nan, np.float32), 0.5).loss(told, entropy, values)) == 2
    assert float(Goal(np.array([[3, np.nan], [np.nan, 2]], np.float32), 0.5).loss(told, entropy, values)) == 2 + 1.25


def asked_wrongly(what: str, inputs: NetworkInputs) -> tuple[np.ndarray, ...]:
    """Observations, masks and actions of 20 positions, with one thing wrong."""
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 20)
    actions = chosen_actions(masks)
    match what:
        case "no positions":
            return observations[:0], masks[:0], actions[:0]
        case "an entry":
            observations[3, 0] = np.iinfo(np.int16).max
        case "a dtype":
            observations = observations.astype(np.float32)
        case "a shape":
            observations = observations[:, :-1]
        case "a list":
            actions = actions.tolist()
        case "no legal action":
            masks[3] = 0
        case "an illegal action":
            actions = masks.argmin(1)
        case "no action":
            actions[3] = len(inputs.actions)
    return observations, masks, actions


@pytest.mark.parametrize("kind", [CompiledLearner, TorchLearner])
@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("no positions", "there are no positions to learn from"),
        ("an entry", r"observation 3: .* is 32767; allowed"),
        ("a dtype", "observations must be int16 .*, not float32"),
        ("a shape", "observations must be int16"),
        ("a list", "actions must be a NumPy array, not list"),
        ("no legal action", "masks must have a legal action in each row; row 3 has none"),
        ("an illegal action", "action [0-9]+ of row [0-9]+ is not legal there; legal: "),
        ("no action", r"actions must be 0\.\.[0-9]+, not "),
    ],
)
def test_learners_name_what_is_wrong_with_a_question(kind, what, message):
    inputs = made_up_inputs(SHAPES["usual"])
    learner, asked = kind(network_of(inputs)), asked_wrongly(what, inputs)
    with pytest.raises(ValueError, match=message):
        learner.judge(*asked)
    with pytest.raises(ValueError, match=message):
        learner.learn(*asked, Goal(np.zeros((len(asked[0]), inputs.seats), np.float32), 0.5))


@pytest.mark.parametrize("kind", [CompiledLearner, TorchLearner])
@pytest.mark.parametrize(
    ("count", "seats", "message"), [(19, 1, "returns must be of 20"), (20, 9, "of 9 seats; at most")]
)
def test_learners_name_what_is_wrong_with_a_goal(kind, count, seats, message):
    inputs = made_up_inputs(SHAPES["usual"])
    with pytest.raises(ValueError, match=message):
        kind(network_of(inputs)).learn(*asked_wrongly("", inputs), Goal(np.zeros((count, seats), np.float32), 0.5))


@pytest.mark.parametrize("kind", [CompiledLearner, TorchLearner])
@pytest.mark.parametrize("what", ["an entry", "a dtype", "a shape"])
def test_answers_are_about_observations_alone(kind, what):
    """Compiled code would read other memory, and PyTorch's own errors do not name the observation."""
    inputs = made_up_inputs(SHAPES["usual"])
    observations, masks, _ = asked_wrongly(what, inputs)
    with pytest.raises(ValueError, match="^observation"):
        kind(network_of(inputs)).answer(observations, masks)


@pytest.mark.parametrize("kind", [CompiledLearner, TorchLearner])
@pytest.mark.parametrize("shape", ["usual", "over a bot"])
def test_answers_about_nothing_are_empty_and_illegal_actions_have_no_prior(kind, shape):
    inputs = made_up_inputs(SHAPES[shape])
    learner = kind(network_of(inputs))
    observations, masks, _ = asked_wrongly("no legal action", inputs)
    assert [part.shape for part in learner.answer(observations[:0], masks[:0])] == [
        (0, len(inputs.actions)), (0, inputs.seats)
    ]  # fmt: skip
    assert not learner.answer(observations, masks)[0][masks == 0].any()


@pytest.mark.parametrize("kind", [CompiledLearner, TorchLearner])
def test_answers_that_are_no_numbers_are_told_of(kind):
    inputs = made_up_inputs(SHAPES["usual"])
    network = network_of(inputs).eval()
    with th.no_grad():
        for weights in network.parameters():
            weights.fill_(1e30)
    with pytest.raises(DivergedError, match="answers are no finite numbers"):
        kind(network).answer(*asked_wrongly("", inputs)[:2])


def test_a_learner_is_pickled_with_its_network():
    inputs = made_up_inputs(NetworkShape(16, (16,), 8))
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 5)
    learner = CompiledLearner(network_of(inputs))
    before = learner.answer(observations, masks)
    for one, other in zip(before, pickle.loads(pickle.dumps(learner)).answer(observations, masks), strict=True):
        np.testing.assert_array_equal(one, other)


def test_sums_of_gradients_in_registers_are_those_written_plainly():
    dice = np.random.default_rng(4)
    one, other = (dice.normal(size=512).astype(np.float32) for _ in range(2))
    rows, times = dice.integers(0, 4, 6).astype(np.int32), dice.normal(size=6).astype(np.float32)

    @helper
    def in_registers(out):
        add_times(out, 3, np.float32(1.5), one, 5, 32)
        add_product(out, 40, one, 7, other, 9, 16)
        add_where_positive(out, 60, one, 3, other, 11, 32)
        keep_where_positive(out, 250, one, 3, 32)
        spread_row(out, 100, 48, rows, times, 1, 6, one, 2, 32)

    found, expected = np.ones(300, np.float32), np.ones(300, np.float32)
    in_registers(found)
    add_times_portable(expected, 3, np.float32(1.5), one, 5, 32)
    add_product_portable(expected, 40, one, 7, other, 9, 16)
    add_where_positive_portable(expected, 60, one, 3, other, 11, 32)
    keep_where_positive_portable(expected, 250, one, 3, 32)
    spread_row_portable(expected, 100, 48, rows, times, 1, 6, one, 2, 32)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert (found != 1).sum() > 100 and 0 < (found[250:282] == 0).sum() < 32


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda seen, masks, actions: (seen[:, :-1], masks, actions), r"^observations must be int16 \(6, "),
        (
            lambda seen, masks, actions: (seen.astype(float), masks, actions),
            "^observations must be int16 .* not float64",
        ),
        (lambda seen, masks, actions: (seen * 0 + 30000, masks, actions), "^observation 0: .* is 30000; allowed: "),
        (lambda seen, masks, actions: (seen, masks.astype(int), actions), "^masks must be bool or int8 .* not int64"),
        (lambda seen, masks, actions: (seen, masks[:, :-1], actions), r"^masks must be bool or int8 \(6, "),
        (lambda seen, masks, actions: (np.repeat(seen, 2, 0), masks, actions), r"^masks must be bool or int8 \(12, "),
        (
            lambda seen, masks, actions: (seen, masks, actions[:5]),
            r"^actions must be integers \(6,\), not int64 \(5,\)",
        ),
        (lambda seen, masks, actions: (seen, masks, actions - 1000), r"^actions must be 0\.\.\d+, not -\d+\.\.-\d+$"),
        (lambda seen, masks, actions: (seen, masks, actions + 10**8), r"^actions must be 0\.\.\d+, not 1000\d+\.\."),
        (lambda seen, masks, actions: (seen, masks, actions / 2), r"^actions must be integers \(6,\), not float64"),
        (lambda seen, masks, actions: (seen[:0], masks[:0], actions[:0]), "^there are no positions to learn from$"),
        (
            lambda seen, masks, actions: (seen, masks * (np.arange(6) != 2)[:, None].astype(np.int8), actions),
            "^masks must have a legal action in each row; row 2 has none$",
        ),
        (
            lambda seen, masks, actions: (seen, masks, np.append(actions[:5], masks[5].argmin())),
            r"^action \d+ of row 5 is not legal there; legal: \d",
        ),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message):
    """Compiled code would read and write outside of them."""
    inputs = made_up_inputs(SHAPES["usual"])
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 6)
    asked = change(observations, masks, chosen_actions(masks))
    learner, goal = CompiledLearner(network_of(inputs)), Goal(np.zeros((6, inputs.seats), np.float32), 0.5)
    with pytest.raises(ValueError, match=message):
        learner.judge(*asked)
    with pytest.raises(ValueError, match=message):
        learner.learn(*asked, goal)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"before": np.zeros(6, np.float32)}, "^before and advantages belong together"),
        ({"advantages": np.zeros(6, np.float32)}, "^before and advantages belong together"),
        ({"returns": np.zeros(6, np.float32)}, r"^returns must be \(N, S\), not \(6,\)$"),
        ({"returns": np.zeros((5, 2), np.float32)}, r"^returns must be of 6 positions, not \(5, 2\)"),
        ({"returns": np.zeros((6, 9), np.float32)}, "^returns are of 9 seats; at most 4 play$"),
        ({"before": np.zeros(6, np.float32), "advantages": np.zeros(5, np.float32)}, "^advantages must be of 6 pos"),
    ],
)
def test_a_goal_that_does_not_fit_is_refused(change, message):
    inputs = made_up_inputs(SHAPES["usual"])
    observations, masks = random_positions(inputs.layout, len(inputs.actions), 6)
    with pytest.raises(ValueError, match=message):
        goal = Goal(**{"returns": np.zeros((6, inputs.seats), np.float32), "value_weight": 0.5, **change})
        CompiledLearner(network_of(inputs)).learn(observations, masks, chosen_actions(masks), goal)
