"""`--jsonmatch-html`: the report that pytest writes."""

from __future__ import annotations

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


def page_of(pytester: pytest.Pytester, name: str = "report.html") -> str:
    return (pytester.path / name).read_text(encoding="utf-8")


def test_writes_a_report(pytester: pytest.Pytester) -> None:
    pytester.makefile(".golden.yaml", shops=CASES)
    result = pytester.runpytest("--jsonmatch-html=out/report.html", "--jsonmatch-gate=score >= 0.4")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["report written to out?report.html"])
    html = page_of(pytester, "out/report.html")
    found = re.findall(
        r'<span class="chip (?:good|bad)">(\w+)</span> <code>([^<]+)</code>', html.replace("<wbr>", "")
    )
    assert found == [("failed", "shops.golden.yaml::wrong"), ("passed", "shops.golden.yaml::right")]
    assert "<code>&#34;Bak<ins>k</ins>ery&#34;</code>" in html
    assert "<code>score &gt;= 0.4</code>" in html


def test_details_are_those_of_the_last_rerun(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
        tries = []

        def test_it(assert_json_match):
            tries.append(1)
            assert_json_match({"a": len(tries)}, {"a": 3})
        """)
    pytester.runpytest_subprocess("--jsonmatch-html=report.html", "-p", "rerunfailures", "--reruns=1")
    assert '<code>3</code><span class="arrow">→</span><code>2</code>' in page_of(pytester)


def test_nothing_was_compared(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(): pass")
    pytester.runpytest("--jsonmatch-html=report.html").assert_outcomes(passed=1)
    assert "nothing was compared" in page_of(pytester)


def test_a_missing_extra_is_a_usage_error(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = pytester.runpytest("--jsonmatch-html=report.html")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        "ERROR: --jsonmatch-html: an HTML report needs jinja2; *: pip install 'pytest-jsonmatch?html?'"
    )
