"""``python -m tests.tournament.without_pages`` is ``kepler-envs`` without the pages of whole games.

They take seconds each, and only tests of the report look at them.
"""

from __future__ import annotations

import sys
from typing import Any

from kepler_envs.cli import main
from kepler_envs.web import page


def empty_page(replay: Any, label: str, outcome: Any) -> str:
    return f"<title>{label}</title>"


if __name__ == "__main__":
    page.replay_page = empty_page
    sys.exit(main())
