"""The games, a folder each. ``kepler_envs.list_games()`` gives their names."""
