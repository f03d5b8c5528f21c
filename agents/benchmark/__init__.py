"""A benchmark of learning methods on the games: ``python -m agents.benchmark``, explained in docs/benchmark.md."""
