# %% [markdown]
# # 6. Your own cards
#
# The numbers of a game are in a text file, `components.toml`: how many cards of each kind, how many in a hand, what
# things cost. The compiled rules stay, and the numbers may change. We add wild cards to *Kitten Adventurers*, see what
# happens when a file is wrong, and measure what the change does to the game.

# %%
from importlib.resources import files

import matplotlib.pyplot as plt
import numpy as np

import kepler_envs
from kepler_envs import bots

plt.rcParams.update({"figure.figsize": (7, 3), "figure.dpi": 80, "axes.spines.top": False, "axes.spines.right": False})

original = files("kepler_envs.games.kitten_adventurers").joinpath("components.toml").read_text()
print(original[original.index("[provenance]") :][:620])

# %% [markdown]
# Every row says where its number comes from: `R` the rulebook, `E` an example in it, `P` a public source, `D` our own
# design. If you own a game and find a wrong number, correct it here, for yourself or for everybody.
#
# ## A changed file
#
# Six of the 110 cards are wild. What if there were eight?

# %%
start = original.index("id = 13")
row = original[start : original.index("\n\n", start)]
print(row)
changed = original.replace(row, row.replace("count = 6", "count = 8"))
with open("wild.toml", "w") as file:
    file.write(changed)

env = kepler_envs.make("kitten_adventurers", num_players=4, components="wild.toml")
env.reset(seed=1)
print(
    "cards in the game:",
    env.config.tables["cards_total"][0],
    "instead of",
    kepler_envs.load_game("kitten_adventurers").default_tables["cards_total"][0],
)

# %% [markdown]
# Both games live in one process without interfering, and nothing is recompiled. Observations keep their layout; only
# bounds follow the cards.
#
# ## A wrong file
#
# A file is checked before it is played. The message names the row and the rule. Here are a count that makes no sense,
# more wild cards than there is room for ladders, a name used twice, a word instead of a number, and no TOML at all.


# %%
def attempt(text):
    """Try to play with this component file."""
    with open("wrong.toml", "w") as file:
        file.write(text)
    try:
        kepler_envs.make("kitten_adventurers", components="wrong.toml")
    except kepler_envs.ComponentError as problem:
        print(problem)


attempt(original.replace("count = 8", "count = 800", 1))
attempt(original.replace(row, row.replace("count = 6", "count = 16")))
attempt(original.replace('name = "Class 3 planet"', 'name = "Class 2 planet"'))
attempt(original.replace("count = 8", 'count = "many"', 1))
attempt(original.replace("[[card_types]]", "[[card_types]", 1))

# %% [markdown]
# ## What does it do to the game?
#
# We play two thousand games of four `greedy` players each, with 0 to 8 wild cards.


# %%
def games_with(wild, games=2000):
    """A batch in which every row has played one game with that many wild cards."""
    path = f"wild_{wild}.toml"
    with open(path, "w") as file:
        file.write(original.replace(row, row.replace("count = 6", f"count = {wild}")))
    config = kepler_envs.load_game("kitten_adventurers").configure(4, components=path)
    return bots.play_games(bots.load("greedy", config), config, games, seed=1)


wilds = [0, 2, 4, 6, 8]
played = {wild: games_with(wild) for wild in wilds}
lengths = [played[wild].final_length.mean() for wild in wilds]
for wild, length in zip(wilds, lengths, strict=True):
    print(f"{wild:3} wild cards: {length:6.1f} decisions per game")

# %%
plt.plot(wilds, lengths, "o-")
plt.axvline(6, color="black", linewidth=0.5)
plt.xlabel("wild cards (the rulebook has 6)")
plt.ylabel("decisions per game")
plt.ylim(0)
plt.show()

# %% [markdown]
# What about the balance between seats? The first player is usually drawn by lot, so we let seat 0 begin and ask what
# that is worth.

# %%
print("wild cards   share of wins by seat, seat 0 begins")
for wild in (0, 4, 8):
    config = kepler_envs.load_game("kitten_adventurers").configure(
        4, components=f"wild_{wild}.toml", first_player="seat0"
    )
    batch = bots.play_games(bots.load("greedy", config), config, 2000, seed=3)
    won = batch.final_rank == 1
    share = (won / np.maximum(won.sum(1, keepdims=True), 1)).mean(0)
    print(f"{wild:10}   {share.round(3)}   +- {1.96 * np.sqrt(0.1875 / 2000):.3f}")

# %% [markdown]
# Two more wild cards make the game about 5 % shorter. Their effect on the seats is smaller than the interval, or not
# much larger. That is a design question answered in a minute. A replay stores the digest of its cards, so games with
# different cards are never confused.
#
# The commands take such a file as `--components wild_8.toml`. `kepler-envs serve` offers it in the browser,
# `kepler-envs strength` and `tournament` measure bots with it, and `agents.train` learns with it: from scratch, or with
# `--start best` from the network that knows the game's own cards.
#
# That was the hour. The pages have the rest: [concepts](../docs/concepts.md), [bots](../docs/bots.md), [other
# libraries](../docs/adapters.md), and [how to add a game](../docs/adding_a_game.md) of your own.
