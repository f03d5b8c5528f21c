"""From ranks to zero-sum returns: the two ways games share."""

from __future__ import annotations

from kepler_envs.engine.kernel import helper


@helper
def win_returns(ranks, n, out):
    """w winners get (n - w) / (w (n - 1)) each, all others -1 / (n - 1)."""
    winners = 0
    for seat in range(n):
        if ranks[seat] == 1:
            winners += 1
    for seat in range(n):
        out[seat] = (n - winners) / (winners * (n - 1)) if ranks[seat] == 1 else -1 / (n - 1)


@helper
def rank_returns(ranks, n, out):
    """1 - 2 (rank - 1) / (n - 1), tied seats averaging their ranks.

    Computed as the mean over all others of +1 (behind this seat), 0 (tied), -1 (ahead), which is the same.
    """
    for seat in range(n):
        balance = 0
        for other in range(n):
            if ranks[seat] < ranks[other]:
                balance += 1
            elif ranks[seat] > ranks[other]:
                balance -= 1
        out[seat] = balance / (n - 1)
