"""--jsonmatch-update: what came is written into golden files, and nothing else changes there."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest

CASES = """\
# receipts
cases:
  - id: wrong  # on purpose
    actual: { total: 2, shop: Ann }
    expected: { total: 1, shop: 'Ann' }   # one
  - id: right
    actual: { total: 2.0 }
    expected: { total: 2 }
  - id: lost
    actual: [1]
    expected:  # the second is gone
      - 1
      - 2
"""
FAILED = CASES.replace("total: 1, shop: 'Ann'", "total: 2, shop: 'Ann'").replace("      - 2\n", "")
FRESH = """\
cases:
  - id: fresh
    actual: { total: 1 }
  - id: wrong
    actual: 1
    expected: 2
"""


pytestmark = pytest.mark.usefixtures("json_similarity")


@pytest.fixture
def read(pytester):
    return lambda name="a.golden.yaml": (pytester.path / name).read_bytes().decode("utf-8")


def test_failed(pytester, golden, processes, read):
    golden(CASES)
    result = pytester.runpytest("--jsonmatch-update=failed", *processes)
    result.assert_outcomes(passed=3)
    assert result.ret == 0
    assert read() == FAILED
    result.stdout.fnmatch_lines(["*= jsonmatch update =*", "updated 2 cases in a.golden.yaml"])
    pytester.runpytest().assert_outcomes(passed=3)


@pytest.mark.parametrize("option", ["--jsonmatch-update", "--jsonmatch-update=failed"])
def test_without_a_value_it_is_failed_and_an_empty_variable_is_no_ci(
    pytester, golden, read, monkeypatch, option
):
    monkeypatch.setenv("CI", "")
    golden(CASES)
    pytester.runpytest("a.golden.yaml", option).assert_outcomes(passed=3)
    assert read() == FAILED


@pytest.mark.parametrize("value", ["a.golden.yaml", "fialed", "new,all", "all,dryrun", ""])
def test_a_value_that_is_none_may_be_a_path(pytester, golden, read, value):
    golden(CASES)
    result = pytester.runpytest("--jsonmatch-update", value)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        f"*error: argument --jsonmatch-update: must be new, failed or all, optionally followed by ,dry-run or "
        f",force, got '{value}'; before a path write --jsonmatch-update=failed"
    )
    assert read() == CASES


def test_all_writes_what_was_good_enough_too(pytester, golden, read):
    golden(CASES)
    near = "  - id: near\n    threshold: 0.5\n    actual: { n: 2, m: 1 }\n    expected: { n: 1, m: 1 }\n"
    golden(CASES + near)
    pytester.runpytest("--jsonmatch-update=all").assert_outcomes(passed=4)
    assert read() == FAILED + near.replace("expected: { n: 1", "expected: { n: 2")


def test_what_matches_by_its_rules_stays(pytester, golden, read):
    text = """\
metric: pairwise_f1
cases:
  - id: one
    fields:
      total: { compare: { numeric: { tolerance: { abs: 0.1 } } } }
      made: { skip: true }
    actual:
      shop: Ann
      made: today
      total: 10.01
      items: [{ sku: y, qty: 2 }, { sku: x, qty: 1 }, { sku: z, qty: 7 }]
      tip: 1
    expected:
      total: 10
      shop: Anna
      made: yesterday
      gone: 5
      items:
        - { sku: x, qty: 1 }
        - { sku: y, qty: 3 }
"""
    golden(text)
    run = pytester.runpytest("--jsonmatch-update")
    run.assert_outcomes(passed=1)
    rows = "".join(
        f"        - sku: {sku}\n          qty: {qty}\n" for sku, qty in [("x", 1), ("y", 2), ("z", 7)]
    )
    new = f"      total: 10\n      shop: Ann\n      made: yesterday\n      items:\n{rows}      tip: 1\n"
    assert read() == text[: text.index("      total: 10\n")] + new
    head = run.outlines.index("updated 1 case in a.golden.yaml")
    assert run.outlines[head + 1 : head + 7] == [
        "  a.golden.yaml::one",
        '    shop  "Anna" → "Ann"',
        "    gone  5 → (nothing)",
        "    items[1].qty  3 → 2",
        '    items[2]  (nothing) → {"sku": "z", "qty": 7}',
        "    tip  (nothing) → 1",
    ]
    pytester.runpytest().assert_outcomes(passed=1)


def test_fields_that_are_scored_as_one_are_updated_inside(pytester, golden, read):
    text = (
        "metric: field_match_normalized\nactual: { a: { n: ANN, m: 2 }, extra: 1 }\n"
        "expected: { a: { n: ann, m: 1 } }\n"
    )
    golden(text)
    pytester.runpytest("--jsonmatch-update").assert_outcomes(passed=1)
    assert read() == text.replace("m: 1 }", "m: 2 }")


def test_elements_are_inserted_where_the_order_counts(pytester, golden, read):
    golden(
        "metric: leaf_f1\noptions: { arrays: sequence }\nactual: [0, 1, 2, 5, 3, 9]\nexpected: [1, 2, 3, 4]\n"
    )
    pytester.runpytest("--jsonmatch-update").assert_outcomes(passed=1)
    assert read().endswith("expected: [0, 1, 2, 5, 3, 9]\n")


def test_a_case_that_fails_by_no_value_is_left_alone(pytester, golden, read):
    text = "threshold: { fields: { other: 1.0 } }\nactual: { a: 1 }\nexpected: { a: 1 }\n"
    golden(text)
    run = pytester.runpytest("--jsonmatch-update")
    run.assert_outcomes(failed=1)
    run.stdout.fnmatch_lines("no case to update")
    assert read() == text


@pytest.mark.parametrize(("mode", "number", "value"), [("new", 1, 2), ("all", 2, 1)])
def test_new_writes_only_what_is_not_there_and_all_the_failed_ones_too(
    pytester, golden, read, mode, number, value
):
    golden(FRESH)
    result = pytester.runpytest(f"--jsonmatch-update={mode}")
    result.assert_outcomes(passed=number, failed=2 - number)
    result.stdout.fnmatch_lines(f"updated {number} case* in a.golden.yaml")
    written = FRESH.replace("{ total: 1 }\n", "{ total: 1 }\n    expected:\n      total: 1\n")
    assert read() == written.replace("expected: 2", f"expected: {value}")


@pytest.mark.parametrize("arguments", [(), ("--jsonmatch-update=failed",)])
def test_a_case_without_expected_is_an_error_unless_it_is_about_to_get_it(pytester, golden, arguments):
    golden(FRESH)
    result = pytester.runpytest(*arguments)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*a.golden.yaml:2:5: the case has no `expected`*"])


def test_a_model_s_text_is_written_as_the_value_in_it(pytester, golden, read):
    cases = "cases:\n- id: a\n  actual: 'Here: {\"n\": 1}'\n- id: b\n  actual: '{\"n\": 1'\n"
    golden(cases)
    result = pytester.runpytest("--jsonmatch-update=new")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["E*a.golden.yaml:5:3: *output ends inside an object*"])
    assert read() == cases.replace("- id: b", "  expected:\n    n: 1\n- id: b")


@pytest.mark.parametrize(
    ("actual", "written"),
    [
        ("<think>hm</think> negative", "negative"),
        ('The answer: {"n": 1}', "\n    n: 1"),
        ("[see below]", '"[see below]"'),
        ("5", "5"),
    ],
)
def test_a_text_that_is_compared_with_a_string_is_written_as_json_if_it_has_any(
    pytester, golden, read, actual, written
):
    golden(f"cases:\n- id: a\n  actual: {json.dumps(actual)}\n  expected: positive\n")
    pytester.runpytest("--jsonmatch-update=failed").assert_outcomes(passed=1)
    _, _, value = read().partition("  expected:")
    assert value.strip("\n ") == written.strip("\n ")
    pytester.runpytest().assert_outcomes(passed=1)


def test_an_answer_with_nan_is_not_written(pytester, golden, read):
    cases = """\
cases:
  - id: old
    actual: '{"a": NaN}'
    expected: { a: 1 }
  - id: new
    actual: '{"a": [-Infinity]}'
"""
    golden(cases)
    result = pytester.runpytest("--jsonmatch-update=all")
    result.assert_outcomes(failed=2)
    assert result.ret == 1
    assert read() == cases
    reason = "the answer holds NaN or an infinity, which JSON does not have"
    for name in ("old", "new"):
        result.stdout.fnmatch_lines(f"not updated: a.golden.yaml::{name}: {reason}")


def test_a_dry_run_shows_the_diff_and_writes_nothing(pytester, golden, read):
    golden(CASES)
    result = pytester.runpytest("--jsonmatch-update=failed,dry-run")
    result.assert_outcomes(passed=1, failed=2)
    assert read() == CASES
    result.stdout.fnmatch_lines("""\
        would update 2 cases in a.golden.yaml (dry run: nothing was written)
          a.golden.yaml::wrong
            total  1 → 2
          a.golden.yaml::lost
            [[]1]  2 → (nothing)""")


def test_a_dry_run_of_new_cases(pytester, golden, read):
    golden(FRESH)
    result = pytester.runpytest("--jsonmatch-update=new,dry-run")
    result.assert_outcomes(failed=2)
    assert read() == FRESH
    result.stdout.fnmatch_lines("""\
        E*there is no expected value yet, and none was written
            total  (nothing) → 1""")


def test_expected_files_keep_their_format(pytester, write, golden, read):
    golden(
        "cases:\n- {id: j, actual: {b: 1, a: [1]}, expected_file: e/j.json}\n"
        "- {id: y, actual: {b: 1}, expected_file: e/y.yaml}\n"
    )
    before = read()
    (pytester.path / "e").mkdir()
    (pytester.path / "e/j.json").write_bytes(b'\xef\xbb\xbf{\r\n\t"a": [\r\n\t\t2\r\n\t],\r\n\t"b": 1\r\n}')
    write("e/y.yaml", "# expected\nb: 2  # two\n")
    result = pytester.runpytest("--jsonmatch-update=failed")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["updated 1 case in e/j.json", "updated 1 case in e/y.yaml"])
    assert read() == before
    assert (pytester.path / "e/j.json").read_bytes() == (
        b'\xef\xbb\xbf{\r\n\t"a": [\r\n\t\t1\r\n\t],\r\n\t"b": 1\r\n}'
    )
    assert read("e/y.yaml") == "# expected\nb: 1  # two\n"


def test_expected_files_that_are_not_there_are_written(pytester, golden, read):
    golden(
        "cases:\n- {id: j, actual: {a: [1]}, expected_file: j.json}\n- {id: y, actual: {b: [1]}, expected_file: y.yaml}\n"
        "- {id: far, actual: 1, expected_file: none/such.json}\n"
    )
    result = pytester.runpytest("--jsonmatch-update=new")
    result.assert_outcomes(passed=3)
    assert result.ret == 0
    assert read("none/such.json") == "1\n"
    assert read("j.json") == '{\n  "a": [\n    1\n  ]\n}\n'
    assert read("y.yaml") == "b:\n  - 1\n"
    if sys.platform != "win32":
        mask = os.umask(0)
        os.umask(mask)
        assert stat.S_IMODE((pytester.path / "j.json").stat().st_mode) == 0o666 & ~mask


def test_what_is_refused_fails_the_run_and_is_named(pytester, golden, read):
    text = (
        "cases:\n- id: alias\n  actual: &x { n: 1 }\n  expected: { m: *x }\n"
        "- id: fine\n  actual: 1\n  expected: 2\n"
    )
    golden(text.replace("{ m: *x }", "{ n: 1, m: *x }").replace("&x { n: 1 }", "&x { n: 1, m: 2 }"))
    before = read()
    result = pytester.runpytest("--jsonmatch-update=failed")
    result.assert_outcomes(passed=2)
    assert result.ret == 1
    reason = "expected.m is an alias, *x: a change would also change the other places; write the value itself there first"
    result.stdout.fnmatch_lines(f"""\
        updated 1 case in a.golden.yaml
        not updated: a.golden.yaml::alias: {reason}""")
    assert read() == before.replace("expected: 2", "expected: 1")


def test_runs_of_one_case_that_want_different_values_are_refused(pytester, golden, two_models, read):
    two_models('{"n": model if jsonmatch_case.id == "differs" else 1}')
    golden("cases:\n- {id: differs, expected: {n: small}}\n- {id: agrees, expected: {n: 2}}\n")
    result = pytester.runpytest("--jsonmatch-update=failed")
    result.assert_outcomes(passed=4)
    assert result.ret == 1
    result.stdout.fnmatch_lines("""\
        updated 1 case in a.golden.yaml
        not updated: a.golden.yaml::differs: its runs need different values""")
    assert read() == "cases:\n- {id: differs, expected: {n: small}}\n- {id: agrees, expected: {n: 1}}\n"


def test_cases_that_share_a_file_and_want_different_values_are_refused(pytester, write, golden, read):
    golden(
        "cases:\n- {id: a, actual: 1, expected_file: e.json}\n- {id: b, actual: 2, expected_file: e.json}\n"
    )
    write("e.json", "3\n")
    result = pytester.runpytest("--jsonmatch-update=all")
    assert result.ret == 1
    both = "a.golden.yaml::a and a.golden.yaml::b need different values"
    result.stdout.fnmatch_lines(f"""\
        not updated: a.golden.yaml::a: {both}
        not updated: a.golden.yaml::b: {both}""")
    assert read("e.json") == "3\n"


def test_a_file_that_has_changed_since_it_was_read_is_refused(pytester, golden, read):
    pytester.makeconftest("""
        import pytest

        @pytest.fixture(autouse=True)
        def busy_editor(jsonmatch_case):
            jsonmatch_case.path.write_text("# edited\\n" + jsonmatch_case.path.read_text())
        """)
    golden("id: a\nactual: 1\nexpected: 2\n")
    result = pytester.runpytest("--jsonmatch-update=failed")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["not updated: a.golden.yaml::a: the file has changed*"])
    assert read() == "# edited\nid: a\nactual: 1\nexpected: 2\n"


def test_cases_that_are_skipped_or_expected_to_fail_are_left_alone(pytester, golden, read):
    text = (
        "cases:\n- {id: a, actual: 1, expected: 2, marks: [xfail]}\n- {id: b, actual: 1, expected: 2, marks: [skip]}\n"
        "- {id: c, actual: 1, marks: [xfail]}\n"
    )
    golden(text)
    result = pytester.runpytest("--jsonmatch-update=all")
    result.assert_outcomes(xfailed=2, skipped=1)
    result.stdout.fnmatch_lines(["no case to update"])
    assert read() == text


def test_the_last_rerun_wins(pytester, golden, read):
    pytester.makeconftest("""
        import pytest

        runs = []

        @pytest.fixture
        def jsonmatch_actual(jsonmatch_case):
            runs.append(1)
            return len(runs)

        @pytest.fixture(autouse=True)
        def flaky(jsonmatch_actual):
            yield
            assert len(runs) > 1
        """)
    golden("id: a\nexpected: 9\n")
    pytester.runpytest_subprocess("-p", "rerunfailures", "--reruns=2", "--jsonmatch-update=failed")
    assert read() == "id: a\nexpected: 2\n"


def test_an_interrupted_run_writes_nothing(pytester, golden, read):
    pytester.makeconftest("def pytest_runtest_teardown(item):\n    raise KeyboardInterrupt\n")
    golden("id: a\nactual: 1\nexpected: 2\n")
    result = pytester.runpytest_subprocess("--jsonmatch-update=failed")
    result.stdout.fnmatch_lines(["the run did not finish: nothing was written"])
    assert read() == "id: a\nactual: 1\nexpected: 2\n"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and links of POSIX")
def test_permissions_and_links_stay(pytester, write, read):
    write("real/cases.yaml", "id: a\nactual: 1\nexpected: 2\n")
    real = pytester.path / "real/cases.yaml"
    real.chmod(0o640)
    (pytester.path / "a.golden.yaml").symlink_to(real)
    pytester.runpytest("a.golden.yaml", "--jsonmatch-update=failed").assert_outcomes(passed=1)
    assert (pytester.path / "a.golden.yaml").is_symlink()
    assert real.read_text() == "id: a\nactual: 1\nexpected: 1\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert [path.name for path in (pytester.path / "real").iterdir()] == ["cases.yaml"]


def test_what_can_not_be_written_leaves_the_old_file(pytester, golden, read, monkeypatch):
    def full(self, target):
        raise OSError(28, "No space left on device")

    golden("id: a\nactual: 1\nexpected: 2\n")
    monkeypatch.setattr(Path, "replace", full)
    result = pytester.runpytest("--jsonmatch-update=failed", "-p", "no:cacheprovider")
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        "not updated: a.golden.yaml::a: the file can't be written: no space left on device"
    )
    assert read() == "id: a\nactual: 1\nexpected: 2\n"
    assert list(pytester.path.glob(".*.tmp")) == []


@pytest.mark.parametrize("variable", ["CI", "BUILD_NUMBER"])
def test_in_ci_nothing_is_written_unless_forced(pytester, golden, read, monkeypatch, variable):
    monkeypatch.setenv(variable, "1")
    golden(CASES)
    result = pytester.runpytest("--jsonmatch-update=failed")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        f"ERROR: --jsonmatch-update=failed does not write golden files in CI (the environment variable {variable} is set); run it on your own machine, or use --jsonmatch-update=failed,force"
    )
    assert read() == CASES
    result = pytester.runpytest("--jsonmatch-update=failed,dry-run")
    result.assert_outcomes(passed=1, failed=2)
    assert read() == CASES
    pytester.runpytest("--jsonmatch-update=force")
    assert read() == FAILED


NOT_IN_CI = (
    "--jsonmatch-review does not write golden files in CI (the environment variable CI is set); "
    "run it on your own machine, or unset the variable"
)
NOT_BOTH = "--jsonmatch-review and --jsonmatch-update can't go together; choose one"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--jsonmatch-review"], NOT_IN_CI), (["--jsonmatch-update=all", "--jsonmatch-review"], NOT_BOTH)],
)
def test_options_that_make_no_sense(pytester, monkeypatch, arguments, message):
    monkeypatch.setenv("CI", "1")
    result = pytester.runpytest(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


def test_only_cases_that_ran_are_updated(pytester, golden, read):
    golden(CASES)
    pytester.runpytest("--jsonmatch-update=failed", "-k", "wrong").assert_outcomes(passed=1)
    assert read() == CASES.replace("total: 1, shop: 'Ann'", "total: 2, shop: 'Ann'")


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_link_that_leads_out_of_the_rootdir_is_not_followed(pytester, write, read, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "a.golden.yaml"
    outside.write_text(CASES)
    (pytester.path / "a.golden.yaml").symlink_to(outside)
    pytester.makeini("[pytest]")
    result = pytester.runpytest("--jsonmatch-update=failed")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert outside.read_text() == CASES
    result.stdout.fnmatch_lines(f"*a link leads to {outside}, outside of the rootdir*")
