"""The endurance run: random and greedy games of everything there is, for as long as you like.

    make soak                                        # ten minutes
    make soak SOAK="--minutes 60"
    make soak SOAK="--decisions 10_000_000"          # of each game: what a release has to stand
    python -m tests.soak --repeat games:ad_astra:17  # one trial again, the way a finding names it

Compiled code runs with every index checked, in a cache folder of its own. It is no part of ``make test``.
"""
