"""A headless Chromium for tests: Debian's, driven by playwright."""

from __future__ import annotations

import os
import random
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium() -> str | None:
    """Where the browser is; KEPLER_ENVS_CHROMIUM names another one."""
    return os.environ.get("KEPLER_ENVS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; tests are skipped with a warning where it or playwright is missing."""
    path = find_chromium()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _skip("playwright is not installed (extra dev)")
    if path is None:
        _skip("there is no chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        try:
            yield browser
        finally:
            browser.close()


def _skip(reason: str) -> None:
    warnings.warn(f"THE PAGES ARE NOT TESTED: {reason}", stacklevel=3)
    pytest.skip(reason)


@contextmanager
def page_of(browser: Any, width: int = 1200, height: int = 900, **settings: Any) -> Iterator[Any]:
    """A page in a context of its own; what it says on its console, and errors, fail the test."""
    context = browser.new_context(viewport={"width": width, "height": height}, **settings)
    context.set_default_timeout(30_000)
    page = context.new_page()
    said: list[str] = []
    page.on("pageerror", lambda error: said.append(f"error: {error}"))
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    try:
        yield page
    finally:
        context.close()
    assert not said, said


def decide(page: Any, chance: random.Random, prefer: str = "") -> bool:
    """Click one legal action: on the board where it has one, else in the list. False once the game is over.

    Args:
        prefer: words of a move that is taken in the list whenever it is there.
    """
    page.locator(".choices .moves button, .results").first.wait_for()
    if page.locator(".results").count():
        return False
    version = page.locator(".board").get_attribute("data-version")
    preferred = page.locator(".moves button", has_text=prefer) if prefer else None
    marked = page.locator(".board .can")
    if preferred is not None and preferred.count():
        preferred.first.click()
    elif (count := marked.count()) and chance.random() < 0.8:
        marked.nth(chance.randrange(count)).locator("> .ring").dispatch_event("click")
        menu = page.locator(".menu button")
        if menu.count() and menu.first.is_visible():
            menu.nth(chance.randrange(menu.count())).click()
    else:
        moves = page.locator(".moves button")
        moves.nth(chance.randrange(moves.count())).click()
    page.locator(f".board:not([data-version='{version}'])").wait_for()
    return True
