"""From places to zero-sum returns: the two ways games share."""

from __future__ import annotations

from kepler_envs.engine.kernel import helper


@helper
def win_returns(places, n, out):
    """w winners get (n - w) / (w (n - 1)) each, all others -1 / (n - 1)."""
    winners = 0
    for seat in range(n):
        if places[seat] == 1:
            winners += 1
    for seat in range(n):
        out[seat] = (n - winners) / (winners * (n - 1)) if places[seat] == 1 else -1 / (n - 1)


@helper
def rank_returns(places, n, out):
    """1 - 2 (place - 1) / (n - 1), tied seats averaging their places.

    Computed as the mean over all others of +1 (behind this seat), 0 (tied), -1 (ahead), which is the same.
    """
    for seat in range(n):
        balance = 0
        for other in range(n):
            if places[seat] < places[other]:
                balance += 1
            elif places[seat] > places[other]:
                balance -= 1
        out[seat] = balance / (n - 1)
