"""A benchmark of learning methods on the games: ``python -m agents.benchmark``. docs/benchmark.md explains it."""
