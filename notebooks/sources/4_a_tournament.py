# %% [markdown]
# # 4. A tournament
#
# Who is better, by how much, and how sure are we? In games for more than two players that needs care: seats are not
# equal, a bot can finish second, and luck is large. One command runs a balanced tournament and answers with confidence
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
# Four players sit at each table of *Ad Astra*. `uniform` plays at random, `greedy` follows rules of thumb, and
# `mcts:20` searches a little: it plays 20 games in its head before each decision. Every bot sits on each seat equally
# often.

# %% language="bash"
# kepler-envs tournament ad_astra --players 4 --agents uniform greedy mcts:20 --games 108 --processes 2 --out cup

# %% [markdown]
# Ratings use the scale of chess: 400 points are odds of ten to one to finish ahead. They come from all finishing orders
# at once (Plackett-Luce), not from running updates, so the order of the games does not matter. The intervals are a
# Bayesian bootstrap: each sample weighs all games anew.
#
# Everything is kept in files: the ledger `games.sqlite`, `leaderboard.json`, a report, pictures, and replays that can
# be verified.

# %%
print(*sorted(path.name for path in Path("cup").iterdir()), sep="\n")
Image("cup/ratings.png", width=560)

# %% [markdown]
# ## Step through a game
#
# Each replay opens as a page: drag the slider, look from any seat, read the decisions, see the scores. On the command
# line `kepler-envs replay FILE --html game.html` writes the same page into a file.

# %%
from kepler_envs.web.inline import show_replay

show_replay(sorted(Path("cup/replays").glob("*.jsonl"))[0], "Ad Astra: a game of the tournament")

# %% [markdown]
# ## What is a seat worth?
#
# Let equal players play, and look where the winners sat. Usually the first player is drawn by lot. The option
# `first_player` lets seat 0 begin instead. As a batch, three thousand games of four `greedy` players take a few
# seconds.

# %%
import kepler_envs
from kepler_envs import bots


def wins_by_seat(name, games=3000, **options):
    """Share of wins of each seat among greedy players. A shared win counts in parts."""
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
# If the first player is drawn by lot, all seats are worth the same, as they should be. If the seat decides who begins,
# that shows hardly, if at all, in Kitten Adventurers, while in Kepler Run the first seat wins half of all games. So a
# result like "A wins 30 % against three B" means something only if A sat on every seat.
#
# ## Against whom?
#
# A rating is one number against the whole field. The report also says how each bot fares *alone against three of
# another kind*, as in the evaluation of a learner. Here are the ratings as data:

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
# The same command continues where it stopped, and `--games 900` would extend this tournament: games in the ledger are
# not played again.
#
# ## A row of the benchmark
#
# A tournament compares bots. The benchmark compares *methods of learning*: the same game, the same number of decisions,
# several seeds, and a fixed pool of opponents. A score of 0 is what `uniform` gets there, 1 is what `greedy` gets. The
# full rules ask for ten million decisions. Here are three runs of a hundred thousand, which take about a minute and a
# half.

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
# The interval is a bootstrap over runs. One run of an algorithm says little about the next, so every seed has a
# learning curve of its own:

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
# `python -m agents.benchmark check FOLDER` checks an entry that you hand in; the page [Benchmark](../docs/benchmark.md)
# has the tables and the rules. Next: how `mcts` can search a game without seeing the cards of the others.
