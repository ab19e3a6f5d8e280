from __future__ import annotations

import importlib.util
from pathlib import Path

# The fixtures that run commands are those of the command line's tests.
_spec = importlib.util.spec_from_file_location(
    "cli_fixtures", Path(__file__).parents[1] / "cli" / "conftest.py"
)
_fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_fixtures)
folder, write, command, refused = _fixtures.folder, _fixtures.write, _fixtures.command, _fixtures.refused
