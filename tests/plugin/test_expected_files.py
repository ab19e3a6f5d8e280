"""A `pathlib.Path` as expected: read with line numbers, compared, and written by --jsonmatch-update."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from pytest_jsonmatch import InvalidExpectedError, assert_json_match, compare_json
from pytest_jsonmatch.reading import yamlevents

ORDER = """\
# as printed
id: { $any: number }   # whatever
customer: 'Ada'
lines:
  - { sku: A, n: 1 }
  - { sku: B, n: 3 }  # three
"""
TEST = """\
from pathlib import Path
import pytest
from pytest_jsonmatch import assert_json_match

ANSWER = {"id": 7, "customer": "Ada", "lines": [{"sku": "A", "n": 1}, {"sku": "B", "n": 2}]}

"""


@pytest.fixture
def write(pytester):
    """Write a file in the folder `tests`."""

    def write(name, text):
        path = pytester.path / "tests" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text if name.endswith((".json", ".yaml")) else TEST + dedent(text), "utf-8")
        return path

    return write


ROWS = json.dumps([{"n": number} for number in range(30)], indent=1)


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        (
            "test_a.py",
            "def test_a():\n    assert_json_match([{'n': -1}] * 30, Path('python.json'))\n",
            "python.json",
        ),
        ("a.golden.yaml", f"actual: {[{'n': -1}] * 30}\nexpected_file: golden.json\n", "golden.json"),
    ],
)
def test_a_file_is_loaded_once_for_all_lines_of_a_failure(pytester, write, monkeypatch, name, text, rows):
    write(rows, ROWS)
    write(name, "").write_text((TEST if name.endswith(".py") else "") + text, "utf-8")
    names, load = [], yamlevents.load
    monkeypatch.setattr(
        yamlevents, "load", lambda *args, **options: names.append(args[1]) or load(*args, **options)
    )
    result = pytester.runpytest_inprocess("-vv")
    result.assert_outcomes(failed=1)
    assert [f"tests/{rows}:{3 * line}" in result.stdout.str() for line in range(1, 31)] == [True] * 30
    assert names.count(f"tests/{rows}") == 1


# -- reading -----------------------------------------------------------------------------------------------


def test_a_failure_shows_the_lines_of_the_file(pytester, write):
    write("order.yaml", ORDER)
    write("test_a.py", "def test_a():\n    assert_json_match(ANSWER, Path('order.yaml'))\n")
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    shown = result.outlines[result.outlines.index("    def test_a():") :]
    assert shown[: shown.index("tests/order.yaml:6: AssertionError") + 1] == [
        "    def test_a():",
        ">       assert_json_match(ANSWER, Path('order.yaml'))",
        "",
        "tests/test_a.py:8: ",
        "_ " * 40,
        "",
        "    # as printed",
        "    id: { $any: number }   # whatever",
        "    customer: 'Ada'",
        "    lines:",
        "      - { sku: A, n: 1 }",
        ">     - { sku: B, n: 3 }  # three",
        "E     AssertionError: lines[1].n 3 → 2 (leaf_f1 0.83 < 1.00)",
        "E     6 fields: 5 match, 1 mismatch",
        "E     expected → actual:",
        "E       0.00  lines[1].n  3 → 2  33 % off  tests/order.yaml:6",
        "",
        "tests/order.yaml:6: AssertionError",
    ]


def test_files_outside_pytest_are_relative_to_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.setattr("pytest_jsonmatch.comparing.running._RUNS", [])
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    Path("sub/a.json").write_text('{"n": 1, "m": {"$range": [1, 2]}}')
    Path("text.json").write_text('"{ 5"')
    assert compare_json({"n": 1, "m": 2}, Path("sub/a.json")).score == 1.0
    assert compare_json("{ 5", Path("text.json")).score == 1.0
    assert compare_json("{ 5", tmp_path / "text.json").score == 1.0
    with pytest.raises(AssertionError, match=r"n  1 → 2.*sub/a\.json:1"):
        assert_json_match({"n": 2, "m": 2}, Path("sub/a.json"))
    Path("empty.yaml").touch()
    for path, reason in (("empty.yaml", "must contain a value, such as"), ("b.json", "there is no file")):
        with pytest.raises(InvalidExpectedError, match=reason) as caught:
            compare_json(1, Path(path))
    assert str(caught.value) == (
        "there is no file b.json for expected (the path is relative to the working directory)"
    )


def test_other_paths_are_texts():
    assert compare_json({"path": "a/b.json"}, {"path": Path("a/b.json")}).score == 1.0


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '{\n  "a": 1,\n}', "a.json:3:1: nothing between a comma and "),
        ("a.json", "[NaN]", "a.json:1:2: "),
        ("a.yaml", "a: 1\na: 2\n", "a.yaml:2:1: the key 'a' is already at line 1; keep one of them"),
        (
            "a.yaml",
            "a:\n  $regx: b\n",
            "a.yaml:2:3: expected: unknown matcher '$regx'; did you mean '$regex'?",
        ),
        ("a.json", '{"a": {"$range": [2, 1]}}', "a.json:1:8: expected: "),
        (
            "a.yaml",
            "- {sku: {$any: true}, n: 1}\n",
            "a.yaml:1:3: expected: [].sku: elements are paired by this member",
        ),
    ],
    ids=["comma", "nan", "twice", "misspelt", "range", "key"],
)
def test_a_file_that_is_not_valid(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    options = {"fields": {"$": {"align": {"key": "sku"}}}} if "sku" in text else {}
    for compare in (compare_json, assert_json_match):
        with pytest.raises(InvalidExpectedError) as caught:
            compare([{"sku": "a", "n": 1}], path, **options)
        assert message in str(caught.value)


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(InvalidExpectedError, match=r"can't be read: is a directory$"):
        compare_json(1, tmp_path)


def test_a_path_that_is_relative_to_the_wrong_folder(pytester, write):
    write("order.yaml", ORDER)
    write("test_a.py", "def test_a():\n    assert_json_match(ANSWER, Path('tests/order.yaml'))\n")
    result = pytester.runpytest()
    result.stdout.fnmatch_lines(
        "E * there is no file tests/tests/order.yaml for expected; pytest --jsonmatch-update=new writes it (the path "
        "is relative to the folder of the test's file; for the file that exists, write 'order.yaml')"
    )


# -- writing -----------------------------------------------------------------------------------------------


def test_failed_values_are_written_and_the_rest_of_the_file_stays(pytester, write, processes):
    path = write("order.yaml", ORDER)
    write("test_a.py", "def test_a():\n    assert_json_match(ANSWER, Path('order.yaml'))\n")
    result = pytester.runpytest("--jsonmatch-update=failed", *processes)
    result.assert_outcomes(passed=1)
    assert result.ret == 0
    assert path.read_text("utf-8") == ORDER.replace("n: 3 }", "n: 2 }")
    result.stdout.fnmatch_lines(
        """
        updated 1 case in tests/order.yaml
          tests/test_a.py::test_a
            lines[[]1].n  3 → 2
        """
    )
    pytester.runpytest().assert_outcomes(passed=1)


def test_an_update_shows_the_change_not_two_equal_beginnings(pytester, write):
    text = "The quick brown fox jumps over the lazy dog and runs away from the farm at "
    write("a.json", json.dumps({"note": f"{text}nine", "rows": [*range(40), 7]}))
    write(
        "test_a.py",
        f"def test_a():\n    assert_json_match({{'note': '{text}ten', 'rows': 5}}, Path('a.json'))\n",
    )
    result = pytester.runpytest("--jsonmatch-update=failed,dry-run")
    result.stdout.fnmatch_lines(
        """
        would update 1 case in tests/a.json (dry run: nothing was written)
          tests/test_a.py::test_a
            note  …arm at nine" → …arm at ten"
            rows  [[]0, 1, 2, 3, 4, 5, 6, 7, … → 5
        """
    )


def test_a_matcher_that_does_not_match_stays(pytester, write):
    path = write("order.yaml", ORDER.replace("number", "string"))
    write("test_a.py", "def test_a():\n    assert_json_match(ANSWER, Path('order.yaml'))\n")
    result = pytester.runpytest("--jsonmatch-update=failed")
    result.assert_outcomes(failed=1)
    reason = 'id: the matcher {"$any": "string"} would be lost; change it by hand'
    result.stdout.fnmatch_lines(
        [f"E *not updated: {reason}", f"not updated: tests/test_a.py::test_a: {reason}"]
    )
    assert path.read_text("utf-8") == ORDER.replace("number", "string").replace("n: 3 }", "n: 2 }")


NEW = """\
@pytest.mark.parametrize("size", ["small", "a/b"])
def test_new(expected_json, size):
    assert_json_match({"size": size, "word": {"$any": True}}, expected_json)

class TestOrders:
    def test_text(self, expected_json):
        assert_json_match('Sure: ```json\\n{"n": 1}\\n```', expected_json)

def test_yaml():
    assert_json_match(ANSWER, Path("there/order.yaml"))
"""


def test_new_files_are_written(pytester, write, processes):
    write("test_a.py", NEW)
    result = pytester.runpytest("--jsonmatch-update=new", *processes)
    result.assert_outcomes(passed=4)
    assert result.ret == 0
    tests = pytester.path / "tests"
    written = {path.name: path.read_text("utf-8") for path in (tests / "expected/test_a").iterdir()}
    assert sorted(written) == [
        "TestOrders.test_text.json",
        "test_new-a_b-94d49668.json",
        "test_new-small.json",
    ]
    assert written["test_new-small.json"] == (
        '{\n  "size": "small",\n  "word": {\n    "$literal": {\n      "$any": true\n    }\n  }\n}\n'
    )
    assert json.loads(written["TestOrders.test_text.json"]) == {"n": 1}
    assert (tests / "there/order.yaml").read_text("utf-8").startswith("id: 7\ncustomer: Ada\nlines:\n")
    result.stdout.fnmatch_lines("updated 1 case in tests/there/order.yaml")
    assert "needs a golden case" not in result.stdout.str()
    pytester.runpytest().assert_outcomes(passed=4)


def test_a_new_file_needs_the_option_and_xfail_writes_nothing(pytester, write):
    test = "def test_a(expected_json):\n    assert_json_match(ANSWER, expected_json)\n"
    write("test_a.py", test)
    for option in ("--jsonmatch-update=failed", "--jsonmatch-update=new,dry-run"):
        result = pytester.runpytest(option)
        result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *tests/expected/test_a/test_a.json: there is no expected value yet, and none was written",
            "would update 1 case in tests/expected/test_a/test_a.json (dry run: nothing was written)",
        ]
    )
    write("test_a.py", f"@pytest.mark.xfail\n{test}")
    pytester.runpytest("--jsonmatch-update=new").assert_outcomes(xfailed=1)
    assert not (pytester.path / "tests" / "expected").exists()


def test_two_tests_do_not_write_one_file(pytester, write, processes):
    path = write("n.json", "1\n")
    write(
        "test_a.py",
        """\
        @pytest.mark.parametrize("n", [2, 3])
        def test_a(n):
            assert_json_match(n, Path("n.json"))

        def test_loop():
            for n in (4, 5):
                assert_json_match(n, Path("m.json"))
        """,
    )
    result = pytester.runpytest("--jsonmatch-update=all", *processes)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert path.read_text("utf-8") == "1\n"
    assert not path.with_name("m.json").exists()
    names = "tests/test_a.py::test_a[2] and tests/test_a.py::test_a[3]"
    reasons = [
        f"tests/test_a.py::test_a[2]: {names} need different values",
        f"tests/test_a.py::test_a[3]: {names} need different values",
        "tests/test_a.py::test_loop: its comparisons need different values",
    ]
    assert [line for line in result.outlines if line.startswith("not updated: ")] == [
        f"not updated: {reason}" for reason in sorted(reasons, key=lambda reason: "loop" not in reason)
    ]


def test_ci_refuses_and_so_do_other_suffixes(pytester, write, monkeypatch):
    path = write("order.txt.json", "{}").rename(pytester.path / "tests/order.txt")
    write("test_a.py", "def test_a():\n    assert_json_match(ANSWER, Path('order.txt'))\n")
    result = pytester.runpytest("--jsonmatch-update")
    result.stdout.fnmatch_lines(
        "E *not updated: its suffix is '.txt'; only .json, .yaml and .yml files are written"
    )
    monkeypatch.setenv("CI", "1")
    assert pytester.runpytest("--jsonmatch-update").ret == pytest.ExitCode.USAGE_ERROR
    assert path.read_text("utf-8") == "{}"


def test_an_option_that_finds_nothing_to_do_says_so(pytester, write):
    write("test_a.py", "def test_a():\n    assert_json_match(1, 1)\n")
    result = pytester.runpytest("--jsonmatch-update")
    result.stdout.fnmatch_lines(
        "--jsonmatch-update needs a golden case or an assertion with a file, and none has run; golden files are *"
    )


# -- the fixture -------------------------------------------------------------------------------------------


def test_a_second_comparison_with_the_file_of_the_test_asks_for_a_name(pytester, write):
    write("test_a.py", "").parent.joinpath("expected/test_a").mkdir(parents=True)
    for name in ("test_a", "test_a-2"):
        (pytester.path / f"tests/expected/test_a/{name}.json").write_text("[1]")
    write(
        "test_a.py",
        """\
        from pytest_jsonmatch import compare_json

        def test_a(expected_json):
            assert_json_match([1], expected_json)
            assert compare_json([1], expected_json).score == 1.0
            assert_json_match([1], expected_json.with_name("test_a-2.json"))
            assert_json_match([1], expected_json)
        """,
    )
    result = pytester.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "E *: the file of expected_json is for one comparison of a test, and this is the second; name another *",
            "tests/test_a.py:13: ConfigurationError",
        ]
    )


def test_only_gates_decide(pytester, write):
    write("n.json", "[1, 2]")
    write("test_a.py", "def test_a():\n    assert_json_match([1, 3], Path('n.json'))\n")
    result = pytester.runpytest("-o", "jsonmatch_fail=gate", "--jsonmatch-gate=f1 >= 0.6")
    result.assert_outcomes(passed=1)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
