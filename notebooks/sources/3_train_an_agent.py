# %% [markdown]
# # 3. Train an agent
#
# A network learns *Race to Kepler* for two players in about a minute and a half, with MaskablePPO from sb3-contrib and
# one network on both seats. We plot its learning curve, see what it does differently from a random player, and let it
# play `greedy`, a program of hand-written rules.

# %%
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import kepler_envs
from agents.evaluation import evaluate
from agents.run import train
from agents.settings import TrainConfig
from kepler_envs import bots

plt.rcParams.update({"figure.figsize": (7, 3), "figure.dpi": 80, "axes.spines.top": False, "axes.spines.right": False})

# %% [markdown]
# ## What a learner gets
#
# Most moves of a game are made by others. A learner is asked only when its seat decides. Rewards accumulate between its
# decisions, the final loss included, even if somebody else made the last move. Many adapters get this wrong, and a
# network that never sees a loss learns little.

# %%
import gymnasium

env = gymnasium.make("kepler/race_to_kepler-v1", num_players=2)
observation, info = env.reset(seed=1)
paid = []
over = False
while not over:
    action = env.action_space.sample(info["action_mask"])
    observation, reward, terminated, truncated, info = env.step(action)
    paid.append(reward)
    over = terminated or truncated
print(
    f"{len(paid)} decisions, rewards that are not zero: {[reward for reward in paid if reward]}, place {info['rank']}"
)

# %% [markdown]
# Random players rarely reach Kepler before the round limit. Then nobody has won, and places pay half. The first thing
# to learn is to travel at all.
#
# ## Training
#
# The settings are a dataclass; `python -m agents.train race_to_kepler --players 2 --minutes 1.2 --eval-every 50000`
# does the same in a terminal. In `shared` self-play the network plays both seats of 64 games at once and learns from
# both. Every evaluation plays 200 games against uniform players and 200 against `greedy`, seats rotated.

# %%
config = TrainConfig(
    game="race_to_kepler", players=2, minutes=1.2, eval_every=50_000, eval_games=200, out=Path("run")
)  # fmt: skip
run = train(config)
print(f"{run.steps:,} decisions in {run.seconds:.0f} s")

# %%
steps = [line["steps"] for line in run.curve]
for name, color in (("uniform", "tab:gray"), ("greedy", "tab:orange")):
    wins = np.array([[line[f"{key}_{name}"] for line in run.curve] for key in ("win_rate", "low", "high")])
    plt.plot(steps, wins[0], "o-", color=color, label=f"against {name}")
    plt.fill_between(steps, wins[1], wins[2], color=color, alpha=0.2)
plt.axhline(0.5, color="black", linewidth=0.5)
plt.ylim(0, 1)
plt.xlabel("decisions")
plt.ylabel("share of wins")
plt.legend()
plt.title("Race to Kepler, two players; bands are 95 % intervals")
plt.show()

# %% [markdown]
# ## What it has learned
#
# You name a bot by a spec, and `net:FOLDER` is a trained one. It plays itself, uniform players play themselves, and we
# count how often they choose each kind of action when they have the choice.


# %%
def habits(spec, games=64, decisions=300):
    """How often each block of actions was chosen when it was legal beside others, as a share."""
    playing = kepler_envs.load_game("race_to_kepler").configure(2)
    batch = kepler_envs.Batch(playing, games, 7)
    agent = bots.load(spec, playing)
    rows = np.arange(games)
    agent.start(rows, rows.astype(np.uint64))
    blocks = playing.actions.blocks
    chosen, possible = np.zeros(len(blocks)), np.zeros(len(blocks))
    for _ in range(decisions):
        actions = agent.act(bots.TrustedDecisions(batch, rows))
        for number, block in enumerate(blocks):
            inside = slice(block.first, block.first + block.count)
            offered = batch.action_mask[:, inside].any(1) & (batch.legal_count > batch.action_mask[:, inside].sum(1))
            possible[number] += offered.sum()
            chosen[number] += (offered & (actions >= block.first) & (actions < block.first + block.count)).sum()
        batch.step(actions)
    return {
        block.name: chosen[number] / possible[number] for number, block in enumerate(blocks) if possible[number] > 200
    }


ours, theirs = habits("net:run"), habits("uniform")
both = sorted(ours.keys() & theirs.keys(), key=lambda name: ours[name] - theirs[name])
places = np.arange(len(both))
plt.figure(figsize=(7, 0.32 * len(both) + 1))
plt.barh(places + 0.2, [ours[name] for name in both], 0.4, label="trained")
plt.barh(places - 0.2, [theirs[name] for name in both], 0.4, color="lightgray", label="uniform")
plt.yticks(places, both, fontsize=8)
plt.xlabel("chosen, where it could be")
plt.legend(loc="lower right")
plt.show()

# %% [markdown]
# The network has come to like the blocks at the top and to avoid those at the bottom. The game's page says what each of
# them does. `END` and `DONE` stop a turn or an effect early. Uniform players throw away many of their turns that way.
# Not doing so is the first thing a network learns here, and most of what it takes to beat them.
#
# ## How good is it?
#
# The evaluation games chose the best network, so they flatter it. Here are new games, with seeds that it has never
# seen:

# %%
playing = kepler_envs.load_game("race_to_kepler").configure(2)
learner = bots.load("net:run", playing)
for name in ("uniform", "greedy"):
    result = evaluate(learner, bots.load(name, playing), playing, games=600, seed=123)
    print(f"against {name:8} {result.wins.mean:6.1%} wins  ({result.wins.low:.1%} .. {result.wins.high:.1%})")

# %% [markdown]
# A minute is not much. The game's page says what longer training achieves.
#
# ## Learning from a search
#
# Self-play learns from who won. A search tells more about each decision: which moves it visited, and how often. *Expert
# iteration* lets a network learn from that. `bc-v1` plays Ad Astra about as well as `greedy`. Here it learns from
# searches of 100 iterations in 3-player games, in two generations, which takes less than a minute. In a terminal:
#
#     python -m agents.expert ad_astra --players 3 --start bc-v1 --games 192 --generations 2 --eval-games 200 \
#         --processes 2

# %%
from agents.expert_run import iterate
from agents.expert_settings import ExpertConfig

asked = ExpertConfig(
    "ad_astra", players=3, start="bc-v1", games=192, search="100", generations=2, eval_games=200, processes=2,
    out=Path("expert")
)  # fmt: skip
expert = iterate(asked)
for line in expert.curve:
    wins = f"{line['win_rate_greedy']:.1%} wins against greedy"
    print(f"generation {line['generation']}: {line['seconds']:4.0f} s, {wins}")

# %% [markdown]
# Each generation saved the positions it learned from, with the choices of the search. Where does the search disagree
# with `greedy`?

# %%
from agents.positions import Positions

found = Positions.load(next(Path("expert/games/001").glob("*.npz")))
searched = found.shares[:, 0] > 0
differs = found.action != found.below
names = np.array([block.name for block in expert.games.actions.blocks])
firsts = np.array([block.first for block in expert.games.actions.blocks])
kinds = names[np.searchsorted(firsts, found.below, side="right") - 1]
print(f"{searched.sum():,} searched decisions, {differs[searched].mean():.1%} of them not what greedy would do")
for kind in sorted(set(kinds[searched]), key=lambda kind: -differs[searched & (kinds == kind)].mean())[:6]:
    its = searched & (kinds == kind)
    print(f"{kind:14} {differs[its].mean():6.1%} of {its.sum():,}")

# %% [markdown]
# Next: several agents at many tables, and how to say who is better.
