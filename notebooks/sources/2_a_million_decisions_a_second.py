# %% [markdown]
# # 2. A million decisions a second
#
# Learning and search need many games. The rules are compiled, a position is a few hundred bytes, and a *batch* steps
# thousands of games with one call. We measure it, play whole games inside compiled code, and see why a seed and a list
# of actions are all you need to keep.

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

import kepler_envs

plt.rcParams.update({"figure.figsize": (7, 3), "figure.dpi": 80, "axes.spines.top": False, "axes.spines.right": False})

# %% [markdown]
# ## A batch
#
# The arrays belong to the batch, and every step overwrites them. Row *g* belongs to game *g*.

# %%
batch = kepler_envs.make_batch("kitten_adventurers", num_envs=1024, num_players=4, seed=0)
for name in ("observation", "action_mask", "seat", "reward", "terminated", "truncated"):
    array = getattr(batch, name)
    print(f"{name:12} {array.dtype!s:8} {array.shape}")

# %% [markdown]
# `uniform` picks a legal id for each game; any array of legal ids will do. Games that end are reset at once, and their
# results stay in the `final_*` arrays.

# %%
steps = 1000
batch.step(batch.uniform())  # the first step may have to compile
began = time.perf_counter()
for _ in range(steps):
    batch.step(batch.uniform())
seconds = time.perf_counter() - began
print(
    f"{steps * batch.num_envs / seconds / 1e6:.1f} million decisions per second, {batch.episodes.sum()} games finished"
)

# %% [markdown]
# That is one core, with an observation and a mask written at every step, on a machine that was busy with other work.
# How much does the size of the batch matter?

# %%
sizes = [1, 4, 16, 64, 256, 1024, 4096]
speeds = []
for size in sizes:
    games = kepler_envs.make_batch("kitten_adventurers", num_envs=size, num_players=4, seed=0)
    rounds = max(20, 200_000 // size)
    began = time.perf_counter()
    for _ in range(rounds):
        games.step(games.uniform())
    speeds.append(rounds * size / (time.perf_counter() - began) / 1e6)

plt.plot(sizes, speeds, "o-")
plt.xscale("log")
plt.xlabel("games in the batch")
plt.ylabel("million decisions / s")
plt.title("A call from Python costs the same for one game and for many")
plt.show()

# %% [markdown]
# ## The same games at every size
#
# Row *g* plays the games of stream *g* of the seed, however many rows there are. So results do not depend on how the
# work is divided.

# %%
small, large = (kepler_envs.make_batch("kepler_run", num_envs=size, seed=5) for size in (3, 300))
print((small.observation == large.observation[:3]).all(), small.seed)

# %% [markdown]
# You can also play any row as a game of its own, dealt from its seed:

# %%
env = kepler_envs.make("kepler_run")
env.reset(seed=int(large.seed[2]))
print((env.observe(env.agent_selection)["observation"] == large.observation[2]).all())

# %% [markdown]
# ## Playouts
#
# Search asks one question again and again: how does this game end if everybody plays on somehow? `playouts` answers it
# without returning to Python in between. Who wins from the first position of a game if all play at random?

# %%
config = kepler_envs.load_game("kepler_run").configure(4, reward_mode="win")
position = kepler_envs.Snapshot.deal(config, 3)
kepler_envs.playouts(position, 1, seed=0)
began = time.perf_counter()
result = kepler_envs.playouts(position, 5000, seed=1)
seconds = time.perf_counter() - began
games, decisions = len(result.lengths) / seconds, result.lengths.sum() / seconds / 1e6
print(f"{games:,.0f} games and {decisions:.1f} million decisions per second")
print("mean return by seat:", result.returns.mean(0).round(3))

# %% [markdown]
# The returns of a position sum to zero. The lengths show what the game is like:

# %%
plt.hist(result.lengths, bins=range(result.lengths.min(), result.lengths.max() + 2), color="tab:blue")
plt.xlabel("decisions in a game of Kepler Run, uniform players")
plt.ylabel("games")
plt.show()

# %% [markdown]
# ## Snapshots
#
# A position is immutable, and `apply` returns the next one. To go back, keep the old one. To compare positions, compare
# bytes.

# %%
first = position.apply(position.legal_actions()[0])
second = position.apply(position.legal_actions()[0])
print(first == second, first != position, len(position.states.tobytes()), "bytes")
print(position.digest()[:16], first.digest()[:16])

# %% [markdown]
# ## Replays
#
# Chance is part of the state, so a seed and the ids of the decisions are the whole game. A replay file adds words for
# people, and a hash of the last position for verification.

# %%
from kepler_envs.engine.replay import read_replay, record, verify, write_replay

rng = np.random.default_rng(4)
now, actions = kepler_envs.Snapshot.deal(config, 9), []
while not now.over:
    actions.append(int(rng.choice(now.legal_actions())))
    now = now.apply(actions[-1])
write_replay("game.jsonl", record(config, 9, actions, ["Ada", "Ben", "Cleo", "Dan"]))
with open("game.jsonl") as file:
    lines = file.readlines()
print(*(line[:100] for line in (*lines[:4], lines[-1])), sep="\n")

# %%
replay = read_replay("game.jsonl")
print("verified:", verify(replay, config) == now)
replay.actions[5] = next(action for action in range(len(config.actions)) if action != replay.actions[5])
try:
    verify(replay, config)
except Exception as problem:
    print(type(problem).__name__, "-", str(problem)[:160])

# %% [markdown]
# A changed decision does not go unnoticed: it is illegal, its text differs, or the last hash differs.
#
# Next: an agent that learns from all this speed.
