"""`jsonmatch cases`: what editors need to know about golden cases."""

from __future__ import annotations

import json
from argparse import Namespace

from pytest_jsonmatch.cli.arguments import FINE
from pytest_jsonmatch.cli.inputs import resolved_schema
from pytest_jsonmatch.cli.output import write_output
from pytest_jsonmatch.golden.editor import completed


def schema(options: Namespace) -> int:
    """Run `jsonmatch cases schema`."""
    document = completed(None if options.expected is None else resolved_schema(options.expected))
    write_output(json.dumps(document, indent=2, ensure_ascii=False) + "\n", options.output)
    return FINE
