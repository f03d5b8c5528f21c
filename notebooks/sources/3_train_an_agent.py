# %% [markdown]
# # 3. Train an agent
#
# A network learns *Race to Kepler* for two players: MaskablePPO from sb3-contrib, one network on both seats, about a
# minute and a half. We draw its learning curve, look at what it does differently from a random player, and play against
# `greedy`, a program of hand-written rules.

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
# Most moves of a game are other people's. A learner is asked only when its seat decides, and it is paid everything that
# happened since: also the loss that somebody else's last move brought about. That is where many adapters go wrong, and
# a network that never sees a loss learns little.

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
    f"{len(paid)} own decisions, rewards that are not zero: {[reward for reward in paid if reward]}, place "
    f"{info['rank']}"
)

# %% [markdown]
# Random players rarely reach Kepler before the round limit; nobody has won then, and places are paid half. The first
# thing to learn is to travel at all.
#
# ## Training
#
# The settings are a dataclass; `python -m agents.train race_to_kepler --players 2 --minutes 1.2` says the same in a
# terminal. `shared` self-play: the network plays both seats of 64 games at once and learns from both. Every evaluation
# plays 200 games against uniform players and 200 against `greedy`, seats rotated.

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
# An agent is named by a word, and `net:FOLDER` is a trained one. Let it play itself, let uniform players play
# themselves, and count which kinds of decisions they make where they have that choice.


# %%
def habits(spec, games=64, decisions=300):
    """Of the decisions in which a block of actions was possible beside others, the share in which it was chosen."""
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
# The blocks at the top are what it has come to like, those at the bottom what it avoids; the game's page says what each
# of them does. `END` and `DONE` stop a turn or an effect early. Uniform players throw away a good part of their turns
# that way, and not to do so is the first thing a network learns here: it is most of the way to beating them.
#
# ## How good is it?
#
# The evaluation games of training chose the best network, so they flatter it. New games, with seeds that it has never
# seen:

# %%
playing = kepler_envs.load_game("race_to_kepler").configure(2)
learner = bots.load("net:run", playing)
for name in ("uniform", "greedy"):
    result = evaluate(learner, bots.load(name, playing), playing, games=600, seed=123)
    print(f"against {name:8} {result.wins.mean:6.1%} wins  ({result.wins.low:.1%} .. {result.wins.high:.1%})")

# %% [markdown]
# A minute is a short life. The game's page says what longer training comes to.
#
# ## Learning from a search
#
# Self-play learns from who won. A search says more about each decision: which moves it visited, and how often. *Expert
# iteration* lets a network learn that. `bc-v1` plays Ad Astra about as `greedy` does; here it learns from searches of
# 100 iterations in 3-player games, twice, for about a minute. In a terminal: `python -m agents.expert ad_astra
# --players 3 --start bc-v1`.

# %%
from agents.expert_run import iterate
from agents.expert_settings import ExpertConfig

asked = ExpertConfig(
    "ad_astra", players=3, start="bc-v1", games=192, search="100", generations=2, eval_games=200, processes=2,
    out=Path("expert")
)  # fmt: skip
expert = iterate(asked)
for line in expert.curve:
    print(
        f"generation {line['generation']}: {line['seconds']:4.0f} s, {line['win_rate_greedy_3p']:.1%} wins against "
        "greedy"
    )

# %% [markdown]
# Each generation kept the positions it learned from, with what the search would do in them. Where does a search leave
# `greedy`?

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
