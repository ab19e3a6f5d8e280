"""New values into golden files: only the characters of what changed are touched, everything else stays."""

from __future__ import annotations

from pytest_jsonmatch.golden.edit.changes import Trail, identical, merge
from pytest_jsonmatch.golden.edit.files import Edited, Editor, edit

__all__ = ["Edited", "Editor", "Trail", "edit", "identical", "merge"]
