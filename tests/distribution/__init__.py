"""Build sdist and wheels, check their contents, and try the wheels in clean environments."""
