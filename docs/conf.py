"""Sphinx: what ``make docs`` builds the site from."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # agents is used from the checkout

import kepler_envs

project = "kepler_envs"
author = "the kepler_envs authors"
release = version = kepler_envs.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "kepler_envs"
html_static_path: list[str] = []

myst_heading_anchors = 3
myst_links_external_new_tab = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}
autoclass_content = "both"
napoleon_google_docstring = True
napoleon_numpy_docstring = False

napoleon_use_ivar = True  # attributes are described in the class's own docstring
suppress_warnings = ["myst.header"]  # game pages are read on their own, too

STAR = re.compile(r"(?<![*\\`\w])\*(?=\w)")
"""The star of ``*shape``, which is no markup in a docstring."""


def setup(app: Any) -> None:
    """Docstrings are written for people at a terminal; here their stars are told from emphasis."""
    app.connect("autodoc-process-docstring", escape_stars)


def escape_stars(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Change ``lines`` in place."""
    lines[:] = [STAR.sub(r"\\*", line) for line in lines]
