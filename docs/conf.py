"""The site of the docs: `sphinx-build -W docs build/site`. Its parts are listed in `index.md`."""

from __future__ import annotations

import os
import re
from importlib.metadata import metadata
from typing import TYPE_CHECKING, Any

from sphinx.ext.napoleon import Config, GoogleDocstring

from pytest_jsonmatch import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "pytest-jsonmatch"
author = "pytest-jsonmatch developers"
release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_llms_txt"]
html_theme = "furo"
html_title = f"pytest-jsonmatch {release}"
html_show_copyright = False
# Where the site will be: Read the Docs says so itself, another host in DOCS_URL.
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", os.environ.get("DOCS_URL", ""))
# The address of the repository, once it has one.
urls = dict(url.split(", ", 1) for url in metadata(project).get_all("Project-URL") or [])
address = urls.get("Homepage")
html_static_path = ["_static"]
html_css_files = ["site.css"]

# `llms.txt`, a list of the pages, and `llms-full.txt`, all of them in one file.
llms_txt_title = project
llms_txt_summary = "A pytest plugin that scores JSON against JSON, field by field."

# Links such as `metrics.md#text` are those that GitHub knows, so that the pages can be read there too.
myst_heading_anchors = 4

# Docstrings write code as Markdown does, in single backticks.
default_role = "code"
docstrings = Config(napoleon_use_ivar=True)
autodoc_member_order = "groupwise"
autodoc_default_options = {"undoc-members": True}


def read_page(_app: Sphinx, page: str, source: list[str]) -> None:
    """Lead links to files outside the site to the repository or, as long as it has no address, to a copy."""
    outside = "../" * (page.count("/") + 1)
    target = f"{address}/blob/v{release}/" if address else f"path:{outside}"
    source[0] = re.sub(rf"\]\({re.escape(outside)}", f"]({target}", source[0])


def read_google_style(app: Sphinx, what: str, name: str, obj: object, options: Any, lines: list[str]) -> None:
    """Turn sections such as "Args:" into markup for Sphinx.

    The extension Napoleon would do so for attributes too, and read any text before a colon as a type.
    """
    if what not in {"attribute", "data", "property"}:
        lines[:] = GoogleDocstring(lines, docstrings, app, what, name, obj, options).lines()


def setup(app: Sphinx) -> None:
    """Register the functions above with Sphinx."""
    app.connect("source-read", read_page)
    app.connect("autodoc-process-docstring", read_google_style)
