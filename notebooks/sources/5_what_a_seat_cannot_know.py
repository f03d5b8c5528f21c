# %% [markdown]
# # 5. What a seat cannot know
#
# A program that looks ahead in the true position sees through the backs of the cards. An honest one has to look ahead
# in a position that *could* be the true one. We redraw hidden cards and measure what that keeps and what it changes.
# Then a search does it a thousand times, and we look into its tree.

# %%
import matplotlib.pyplot as plt
import numpy as np

import kepler_envs

plt.rcParams.update({"figure.figsize": (7, 3), "figure.dpi": 80, "axes.spines.top": False, "axes.spines.right": False})

config = kepler_envs.load_game("kitten_adventurers").configure(3)
position = kepler_envs.Snapshot.deal(config, 20)
rng = np.random.default_rng(2)
for _ in range(40):
    position = position.apply(int(rng.choice(position.legal_actions())))
viewer = position.seat
print(position.text(viewer))

# %% [markdown]
# ## Redrawing
#
# `resample` takes a seat and a seed. It redraws everything that seat cannot know: the others' hands, their quest piles,
# the deck, and all future chance. Here is the hand of one opponent in the true position and in three redrawn ones.

# %%
other = (viewer + 1) % 3
worlds = [position.resample(viewer, seed) for seed in range(200)]


def hand(world, seat):
    """The hand of a seat, by card type."""
    return config.observation["cards.hand"].view(world.observe(seat))


print("true      ", hand(position, other))
for number, world in enumerate(worlds[:3]):
    print(f"redrawn {number} ", hand(world, other))

# %% [markdown]
# What the viewer sees stays the same to the last byte, and so do its legal actions. What the other seat sees changes.

# %%
same = [np.array_equal(world.observe(viewer), position.observe(viewer)) for world in worlds]
mask = [np.array_equal(world.action_mask(), position.action_mask()) for world in worlds]
changed = [not np.array_equal(world.observe(other), position.observe(other)) for world in worlds]
print(
    f"viewer sees the same: {np.mean(same):.0%}, has the same actions: {np.mean(mask):.0%}; the other sees a change: "
    f"{np.mean(changed):.0%}"
)

# %% [markdown]
# Are the redrawn hands fair? The viewer knows how many cards of each type it has not seen: `cards.unseen`. On average,
# a hidden hand of *n* cards should hold *n* times their shares.

# %%
mean_hand = np.mean([hand(world, other) for world in worlds], axis=0)
unseen = config.observation["cards.unseen"].view(position.observe(viewer)).astype(float)
expected = hand(position, other).sum() * unseen / unseen.sum()
places = np.arange(len(unseen))
plt.bar(places - 0.2, mean_hand, 0.4, label="mean of 200 redrawn hands")
plt.bar(places + 0.2, expected, 0.4, color="lightgray", label="expected from what is unseen")
plt.xticks(places, [*map(str, range(13)), "*"])
plt.xlabel("card type")
plt.legend()
plt.show()

# %% [markdown]
# ## Searching
#
# Before every iteration the tree search (ISMCTS) redraws. It walks down one tree that all redrawn worlds share, plays
# the game to its end, and adds the result on the way back. It cannot cheat, because it never sees the true cards:

# %%
from kepler_envs.bots.search import MctsConfig, search

asked = MctsConfig(iterations=2000)
result = search(position, asked, seed=1)
from_elsewhere = search(worlds[7], asked, seed=1)
print(f"{result.iterations} iterations, {result.simulated:,} decisions simulated")
print("the same tree from a position with other hidden cards:", result.tree.tobytes() == from_elsewhere.tree.tobytes())

# %%
order = np.argsort(-result.visits)[: (result.visits > 0).sum()]
for action in order:
    print(f"{result.visits[action]:5} visits   value {result.values[action]:+.3f}   {config.actions.text(int(action))}")

# %% [markdown]
# Visits are what counts: the search returns to what looks good, and plays the most visited decision. The value is the
# mean return of the games through it. The most visited one need not have the highest: half of what a search believes
# beforehand (`trust`, see below) goes to the choice of `greedy`, here the wormhole.
#
# ## Inside the tree
#
# `result.tree` is an array of nodes with `parent`, `action`, `visits`, `available` and `value` (the summed returns of
# each seat). We walk down the most visited branch.

# %%
tree = result.tree
print(f"{len(tree)} nodes")


def children(node):
    """The nodes below this one, most visited first."""
    below = np.flatnonzero(tree["parent"] == node)
    return below[np.argsort(-tree["visits"][below])]


node, depth = 0, 0
while len(children(node)) and depth < 8:
    node = children(node)[0]
    depth += 1
    visits, available = int(tree["visits"][node]), int(tree["available"][node])
    values = tree["value"][node][:3] / visits
    print(f"{'  ' * depth}{config.actions.text(int(tree['action'][node]))}")
    print(
        f"{'  ' * depth}  {visits} visits, legal in {available} of the iterations that came by; returns "
        f"{values.round(2)}"
    )

# %% [markdown]
# `available` is the interesting number. Further down, what somebody can do depends on cards that the viewer does not
# know. A decision is not worse because few worlds allow it, so the search compares its visits with how often it was
# legal.

# %%
depths = np.zeros(len(tree), int)
for number in range(1, len(tree)):
    depths[number] = depths[tree["parent"][number]] + 1
visits_at = [tree["visits"][depths == level].sum() for level in range(depths.max() + 1)]
nodes_at = [(depths == level).sum() for level in range(depths.max() + 1)]
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 2.8))
left.bar(range(len(nodes_at)), nodes_at)
left.set(xlabel="depth", ylabel="nodes")
right.bar(range(len(visits_at)), visits_at, color="tab:orange")
right.set(xlabel="depth", ylabel="visits")
plt.tight_layout()
plt.show()

# %% [markdown]
# ## How sure is it?
#
# With another seed the search draws other worlds. If ten searches disagree, the budget is too small to tell the
# decisions apart, or the choice does not matter.

# %%
from collections import Counter

for trust in (0.5, 0.0):
    for iterations in (50, 500, 2000):
        settings = MctsConfig(iterations=iterations, trust=trust)
        chosen = Counter(search(position, settings, seed).action for seed in range(10))
        words = ", ".join(f"{config.actions.text(action)} ({count})" for action, count in chosen.most_common(4))
        print(f"trust {trust}, {iterations:5} iterations: {words}")

# %% [markdown]
# `trust` is the share of the prior that goes to the choice of the playout policy, `greedy`. With it, few iterations are
# enough to agree. Without it, the search has to find out for itself.
#
# Next and last: other cards.
