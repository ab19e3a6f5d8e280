"""What a notebook shows of a result: blocks of the usual report."""

from __future__ import annotations

import re
import sys
from html import unescape

import pytest

from pytest_jsonmatch import MatchResult, RunResult, compare_corpus, compare_json

EXPECTED = {"shop": "Corner Bakery", "total": 13, "items": [{"price": 4.2}]}
ACTUAL = {"shop": "Corner Bakery", "total": 12.5, "items": [{"price": 4.2}], "tip": 1}
HOSTILE = "<script>alert(1)</script>\u202e\x1b[31m"


def shown(result: MatchResult | RunResult) -> str:
    """The text of a result, without markup and style."""
    html = re.sub(r"<style>.*?</style>|<wbr>", "", result._repr_html_(), flags=re.DOTALL)
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)))


@pytest.mark.parametrize(
    ("result", "of"),
    [
        (compare_json(ACTUAL, EXPECTED), "1 case"),
        (compare_corpus([ACTUAL, EXPECTED], [EXPECTED, EXPECTED]), "2 records"),
    ],
)
def test_statistics_fields_and_differences(result: MatchResult | RunResult, of: str) -> None:
    text = shown(result)
    assert f"Fields of {of} by leaf_f1" in text
    assert "13 → 12.5" in text
    assert {"score", "tip", "total", "items[].price", "all fields"} <= set(
        re.findall(r"all fields|[\w.\[\]]+", text)
    )


def test_a_run_of_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from pytest_jsonmatch import read_results

        def test_one(assert_json_match):
            assert_json_match({"total": 12.5}, {"total": 13}, threshold=0)

        def test_two():
            html = read_results("run.jsonl")._repr_html_()
            assert "Fields of 1 case by leaf_f1" in html
            assert "<code>13</code>" in html
        """
    )
    pytester.runpytest("--jsonmatch-json=run.jsonl", "-k", "one").assert_outcomes(passed=1, deselected=1)
    pytester.runpytest("-k", "two").assert_outcomes(passed=1, deselected=1)


def test_values_and_names_are_only_text() -> None:
    html = compare_json({"a": HOSTILE, HOSTILE: 1}, {"a": "x"})._repr_html_()
    assert "<script" not in html
    assert html.replace("\n", "").isprintable()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\u202e" in html


def test_long_tables_are_cut() -> None:
    text = shown(compare_json({}, {f"f{number}": number for number in range(80)}))
    assert "and 50 more fields" in text


def test_nothing_to_compare() -> None:
    assert "1 case score 1.00" in shown(compare_json({}, {}))
    assert shown(RunResult.of_cases()).strip() == "nothing was compared"


def test_only_the_lowest_scoring_of_very_many_records_are_shown_closely() -> None:
    expected = [{"n": number} for number in range(1_200)]
    run = compare_corpus([{"n": 0}, *expected[1:-1], {"n": -1}], expected, keep="all")
    assert "in 10 of 1,200 records" in shown(run)
    assert "1199 → -1" in shown(run)


def test_without_jinja2_it_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    html = compare_json({"<b>": 12.5}, {"<b>": 13})._repr_html_()
    assert html.startswith("<pre>1 case: score 0.00\n")
    assert "differences, expected → actual:\n  [&quot;&lt;b&gt;&quot;]  13 → 12.5</pre>" in html


def test_a_corpus_has_intervals_unanswered_records_and_tables_by_tag() -> None:
    gold = [{"id": n, "source": "scan" if n % 2 else "mail", "total": n} for n in range(20)]
    answers = [{**record, "total": -1} if record["total"] < 3 else record for record in gold[:-2]]
    run = compare_corpus(answers, gold, id="id", keep="all", tags={"source": "source"})
    text = shown(run)
    assert "Mean over records, with 95 % confidence intervals (20 records)" in text
    assert "2 unanswered; mean score 0.82 with them as 0, 0.92 without" in text
    assert "By source, mean over records 2 values" in text
    assert "Score of fields by source" in text
    # If few records are kept, there are no intervals.
    few = shown(compare_corpus(answers, gold, id="id", keep="worst"))
    assert "2 unanswered" in few
    assert "intervals" not in few
