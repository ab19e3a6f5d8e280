"""Schemas of real documents, where they are at hand; they are no part of the repository.

The folder is `$JSONMATCH_REAL`, or `shared/real` beside the checkout.
"""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path

import pytest

from pytest_jsonmatch.schema import (
    GoldWarning,
    annotate_xeval,
    parse_eval_schema,
    resolve_schema_references,
    validate_gold,
)

REAL = Path(os.environ.get("JSONMATCH_REAL") or Path(__file__).resolve().parents[3] / "shared" / "real")
SCHEMAS = sorted((REAL / "docubench" / "schemas").glob("*.json"))

pytestmark = pytest.mark.skipif(
    not SCHEMAS, reason="no docubench/schemas in $JSONMATCH_REAL or in shared/real beside the checkout"
)


def test_there_are_fifty() -> None:
    assert len(SCHEMAS) == 50


@pytest.mark.parametrize("path", SCHEMAS, ids=[path.stem for path in SCHEMAS])
def test_a_real_schema(path: Path) -> None:
    written = json.loads(path.read_text(encoding="utf-8"))
    label = json.loads((path.parents[1] / "labels" / path.name).read_text(encoding="utf-8"))
    resolved = resolve_schema_references(path)
    assert resolve_schema_references(resolved) == resolved
    assert resolve_schema_references(written) == resolved
    root = parse_eval_schema(annotate_xeval(resolved))
    assert list(root.properties or {}) == list(written["properties"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", GoldWarning)
        validate_gold([label], path, warn_missing=False)
