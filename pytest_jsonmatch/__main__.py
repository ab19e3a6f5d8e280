"""`python -m pytest_jsonmatch` is the `jsonmatch` command."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from pytest_jsonmatch.cli.main import main

    sys.exit(main())
