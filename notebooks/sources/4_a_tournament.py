# %% [markdown]
# # 4. A tournament
#
# Who is better, by how much, and how sure are we? In games for more than two that needs some care: seats are not equal,
# an agent can finish second, and luck is large. One command plays a balanced tournament and says all that with
# intervals.

# %%
import json
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Image

os.environ.pop("FORCE_COLOR", None)  # plain text from the commands below
plt.rcParams.update({"figure.figsize": (7, 3), "figure.dpi": 80, "axes.spines.top": False, "axes.spines.right": False})

# %% [markdown]
# Four players to a table of *Ad Astra*. `uniform` plays at random, `greedy` follows rules of thumb, `mcts:20` searches
# a little: 20 games in its head before each decision. Every agent sits on each seat equally often.

# %% language="bash"
# kepler-envs tournament ad_astra --players 4 --agents uniform greedy mcts:20 --games 108 --processes 2 --out cup

# %% [markdown]
# Ratings are on the scale of chess: 400 points are odds of ten to one to finish before the other. They come from all
# finishing orders at once (Plackett-Luce), not from a running update, so the order of the games does not matter. The
# interval is a bootstrap: the same tournament, re-drawn from its own games.
#
# Everything is in files: the ledger `games.sqlite`, `leaderboard.json`, a report, pictures, and replays that verify.

# %%
print(*sorted(path.name for path in Path("cup").iterdir()), sep="\n")
Image("cup/ratings.png", width=560)

# %% [markdown]
# ## What is a seat worth?
#
# Let equal players play, and look where the winners sat. Usually the first player is drawn by lot; the option
# `first_player` seats the beginner on seat 0 instead. Three thousand games of four `greedy` players take a few seconds
# as a batch.

# %%
import kepler_envs
from kepler_envs import bots


def wins_by_seat(name, games=3000, **options):
    """Share of wins of each seat among greedy players, a shared win counted in parts."""
    config = kepler_envs.load_game(name).configure(4, **options)
    batch = bots.play_games(bots.load("greedy", config), config, games, seed=99)
    won = batch.final_rank == 1
    return (won / won.sum(1, keepdims=True)).mean(0)


seats = {
    "Kittens, drawn by lot": wins_by_seat("kitten_adventurers"),
    "Kittens, seat 0 begins": wins_by_seat("kitten_adventurers", first_player="seat0"),
    "Kepler Run, seat 0 begins": wins_by_seat("kepler_run", first_player="seat0"),
}
for place, (name, shares) in enumerate(seats.items()):
    plt.bar(np.arange(4) + 0.27 * (place - 1), shares, 0.25, label=name)
plt.axhline(0.25, color="black", linewidth=0.5)
plt.xticks(range(4), [f"seat {seat}" for seat in range(4)])
plt.ylabel("share of wins")
plt.legend(fontsize=8)
plt.title("Four greedy players; an equal share is 0.25")
plt.show()

# %%
error = 1.96 * np.sqrt(0.25 * 0.75 / 3000)
for name, shares in seats.items():
    print(f"{name:26} {shares.round(3)}  +- {error:.3f}")

# %% [markdown]
# Drawn by lot, no seat is worth more than another, as it should be. Where the seat decides who begins, it shows. A
# result like "A wins 30 % against three B" means something only if A sat everywhere.
#
# ## Against whom?
#
# A rating is one number for the whole field. The report also says how each agent fares *alone against three others of a
# kind*, which is what a learner's evaluation measures:

# %%
found = json.loads(Path("cup/leaderboard.json").read_text())
order = [line["agent"] for line in found["lines"]]
for line in found["lines"]:
    low, high = line["rating_low"], line["rating_high"]
    print(
        f"{line['agent']:8} {line['rating']:6.0f}  ({low:.0f} .. {high:.0f})  mean place {line['mean_rank']:.2f}, "
        f"{line['seats']} seats"
    )

# %% [markdown]
# The same command goes on where it stopped, and `--games 900` would extend this tournament: games that are in the
# ledger are not played again.
#
# ## A row of the benchmark
#
# A tournament compares agents. The benchmark compares *ways to learn*: the same game, the same number of decisions,
# several seeds, and a fixed pool of opponents. A score of 0 is what `uniform` gets there, 1 is what `greedy` gets. The
# full rules ask for ten million decisions; here are three runs of a hundred thousand, which take about a minute.

# %% language="bash"
# python -m agents.benchmark run kitten_adventurers pieces --decisions 100000 --seeds 3 --games 400 --search-games 0 \
#     --out rows --record rows.csv --curves curves.csv > /dev/null

# %%
from agents.benchmark.tables import results

columns, rows = results(Path("rows.csv"))
wanted = [columns.index(name) for name in ("method", "decisions", "runs", "all games")]
for row in rows:
    print("   ".join(str(row[place]).strip("`").ljust(12) for place in wanted))

# %% [markdown]
# The interval is a bootstrap over runs. One run of an algorithm says little about the next one, so every point of a
# learning curve belongs to a seed:

# %%
points = np.genfromtxt("curves.csv", delimiter=",", names=True, dtype=None, encoding="utf-8")
for seed in np.unique(points["seed"]):
    its = points[points["seed"] == seed]
    plt.plot(its["decisions"], its["returns"], marker=".", label=f"seed {seed}")
plt.axhline(0, color="black", linewidth=0.5)
plt.xlabel("decisions")
plt.ylabel("mean return against the pool")
plt.legend()
plt.show()

# %% [markdown]
# `python -m agents.benchmark check FOLDER` looks at an entry that you hand in; the page *The benchmark* has the tables
# and the rules. Next: how `mcts` can search a game in which it does not see the cards of the others.
