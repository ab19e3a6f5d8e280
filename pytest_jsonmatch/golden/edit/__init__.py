"""Writing new values into golden files: only the characters of changed values are touched."""

from __future__ import annotations

from pytest_jsonmatch.golden.edit.changes import identical, merge, trail_text
from pytest_jsonmatch.golden.edit.files import Edited, edit

__all__ = ["Edited", "edit", "identical", "merge", "trail_text"]
