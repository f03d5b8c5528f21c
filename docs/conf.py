"""Sphinx: what ``make docs`` builds the site from."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # agents is used from the checkout

from docutils import nodes

import kepler_envs
from docs.pictures import REPLAYS, write_replays

project = "kepler_envs"
author = "the kepler_envs authors"
copyright = f"2026, {author}"
release = version = kepler_envs.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["_build", "notebooks/sources"]
nb_execution_mode = "off"  # `make notebooks` runs them
smartquotes = False  # values of options are copied from the pages
html_theme = "furo"
html_title = f"kepler_envs {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["../build/replays"]
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "versions.html",
        "sidebar/scroll-end.html",
    ]
}
html_context = {"version_folder": os.environ.get("KEPLER_ENVS_DOCS_VERSION", release)}
"""The folder that this site is published in, beside those of other versions; ``versions.json`` beside it names all."""

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
NOTEBOOK = re.compile(r"\[([^]]+)\]\(\.\./(notebooks/\w+)\.ipynb\)")
"""A link to a notebook of the checkout."""
PICTURE = re.compile(r"^!\[.*\]\(.*\)$", re.MULTILINE)
"""A picture in a paragraph of its own."""
TOGETHER = re.compile(r"(?<=\d) (?=%)|(?<=[\d%]) (?=\.\. )|(?<=\d \.\.) (?=-?\d)")
"""The spaces in ``25 %`` and in ``0.97 .. 1.10``, at which no line of a narrow cell may break."""
LONG_CELL = 30
"""Letters from which on a cell is kept wide enough to be read; see static/site.css."""


def setup(app: Any) -> None:
    """Adapt to the site what is written for other readers: docstrings for a terminal, links for GitHub."""
    app.connect("autodoc-process-docstring", escape_stars)
    app.connect("source-read", link_notebooks)
    app.connect("source-read", link_replay)
    app.connect("doctree-read", shape_cells)
    app.connect("doctree-resolved", name_pictures)
    app.connect("config-inited", lambda app, config: write_replays(REPLAYS))


def escape_stars(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Change ``lines`` in place."""
    lines[:] = [STAR.sub(r"\\*", line) for line in lines]


def link_notebooks(app: Any, page: str, content: list[str]) -> None:
    """Let the page of the notebooks link to those of the site. On GitHub its links lead to the notebooks themselves."""
    if page == "notebooks":
        content[0] = NOTEBOOK.sub(r"{doc}`\1 </\2>`", content[0])


def link_replay(app: Any, page: str, content: list[str]) -> None:
    """Below a game's picture, link to a whole game to step through, which only the site has."""
    folder, _, name = page.rpartition("/")
    if folder == "games":
        link = f'<p><a href="../replay_{name}.html">Step through a whole game</a> of greedy bots.</p>'
        content[0] = PICTURE.sub(rf"\g<0>\n\n{link}", content[0], count=1)


def shape_cells(app: Any, doctree: nodes.document) -> None:
    """Let cells of tables be read where tables are wider than the screen, and so are squeezed as far as words allow."""
    for cell in doctree.findall(nodes.entry):
        if len(cell.astext()) >= LONG_CELL:
            cell["classes"].append("long")
        for text in list(cell.findall(nodes.Text)):
            if not isinstance(text.parent, nodes.literal):
                text.parent.replace(text, nodes.Text(TOGETHER.sub("\N{NO-BREAK SPACE}", text)))


def name_pictures(app: Any, doctree: nodes.document, page: str) -> None:
    """Give pictures that cells of notebooks make words to be read aloud. Without them it would be the file's name."""
    for picture in doctree.findall(nodes.image):
        picture.setdefault("alt", "made by the code above")
