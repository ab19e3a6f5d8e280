"""What docs/audit.md says of DocuBench is what the audit finds there."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pytest_jsonmatch import MISSING
from pytest_jsonmatch.study.answers import Answered, Comparer
from pytest_jsonmatch.study.suspects import Auditor

ROOT = Path(__file__).resolve().parents[2]
REAL = Path(os.environ.get("JSONMATCH_REAL") or ROOT.parent / "shared" / "real")
DATA = REAL / "docubench"
LABELS = sorted((DATA / "labels").glob("*.json"))
SYSTEMS = ("claude", "docupipe_high", "docupipe_standard", "extend", "gemini", "gpt")

pytestmark = pytest.mark.skipif(
    not LABELS, reason="no docubench/labels in $JSONMATCH_REAL or in shared/real beside the checkout"
)


def answer(system, label):
    path = DATA / "results" / system / label.name
    found = json.loads(path.read_text(encoding="utf-8")).get("data") if path.exists() else None
    return MISSING if found is None else found


def test_docubench():
    auditor = Auditor(SYSTEMS)
    for at, label in enumerate(LABELS):
        gold = json.loads(label.read_text(encoding="utf-8"))
        schema = DATA / "schemas" / label.name
        compare = Comparer("leaf_f1", {"arrays": "unordered", "nulls": "absent", "schema": schema})
        answers = [answer(system, label) for system in SYSTEMS]
        auditor.add([Answered(label.stem, at, gold, answers, None)], compare)
    audit = auditor.result()
    assert len({each.record for each in audit.found}) == 18
    assert len(audit.found) == 78
    # Two texts with a space where a line was broken.
    assert [(each.record, each.path) for each in audit.found[:2]] == [
        ("yTRFKVPx", "materials[2].description"),
        ("yTRFKVPx", "labor[2].description"),
    ]
    told = " ".join((ROOT / "docs" / "audit.md").read_text(encoding="utf-8").split())
    assert "lists 78 places in 18 documents" in told
