"""Seeds of batches that training itself deals nowhere: all that are reserved here, so that no two are the same.

Training deals from the seed of a run, at most MOST_SEED, and the few that follow. To the first two below, the seed of a
run is added, and to the last one the number of a generation.
"""

from __future__ import annotations

EXPERT_SEED = 2**60
"""Of the games that expert iteration learns from."""
TEACHER_SEED = 2**61
"""Of the games of teachers."""
EVALUATION_SEED = 2**62
"""Of the evaluations during training, which are the same every time."""
FINAL_SEED = EVALUATION_SEED + 1
"""Of the final games of an attack."""
COMPARED_SEED = EVALUATION_SEED + 3
"""Of the positions in which a network that is published is compared with its float16 copy."""
FRESH_SEED = FINAL_SEED + 2**20
"""Of the games of the best of several attackers, which those that choose it are not."""
BENCHMARK_SEED = 2**62 + 2**40
"""Of the games of the benchmark. Changing it makes another version of the benchmark."""
TRIAL_SEED = 2**62 + 2**41
"""Of the games that show that an agent of the benchmark works."""
BEST_SEED = 2**62 + 2**42
"""Of the games against the best network so far, in expert iteration. The number of the generation is added: one set of
deals may favour a seat, and would let the same kind of network pass every time."""
