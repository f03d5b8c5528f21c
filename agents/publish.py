"""Publish a trained network with the package.

The checkpoint of a run is written to kepler_envs/bots/published/GAME/NAME.zip with its weights in float16, its
learning curve, and a description that says how to train it again. The copy may lose precision, more of it if the file
would be too large, but must not change play: on positions from its own games it has to choose what the original
chooses, with every number of players and all options that it plays with.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

import kepler_envs
from agents import checkpoint
from agents.checkpoint import bot_of, build, set_weights
from agents.ending import plain_ending
from agents.evaluation import against
from agents.seeds import COMPARED_SEED
from agents.settings import command_line
from kepler_envs.adapters.sb3 import PiecePolicy
from kepler_envs.bots import KINDS, published
from kepler_envs.bots.networks import BEST_FILE, CURVE_FILE, LAST_FILE, checkpoint_at
from kepler_envs.bots.networks.checkpoint import PLAIN_WEIGHTS, plain_weights, read_description, trained_configurations
from kepler_envs.bots.protocol import BotError, TrustedDecisions
from kepler_envs.cli.common import Flag, parse
from kepler_envs.engine.batch import Batch
from kepler_envs.engine.game import Configuration
from kepler_envs.engine.network import NetworkShape
from kepler_envs.engine.seeds import opponent_seeds
from kepler_envs.files import write_atomically

MOST_BYTES = 1_000_000
"""Published files are smaller than this, because they stay in the history of the repository forever."""
LEAST_AGREEMENT = 0.99
MOST_DROPPED_BITS = 3
"""A network that is too large loses so many of the ten binary digits of its weights at most."""
COMPARED_GAMES, COMPARED_STEPS = 64, 100


@dataclass(frozen=True)
class Publish:
    """Publish the network of a training run."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN_FOLDER")]
    """Folder of the run, or one of its checkpoints. From a folder, best.zip is published."""
    name: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="GAME/NAME")]
    """Name to load it by, for example ad_astra/bc-v1."""
    replace: Flag = False
    """Replace the network of that name if there is one."""
    best: Flag = False
    """Make it the best network of its game, also loaded as GAME/best."""


@dataclass(frozen=True)
class Published:
    """The published file."""

    path: Path
    size: int
    description: dict[str, Any]


def publish(request: Publish) -> Published:
    """Write the published copy of a run's checkpoint.

    Raises:
        BotError: a bad name, one that is taken, a checkpoint of another game, with cards of its own or without its run
            beside it, one that is too large, or one that plays otherwise in float16.
    """
    source = checkpoint_at(request.run)
    description = read_description(source)
    target = _target(request, description)
    configs = trained_configurations(description, str(source))
    if description["components_digest"] != configs[-1].components_digest:
        raise BotError(f"{source} has learned with a component file of its own; published networks play the game's own")
    originals = [checkpoint.load_policy(source, config) for config in configs]
    shape, whole = NetworkShape.from_json(description["network"]), checkpoint.half_precision(originals[-1])
    description = _published_description(description, source)
    for dropped in range(MOST_DROPPED_BITS + 1):
        weights = rounded(whole, dropped)
        agreement = min(
            agreement_of_play(original, weights, config, shape)
            for original, config in zip(originals, configs, strict=True)
        )
        if agreement < LEAST_AGREEMENT:
            raise BotError(f"{source}: {_why_not(agreement, dropped)}")
        compared = {"positions": COMPARED_GAMES * COMPARED_STEPS, "same_choice": agreement, "dropped_bits": dropped}
        entries = {PLAIN_WEIGHTS: weights, CURVE_FILE: _curve(source.parent)}
        content = checkpoint.checkpoint_bytes({**description, "float16": compared}, entries, compress=True)
        if len(content) < MOST_BYTES:
            break
    else:
        raise BotError(
            f"{source} takes {len(content):,} bytes, allowed are fewer than {MOST_BYTES:,}: train a smaller network "
            "(--width, --hidden, --rows)"
        )
    write_atomically(target, content)
    if request.best:
        write_atomically(published.best_path(target.parent.name), f"{target.stem}\n".encode())
    return Published(target, len(content), {**description, "float16": compared})


def _why_not(agreement: float, dropped: int) -> str:
    """Why a network cannot be stored with so many bits dropped, in which it chooses the same in this share of
    positions."""
    if not dropped:
        return f"in float16 it chooses the same in {agreement:.2%} of positions only"
    return (
        f"it takes at least {MOST_BYTES:,} bytes, or chooses the same in {agreement:.2%} of positions only, without "
        f"{dropped} bits of each weight: train a smaller network (--width, --hidden, --rows)"
    )


def _target(request: Publish, description: Mapping[str, Any]) -> Path:
    game, slash, name = request.name.partition("/")
    if not slash or not published.NAME.fullmatch(name) or name == published.BEST or name in KINDS:
        raise BotError(f"{request.name!r} cannot be published; write GAME/NAME with a name like bc-v1")
    trained = kepler_envs.load_game(description["game"]).name
    if game != trained:
        raise BotError(f"{request.run} was trained for {trained}; publish it as {trained}/{name}, not {request.name}")
    target = published.published_path(game, name)
    if target.exists() and not request.replace:
        raise BotError(f"{request.name} is published already ({target}); --replace writes another in its place")
    return target


def _published_description(description: Mapping[str, Any], source: Path) -> dict[str, Any]:
    """The description without the training folder, and with what it takes to train the network again."""
    training = {name: value for name, value in description["training"].items() if name != "out"}
    last = source.parent / LAST_FILE
    if not last.exists():
        raise _alone(last)
    whole = read_description(last)["results"]
    return {
        **description,
        "training": training,
        "command": command_line(training),
        "seed": training["seed"],
        "budget": {
            "steps": whole["steps"],
            "minutes": round(whole["seconds"] / 60, 1),
            "prolonged": whole.get("prolonged", []),
        },
    }


def _curve(folder: Path) -> bytes:
    try:
        return (folder / CURVE_FILE).read_bytes()
    except FileNotFoundError:
        raise _alone(folder / CURVE_FILE) from None


def _alone(missing: Path) -> BotError:
    """The error for a network without that file of its run beside it."""
    return BotError(f"there is no {missing.name} in {missing.parent}: only the folder of a whole run can be published")


# ---------------------------------------------------------------- precision


def rounded(weights: bytes, bits: int) -> bytes:
    """Weights in float16, the bytes of a NumPy file, with that many of their last ten binary digits rounded off.

    Zeros in their place compress well.
    """
    if not bits:
        return weights
    with np.load(io.BytesIO(weights), allow_pickle=False) as found:
        arrays: dict[str, Any] = {name: found[name].view(np.uint16).astype(np.uint32) for name in found.files}
    half, kept = 1 << (bits - 1), 0xFFFF & ~((1 << bits) - 1)
    buffer = io.BytesIO()
    np.savez(
        buffer, **{name: ((array + half) & kept).astype(np.uint16).view(np.float16) for name, array in arrays.items()}
    )
    return buffer.getvalue()


def agreement_of_play(original: PiecePolicy, weights: bytes, config: Configuration, network: NetworkShape) -> float:
    """How often a network with these weights chooses what the original chooses, at positions that the original
    reaches."""
    copy = build(network, config)
    set_weights(copy, plain_weights(weights))
    one, other = bot_of(original, config), bot_of(copy, config)
    batch = Batch(config, COMPARED_GAMES, COMPARED_SEED)
    rows = begun = np.arange(COMPARED_GAMES)
    same = 0
    for _ in range(COMPARED_STEPS):
        for bot in (one, other):
            bot.start(begun, opponent_seeds(batch.seed[begun]))
        decisions = TrustedDecisions(batch, rows)
        actions = one.act(decisions)
        same += int((other.act(decisions) == actions).sum())
        batch.step(actions)
        begun = np.flatnonzero(batch.terminated | batch.truncated)
    return same / (COMPARED_GAMES * COMPARED_STEPS)


# ---------------------------------------------------------------- terminal


def budget_in_words(budget: Mapping[str, Any]) -> str:
    """A budget in decisions, in minutes, or in both."""
    steps, minutes = budget["steps"], budget["minutes"]
    words = [f"{steps:,} decisions"] if steps is not None else []
    words += [f"{minutes:g} minutes"] if minutes is not None else []
    return " or ".join(words) or "the default"


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    with plain_ending():
        request = parse(Publish, "agents.publish", __doc__, argv)
        written = publish(request)
        _show(written, from_best=request.run.is_dir() or request.run.name == BEST_FILE)


def _show(written: Published, from_best: bool) -> None:
    """Print what was published; ``from_best`` says whether it was chosen as the best of its run."""
    about = written.description
    print(f"{written.path}: {written.size:,} bytes, {about['results']['parameters']:,} parameters in float16")
    print(f"  {about['game']}, {about['num_players']} players, options {about['options']}")
    print(f"  {about['command']}")
    for earlier in about["budget"]["prolonged"]:
        print(f"  prolonged after {earlier['at']:,} decisions; its budget was {budget_in_words(earlier)}")
    print(f"  trained for {about['budget']['minutes']} minutes, {about['budget']['steps']:,} decisions; this is the")
    print(f"  network after {about['results']['steps']:,}, commit {about['commit']}")
    others = [str(one) for one in about["results"].get("commits", []) if one != about["commit"]]
    if others:
        print(f"  it also learned with {', '.join(others)}")
    if from_best:
        print("  when it was chosen, by one of many evaluations on the same games (in new ones it may win less):")
    else:
        print("  in its last evaluation:")
    for opponent, wins in about["results"]["evaluations"].items():
        interval = f"{wins['low']:.1%} .. {wins['high']:.1%}"
        print(f"    wins {wins['mean']:.1%} ({interval}) of {wins['games']} {against(opponent)}")
    print(
        f"  chooses as in float32 in at least {about['float16']['same_choice']:.2%} of "
        f"{about['float16']['positions']:,} positions, whatever number of players and options it plays with"
    )
    if (about["commit"] or "+").endswith("+"):
        print(
            "  note: trained in a checkout with uncommitted changes, or outside of one; nobody can train it again "
            "exactly"
        )


if __name__ == "__main__":
    main()
