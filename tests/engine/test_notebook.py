"""Results as data frames and pages, as in a notebook."""

from __future__ import annotations

import json
import re
import sys

import pytest

from pytest_jsonmatch import ConfigurationError, RunResult, compare_corpus, compare_json, read_results
from tests.conftest import main

EXPECTED = {"shop": "Corner Bakery", "items": [{"price": 4.2}], "total": None}
ACTUAL = {
    "shop": "<script>alert(1)</script>\u202e\x1b[31m",
    "items": [{"price": 4.2}],
    "tip": [1],
    "<b>\u202e": 1,
}
RESULT = compare_json(ACTUAL, EXPECTED, metric="pairwise_f1")
RUN = compare_corpus([ACTUAL, EXPECTED], [EXPECTED, EXPECTED], metric="pairwise_f1")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_leaves_as_a_data_frame(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    frame = RESULT.to_dataframe(library=library)
    assert type(frame).__module__.partition(".")[0] == library
    assert list(frame["path"]) == [field.path for field in RESULT.field_results]
    assert list(frame["status"]) == [field.status for field in RESULT.field_results]
    assert list(frame["score"]) == [field.score for field in RESULT.field_results]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_fields_of_a_corpus_as_a_data_frame(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    for frame, fields in (
        (RUN.to_dataframe(library=library), RUN.per_field),
        (RESULT.to_dataframe("field", library), RESULT.per_field),
    ):
        found = {
            path: tuple(counts)
            for path, *counts in zip(frame["path"], frame["total"], frame["matches"], strict=True)
        }
        assert found == {path: (each.total, each.matches) for path, each in fields.items()}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_records_and_leaves_of_a_corpus_as_a_data_frame(library):
    pytest.importorskip(library, reason=f"{library} is not installed")
    records = RUN.to_dataframe("record", library)
    assert list(records["id"]) == ["1", "2"]
    assert list(records["score"]) == [each.score for each in RUN.records]
    leaves = RUN.to_dataframe("leaf", library)
    assert list(zip(leaves["id"], leaves["path"], leaves["score"], strict=True)) == [
        (str(record.record_id), leaf.path, leaf.score)
        for record in RUN.records
        for leaf in record.field_results
    ]
    tagged = compare_corpus([{"n": 1}], [{"n": 1, "kind": "scan"}], tags={"source": "kind"})
    assert list(tagged.to_dataframe("record", library)["source"]) == ["scan"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_result_file_as_data_frames(library, tmp_path):
    pytest.importorskip(library, reason=f"{library} is not installed")
    for name, value in (("gold", 1), ("answers", 2)):
        lines = [json.dumps({"id": each, "n": value if each == "b" else 3}) for each in "ab"]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    sides = [str(tmp_path / f"{name}.jsonl") for name in ("answers", "gold")]
    assert main(["evaluate", *sides, "--id", "id", "--json", str(tmp_path / "r.jsonl"), "--keep", "all"]) == 0
    results = read_results(tmp_path / "r.jsonl")
    records = results.to_dataframe("record", library)
    assert list(zip(records["id"], records["passed"], records["score"], strict=True)) == [
        ("a", True, 1),
        ("b", False, 0),
    ]
    fields = results.to_dataframe("field", library)
    assert (list(fields["path"]), list(fields["mismatches"])) == (["n"], [1])
    leaves = results.to_dataframe("leaf", library)
    assert [list(leaves[name]) for name in ("id", "path", "status", "expected", "actual")] == [
        ["b"],
        ["n"],
        ["mismatch"],
        ["1"],
        ["2"],
    ]
    # Without a row there are the columns still.
    assert {"path", "expected", "actual"} < {*RunResult.of_cases().to_dataframe("leaf", library).columns}


def test_values_keep_their_types_in_pandas():
    pytest.importorskip("pandas", reason="pandas is not installed")
    frame = RESULT.to_dataframe(library="pandas")
    expected = dict(zip(frame["path"], frame["expected"], strict=True))
    assert expected["items[].price"] == 4.2
    assert expected["shop"] == "Corner Bakery"


def test_what_is_imported_goes_first(monkeypatch):
    class Frame(dict):
        pass

    fake = type(sys)("polars")
    fake.DataFrame = lambda columns, strict: Frame(columns)
    monkeypatch.setitem(sys.modules, "polars", fake)
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    assert type(RESULT.to_dataframe()) is Frame
    # A column with values of several types is text, as JSON.
    assert set(map(type, RESULT.to_dataframe()["expected"])) == {str, type(None)}


def test_neither_is_installed(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("pytest_jsonmatch.engine.result.dataframe.import_module", missing)
    with pytest.raises(ConfigurationError, match="to_dataframe needs pandas or polars: pip install pandas"):
        RUN.to_dataframe()
    with pytest.raises(
        ConfigurationError, match="pandas or polars, and 'polars' is not installed: pip install"
    ):
        RUN.to_dataframe(library="polars")


@pytest.mark.parametrize(
    ("result", "allowed"),
    [
        (RESULT, "leaf, field, rows, kind"),
        (RUN, "record, field, leaf, rows, kind"),
        (RunResult.of_cases(), "record, field, leaf, rows, kind"),
    ],
)
def test_by_something_else(result, allowed):
    with pytest.raises(ConfigurationError, match=f"by must be one of {allowed}, got 'pandas'"):
        result.to_dataframe("pandas")


def test_a_page(tmp_path):
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    RUN.to_html(tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "Records, the lowest scores first" in page
    assert {"shop", "tip[0]"} <= {*re.findall(r'<div class="leaf-head"><code>(.*?)</code>', page)}
    # Records whose comparison is not kept are not listed.
    imperfect = compare_corpus(
        [ACTUAL, EXPECTED], [EXPECTED, EXPECTED], metric="pairwise_f1", keep="imperfect"
    )
    imperfect.to_html(str(tmp_path / "run.html"))
    assert "only 1 are listed" in (tmp_path / "run.html").read_text(encoding="utf-8")
