"""``python -m kepler_envs``: the same as ``kepler-envs``."""

import sys

from kepler_envs.cli import main

sys.exit(main())
