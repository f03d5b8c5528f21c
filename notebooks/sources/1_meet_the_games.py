# %% [markdown]
# # 1. Meet the games
#
# Five board games, one way to play them. We deal a game of *Kitten Adventurers*, look at the table, make a few
# decisions by hand, and then see what the other four look like. It takes ten minutes, and nothing has to be trained
# yet.

# %%
from IPython.display import SVG

import kepler_envs

for name in kepler_envs.list_games():
    game = kepler_envs.load_game(name)
    players = f"{game.min_players}-{game.max_players} players"
    print(f"{game.title:20} {game.id:24} {players:12} {len(game.actions):4} actions, {game.observation.size:5} entries")

# %% [markdown]
# ## A table
#
# `make` returns a [PettingZoo](https://pettingzoo.farama.org) environment. The same seed always deals the same game.

# %%
env = kepler_envs.make("kitten_adventurers", num_players=3, render_mode="svg", render_seat=0)
env.reset(seed=11)
SVG(env.render())

# %% [markdown]
# This is what `player_0` may see: the hands of the others are face down. Everybody has a hand, four lanes, and a *quest
# pile* of which only the top card is face up. In the middle lie the *ladders*, which run 0, 1, 2, ... 12 and belong to
# everybody. Whoever plays the last card of their quest pile wins.
#
# ## A decision
#
# One seat decides at a time. It chooses among *action ids*, and each id has a text:

# %%
print(env.agent_selection, "decides:")
for action in env.legal_actions():
    print(f"{action:4}  {env.action_text(action)}")

# %% [markdown]
# A program gets the same choice as a mask, beside the observation. Both are plain NumPy arrays:

# %%
seen = env.observe(env.agent_selection)
print(seen["observation"].shape, seen["observation"].dtype, seen["observation"][:20])
print(seen["action_mask"].shape, seen["action_mask"].nonzero()[0])

# %% [markdown]
# ## The tables of an observation
#
# Hundreds of numbers without names would be hard to love, so they have names. An observation consists of *tables* of
# cards, lanes, players and so on. Each table has a row per entity, and named fields with bounds and a meaning. A field
# is a view into the vector, so looking costs nothing.

# %%
layout = env.config.observation
for name in ("cards.hand", "ladders.height", "players.quest_top", "players.hand_count", "game.deck_count"):
    piece = layout[name]
    print(f"{name:20} {piece.kind:9} {piece.view(seen['observation'])}")
    print(f"{'':20} {piece.meaning}")

# %% [markdown]
# `cards` has a row for each type: row 0 are wormholes, 1 to 12 the values, the last one the wild hyperspeed cards. The
# table of players begins with the observing seat, so row 0 of `players.quest_top` is always the observer's own quest
# card. After these facts come *derived* fields, which follow from them: `cards.chain`, for example, says which cards of
# the hand lead to the quest card.
#
# ## Play by hand
#
# Let us play the first turn ourselves, in words. Playing cards on ladders is good, because an empty hand is refilled.
# The turn ends with a card placed in a lane.

# %%
turn = env.agent_selection
while env.agent_selection == turn:
    legal = {action: env.action_text(action) for action in env.legal_actions()}
    plays = [action for action, text in legal.items() if text.startswith("play")]
    action = plays[0] if plays else min(legal)
    print(f"{env.agent_selection}: {legal[action]}")
    env.step(action)
SVG(env.render())

# %% [markdown]
# What if we cheat? Nothing is replaced silently: an illegal action raises an error that names it in words, and the game
# stays as it was.

# %%
illegal = next(action for action in range(len(env.config.actions)) if action not in env.legal_actions())
try:
    env.step(illegal)
except kepler_envs.IllegalAction as problem:
    print(problem)

# %% [markdown]
# ## To the end
#
# The rest is played by dice. `agent_iter` and `last` are PettingZoo's. A seat may come up several times in a row, and
# at the end everybody comes up once more to collect the reward.

# %%
import numpy as np

rng = np.random.default_rng(0)
decisions = 0
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    if terminated or truncated:
        print(f"{agent}: reward {reward:+.2f}, place {info['rank']}, score {info['score']}")
        env.step(None)
    else:
        env.step(rng.choice(np.flatnonzero(observation["action_mask"])))
        decisions += 1
print(decisions, "decisions")

# %% [markdown]
# Here rewards come at the end and sum to zero: a win pays 1, and the losers share the loss.
#
# ## The other four
#
# Here is a position of each, from the middle of a game of random players, as the seat to move sees it. Every game has a
# page with its rules, its nodes, its observation piece by piece, and a note on what is reconstructed.


# %%
def middle(name, decisions, seed=1):
    """A position after some random decisions."""
    position = kepler_envs.Snapshot.deal(kepler_envs.load_game(name).configure(), seed)
    choose = np.random.default_rng(seed)
    for _ in range(decisions):
        position = position.apply(int(choose.choice(position.legal_actions())))
    return position


position = middle("kepler_run", 25)
print(position.node.name, "-", position.config.actions.text(position.legal_actions()[0]), "...")
SVG(position.drawing(position.seat).svg())

# %%
position = middle("race_to_kepler", 200)
print(position.node.name, "-", position.config.actions.text(position.legal_actions()[0]), "...")
SVG(position.drawing(position.seat).svg())

# %%
position = middle("ad_astra", 120)
print(position.node.name, "-", position.config.actions.text(position.legal_actions()[0]), "...")
SVG(position.drawing(position.seat).svg())

# %% [markdown]
# The fifth, *Kepler-3042*, has a map of 418 hexes. It can be played as text, too:

# %%
position = middle("kepler_3042", 60)
print("\n".join(position.text(position.seat).splitlines()[:32]))

# %% [markdown]
# In a terminal, `kepler-envs play kitten_adventurers --agents greedy greedy` seats you at such a table.
#
# Next: what happens when a thousand of these tables are played at once.
