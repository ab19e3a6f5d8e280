"""`--jsonmatch-markdown`: a report for a pull request."""

from __future__ import annotations

import pytest

GOLDEN = """\
cases:
  - id: wrong
    actual: { total: 1, "na|me": Ann }
    expected:
      total: 1
      "na|me": Anne
  - id: flaky
    repeat: 3
    min_pass_rate: 0.6
    expected: { n: 1 }
  - id: right
    actual: { n: 1 }
    expected: { n: 1 }
  - id: later
    marks: [skip]
    actual: { n: 1 }
    expected: { n: 1 }
"""
CONFTEST = """\
import pytest

@pytest.fixture
def jsonmatch_actual(jsonmatch_case):
    return {"n": jsonmatch_case.run} if jsonmatch_case.base_id == "flaky" else jsonmatch_case.actual
"""
HEAD = """\
## ❌ jsonmatch: failed

**1 of 2 gates failed**; **2 of 3 cases failed**; 1 test that compared nothing failed too; not counted: 1 skipped.

3 cases

### Gates, on 3 cases

| gate | verdict | value | limit | margin | note |
| --- | --- | ---: | ---: | ---: | --- |
| `fields["[\\"na\\|me\\"]"].score == 0` | ✅ passed | 0.00 | 0.00 | 0.00 |  |
| `pass_rate > 0.9` | ❌ **failed** | 0.33 | 0.90 | -0.57 | 1 of 3 cases |

### Repeated cases that did not pass

| case | verdict | pass rate | limit | margin | note |
| --- | --- | ---: | ---: | ---: | --- |
| `a.golden.yaml::flaky` | ❌ **failed** | 0.33 | 0.60 | -0.27 | 1 of 3 runs passed |

### Failed cases

| case | score | lowest-scoring fields | at |
| --- | ---: | --- | --- |
"""


@pytest.fixture
def suite(pytester):
    (pytester.path / "a.golden.yaml").write_text(GOLDEN, encoding="utf-8")
    pytester.makeconftest(CONFTEST)
    return pytester


def report(suite, *arguments):
    suite.runpytest("--jsonmatch-markdown=out.md", *arguments)
    return (suite.path / "out.md").read_text(encoding="utf-8")


def test_the_lowest_scoring_comes_first(suite):
    suite.makepyfile(test_plain="def test_plain():\n    assert 0\n")
    gates = [r'--jsonmatch-gate=fields["[\"na|me\"]"].score == 0', "--jsonmatch-gate=pass_rate > 0.9"]
    text = report(suite, *gates)
    assert text[: len(HEAD)].splitlines() == HEAD.splitlines()
    assert "| `a.golden.yaml::flaky (run 2 of 3)` | `0.00 < 1.00` | `n 0.00` | `a.golden.yaml:10` |\n" in text
    assert '| `a.golden.yaml::wrong` | `0.50 < 1.00` | `["na\\|me"] 0.00` | `a.golden.yaml:6` |\n' in text


def test_a_run_in_which_all_is_well(suite):
    text = report(suite, "-k", "right")
    assert text.startswith("## ✅ jsonmatch: passed\n\nno case failed.\n\n1 of 4 cases (-k)\n")


def test_a_run_in_which_nothing_was_compared(suite):
    suite.makepyfile(test_plain="def test_plain():\n    pass\n")
    assert report(suite, "test_plain.py").startswith("## jsonmatch: nothing was compared\n")


def test_what_failed_before_it_compared_counts(suite):
    text = report(suite, "-k", "wrong or right", "-o", "usefixtures=nothing")
    assert "**2 of 2 cases failed**; 2 before comparing, which counts as 0" in text
    assert (
        "| `a.golden.yaml::right and 1 more` | 0.00 | `fixture 'nothing' not found` | `a.golden.yaml:11` |"
        in text
    )
