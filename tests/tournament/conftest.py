"""Pages of whole games take seconds each. Tests of anything else than the report do without them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kepler_envs.web import page
from tests.tournament.without_pages import empty_page

WITH_PAGES = ("test_report_page", "test_report_names")


@pytest.fixture(autouse=True, scope="module")
def _no_pages_of_whole_games(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__.rpartition(".")[2] not in WITH_PAGES:
            patch.setattr(page, "replay_page", empty_page)
        yield
