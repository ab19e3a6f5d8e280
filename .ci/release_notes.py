"""Print what CHANGELOG.md says of a release, which must have a date: `release_notes.py 0.1.0`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

text = (Path(__file__).resolve().parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
version = re.escape(sys.argv[1])
found = re.search(rf"^## {version} \(\d{{4}}-\d\d-\d\d\)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
if found is None:
    sys.exit(f"CHANGELOG.md: no heading like '## {sys.argv[1]} (2026-12-31)'")
print(found[1].strip())
