"""Writing new values into golden files: only the characters of changed values are touched."""

from __future__ import annotations

from pytest_jsonmatch.golden.edit.changes import identical, merge
from pytest_jsonmatch.golden.edit.files import Edited, edit, edit_lines

__all__ = ["Edited", "edit", "edit_lines", "identical", "merge"]
