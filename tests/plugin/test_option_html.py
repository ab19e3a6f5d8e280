"""`--jsonmatch-html`: the report that pytest writes."""

from __future__ import annotations

import json
import re
import sys

import pytest

CASES = """
cases:
  - id: right
    expected: {shop: Bakery, total: 1}
    actual: {shop: Bakery, total: 1}
  - id: wrong
    expected: {shop: Bakery, total: 1}
    actual: {shop: Bakkery, total: 1}
"""


def data_of(pytester: pytest.Pytester, name: str = "report.html") -> dict[str, list[dict[str, object]]]:
    html = (pytester.path / name).read_text(encoding="utf-8")
    found = re.search(r'id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    data: dict[str, list[dict[str, object]]] = json.loads(found[1])
    return data


def test_writes_a_report(pytester: pytest.Pytester) -> None:
    pytester.makefile(".golden.yaml", shops=CASES)
    result = pytester.runpytest("--jsonmatch-html=out/report.html", "--jsonmatch-gate=score >= 0.4")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["report written to out?report.html"])
    cases = data_of(pytester, "out/report.html")["cases"]
    assert [(case["i"], case["v"]) for case in cases] == [
        ("shops.golden.yaml::right", "passed"),
        ("shops.golden.yaml::wrong", "failed"),
    ]
    leaves = cases[1]["u"][0]["c"][0]["d"]["leaves"]  # type: ignore[index]
    assert [(leaf["p"], leaf["e"], leaf["a"]) for leaf in leaves] == [
        ("shop", [["=", '"Bakery"']], [["=", '"Bak'], ["+", "k"], ["=", 'ery"']])
    ]
    assert "score &gt;= 0.4" in (pytester.path / "out" / "report.html").read_text(encoding="utf-8")


def test_details_are_those_of_the_last_rerun(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        tries = []

        def test_it(assert_json_match):
            tries.append(1)
            assert_json_match({"a": len(tries)}, {"a": 3})
        """)
    pytester.runpytest_subprocess("--jsonmatch-html=report.html", "-p", "rerunfailures", "--reruns=1")
    (case,) = data_of(pytester)["cases"]
    (leaf,) = case["u"][0]["c"][0]["d"]["leaves"]  # type: ignore[index]
    assert leaf["a"] == [["=", "2"]]


def test_nothing_was_compared(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(): pass")
    pytester.runpytest("--jsonmatch-html=report.html").assert_outcomes(passed=1)
    assert "Nothing was compared." in (pytester.path / "report.html").read_text(encoding="utf-8")


def test_a_missing_extra_is_a_usage_error(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = pytester.runpytest("--jsonmatch-html=report.html")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        "ERROR: --jsonmatch-html: an HTML report needs jinja2; *: pip install 'pytest-jsonmatch?html?'"
    )
