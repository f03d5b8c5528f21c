"""Tournaments: a balanced schedule, a ledger that survives interruptions, ratings with intervals, a report.

    python -m agents.tournament kitten_adventurers --agents uniform greedy ppo:runs/train --games 10000 --out runs/tournament

The same command goes on where an earlier one stopped. In the folder there are then ``games.sqlite`` (every game), ``report.html``,
``leaderboard.json``, ``results.md``, ``ratings.png``, ``learning_curve.png`` where there is one, and ``replays/``. See docs/tournaments.md.
"""
