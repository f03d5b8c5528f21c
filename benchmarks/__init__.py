"""What is measured, against what, and how: see README.md in this folder."""

import agents  # noqa: F401  (first of all: how many threads libraries have, and a Ctrl-C while they are loaded)
