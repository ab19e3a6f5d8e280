"""`--jsonmatch-record` keeps what producers answered, `--jsonmatch-replay` judges it again without them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import JsonMatchError, compare_json, to_json_value
from pytest_jsonmatch.golden.outputs import Outputs, OutputWriter, output_line
from tests.laws import law

OLD = '{"case": "old", "text": "old"}\n'

CONFTEST = """\
import pytest

@pytest.fixture(autouse=True)
def always():
    with open("always.txt", "a") as file:
        file.write("x")

@pytest.fixture
def client():
    with open("calls.txt", "a") as file:
        file.write("x")

@pytest.fixture(params=["small", "large"])
def model(request):
    return request.param

@pytest.fixture
def jsonmatch_actual(jsonmatch_case, model, client):
    if jsonmatch_case.id == "text":
        return f'Sure: {{"n": {1 if model == "large" else 0}}}'
    return {"n": jsonmatch_case.input, "x": "\\ud800é"}
"""
CASES = """\
cases:
  - id: value
    input: 1
    fields: { x: { skip: true } }
    expected: { n: 1 }
  - id: text
    expected: { n: 1 }
"""


@pytest.fixture
def suite(pytester, write):
    write("conftest.py", CONFTEST)
    write("sub/a.golden.yaml", CASES)
    return pytester


def lines(pytester, name="out.jsonl"):
    return [json.loads(line) for line in (pytester.path / name).read_text().splitlines()]


def test_what_is_kept(suite, processes):
    suite.runpytest("--jsonmatch-record=out.jsonl", *processes).assert_outcomes(passed=3, failed=1)
    kept = sorted(lines(suite), key=lambda entry: entry["case"])
    names = ("text[large]", "text[small]", "value[large]", "value[small]")
    assert [entry["case"] for entry in kept] == [f"sub/a.golden.yaml::{name}" for name in names]
    assert (kept[1]["text"], kept[2]["actual"]) == ('Sure: {"n": 0}', {"n": 1, "x": "\ud800é"})
    assert not list(suite.path.glob("*.partial"))


def test_it_is_judged_again_and_nobody_is_asked(suite, write):
    suite.runpytest("--jsonmatch-record=out.jsonl").assert_outcomes(passed=3, failed=1)
    for name in ("calls.txt", "always.txt"):
        (suite.path / name).unlink()
    outcome = suite.runpytest("--jsonmatch-replay=out.jsonl")
    outcome.assert_outcomes(passed=3, failed=1)
    outcome.stdout.fnmatch_lines(["*0.00  n  1 → 0*"])
    assert not (suite.path / "calls.txt").exists()
    assert (suite.path / "always.txt").read_text() == "xxxx"
    # By today's rules:
    write("sub/a.golden.yaml", "metric: json_similarity\nthreshold: 0\n" + CASES)
    suite.runpytest("--jsonmatch-replay=out.jsonl").assert_outcomes(passed=4)
    suite.runpytest("--jsonmatch-replay=out.jsonl", "sub/a.golden.yaml::text[small]").assert_outcomes(
        passed=1
    )


def test_a_case_without_a_record_is_an_error_that_names_it(suite, write):
    suite.runpytest("--jsonmatch-record=out.jsonl", "-k", "value")
    outcome = suite.runpytest("--jsonmatch-replay=out.jsonl")
    outcome.assert_outcomes(passed=2, errors=2)
    outcome.stdout.fnmatch_lines_random("""\
        >*- id: text
        E*AssertionError: out.jsonl has no output of sub/a.golden.yaml::text?small?; to produce and add it, *""")


PRODUCER = """\
def ask(n):
    with open("calls.txt", "a") as file:
        file.write(str(n))
    if n == 3 and BROKEN:
        raise TimeoutError("try again")
    return {"n": n}
"""
ASKED = """\
producer: client:ask
cases:
  - { id: one, input: 1, expected: { n: 1 } }
  - { id: two, input: 2, expected: { n: 2 } }
  - { id: three, input: 3, expected: { n: 3 } }
  - { id: four, input: 4, expected: { n: 5 } }
"""


@pytest.fixture
def asked(pytester, write, golden):
    """Run cases with `--jsonmatch-replay=out.jsonl,missing`; return what was asked, and the outcome."""
    golden(ASKED)
    pytester.makeini("[pytest]\npythonpath = .\n")

    def run(*arguments, broken=False):
        write("client.py", PRODUCER.replace("BROKEN", str(broken)))
        calls = pytester.path / "calls.txt"
        calls.write_text("")
        outcome = pytester.runpytest_subprocess("--jsonmatch-replay=out.jsonl,missing", *arguments)
        return "".join(sorted(calls.read_text())), outcome

    return run


@pytest.mark.parametrize("more", [[], ["--jsonmatch-concurrency=2"], ["-p", "xdist", "-n", "2"]])
def test_only_missing_answers_are_asked_for_and_added(pytester, asked, more):
    calls, outcome = asked(*more, broken=True)
    assert calls == "1234"
    outcome.assert_outcomes(passed=2, failed=1, errors=1)
    assert sorted(entry["case"][15:] for entry in lines(pytester)) == ["four", "one", "two"]
    calls, outcome = asked(*more)
    assert calls == "3"
    outcome.assert_outcomes(passed=3, failed=1)
    calls, outcome = asked()
    assert calls == ""
    outcome.assert_outcomes(passed=3, failed=1)
    assert [len(lines(pytester)), len(list(pytester.path.glob("out*")))] == [4, 1]


def test_a_kept_answer_needs_no_producer_but_a_missing_one_does(pytester, write, golden, asked):
    asked("-k", "one")
    golden(ASKED.replace("client:ask", "gone:ask"))
    _, outcome = asked()
    outcome.assert_outcomes(passed=1, errors=3)
    outcome.stdout.fnmatch_lines(["*the producer 'gone:ask' can't be imported: *"])


def test_a_run_that_broke_off_is_finished(pytester, write, asked):
    write(
        "stop.py",
        "def pytest_runtest_logstart(nodeid):\n    if 'three' in nodeid: raise KeyboardInterrupt\n",
    )
    calls, _ = asked("-p", "stop")
    assert calls == "12"
    found = pytester.path / "out.jsonl"
    found.write_text(found.read_text() + '{"case": "a.golden.yaml::three", "act')
    calls, outcome = asked()
    assert calls == "34"
    outcome.assert_outcomes(passed=3, failed=1)
    assert [entry["actual"]["n"] for entry in lines(pytester)] == [1, 2, 3, 4]


def test_a_partial_file_of_a_recording_goes_on(pytester, write, asked):
    write("out.jsonl", '{"case": "a.golden.yaml::one", "actual": {"n": 1}}')  # without an end of line
    calls, _ = asked()
    assert calls == "234"
    assert len(lines(pytester)) == 4


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of this kind")
def test_on_a_full_disk_the_answers_so_far_stay(pytester, write, asked):
    write(
        "out.jsonl", json.dumps({"case": "a.golden.yaml::one", "actual": {"n": 1}, "x": "x" * 19_900}) + "\n"
    )
    write("conftest.py", FULL_DISK)
    _, outcome = asked("-p", "no:cacheprovider")
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED
    outcome.stdout.fnmatch_lines(["--jsonmatch-replay: *can't be written: *; it holds the answers so far"])
    write("conftest.py", "")
    calls, _ = asked()
    assert "1" not in calls
    assert [entry["actual"]["n"] for entry in lines(pytester)] == [1, 2, 3, 4]


def test_recorded_answers_are_kept_and_replayed_too(pytester, golden):
    golden("actual: { n: 1 }\nexpected: { n: 1 }\n")
    pytester.runpytest("--jsonmatch-record=out.jsonl").assert_outcomes(passed=1)
    golden("actual: { n: 2 }\nexpected: { n: 2 }\n")
    pytester.runpytest("--jsonmatch-replay=out.jsonl").assert_outcomes(failed=1)


def test_an_older_file_stays_until_the_run_is_over(pytester, write, golden):
    write("out.jsonl", OLD)
    write(
        "test_a.py",
        "from pathlib import Path\n\ndef test_a(): assert Path('out.jsonl').read_text()[:13] == '{\"case\": \"old'\n",
    )
    golden("actual: { n: 1 }\nexpected: { n: 1 }\n")
    pytester.runpytest("--jsonmatch-record=out.jsonl").assert_outcomes(passed=2)
    assert len(lines(pytester)) == 1


@pytest.mark.parametrize(
    ("failing", "arguments"), [("raise KeyboardInterrupt", []), ("assert False", ["--maxfail=1"])]
)
def test_what_a_run_kept_that_did_not_end_stays_next_to_the_file(pytester, write, golden, failing, arguments):
    golden("actual: { n: 1 }\nexpected: { n: 1 }\n")
    write("b/test_b.py", f"def test_b(): {failing}\n\ndef test_c(): pass\n")
    write("out.jsonl", OLD)
    outcome = pytester.runpytest_subprocess("--jsonmatch-record=out.jsonl", *arguments)
    assert (pytester.path / "out.jsonl").read_text() == OLD
    (partial,) = pytester.path.glob("*.partial")
    assert json.loads(partial.read_text())["case"] == "a.golden.yaml::a"
    outcome.stdout.fnmatch_lines([f"--jsonmatch-record: the run did not finish; *{partial.name},missing"])


FULL_DISK = """
import resource

def pytest_configure():
    # As on a full disk, no file can be longer; SIGXFSZ is ignored by Python.
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of this kind")
@pytest.mark.parametrize("older", [OLD, None])
def test_on_a_full_disk_the_older_file_stays_whole(pytester, write, golden, older):
    write("conftest.py", FULL_DISK)
    golden(f"cases:\n- actual: {{ n: {'x' * 5000} }}\n  expected: 1\n  repeat: 9\n")
    if older is not None:
        write("out.jsonl", older)
    outcome = pytester.runpytest_subprocess(
        "-p", "no:cacheprovider", "--jsonmatch-record=out.jsonl", "--tb=no"
    )
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED
    stays = "; the file of an earlier run stays as it was" if older else ""
    outcome.stdout.fnmatch_lines(
        [f"--jsonmatch-record: *out.jsonl can't be written: file too large; *.partial holds *{stays}"]
    )
    outcome.assert_outcomes(failed=9)
    found = pytester.path / "out.jsonl"
    assert (found.read_text() if found.exists() else None) == older
    write("conftest.py", "")
    (partial,) = pytester.path.glob("*.partial")
    pytester.runpytest(f"--jsonmatch-replay={partial.name},missing").assert_outcomes(failed=9)
    assert len(lines(pytester, partial.name)) == 9


def test_on_a_full_disk_a_run_that_passes_fails(pytester, write, golden):
    write("conftest.py", FULL_DISK)
    golden(f"cases:\n- actual: {{ n: {'x' * 50_000} }}\n  expected: {{ n: {'x' * 50_000} }}\n")
    outcome = pytester.runpytest_subprocess("-p", "no:cacheprovider", "--jsonmatch-record=out.jsonl")
    outcome.assert_outcomes(passed=1)
    assert outcome.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--jsonmatch-replay=no.jsonl"], "*--jsonmatch-replay: *no.jsonl can't be read: no such file*"),
        (["--jsonmatch-replay=bad.jsonl"], "*bad.jsonl:2 is not an output that --jsonmatch-record wrote"),
        (
            ["--jsonmatch-replay=cut.jsonl"],
            "*cut.jsonl:2 is not complete: the file was cut; delete the line, *",
        ),
        (
            ["--jsonmatch-replay=bad.jsonl,missing"],
            "*bad.jsonl:2 is not an output that --jsonmatch-record wrote",
        ),
        (["--jsonmatch-replay=here,missing"], "*--jsonmatch-replay: *here can't be read: is a directory"),
        (["--jsonmatch-replay=no/out.jsonl,missing"], "*--jsonmatch-replay: No such file or directory: *"),
        (["--jsonmatch-record="], "*--jsonmatch-record: *is a folder; name a file"),
        (["--jsonmatch-record=here"], "*--jsonmatch-record: *here is a folder; *"),
        (["--jsonmatch-record=no/folder/out.jsonl"], "*--jsonmatch-record: *No such file*"),
        (["--jsonmatch-record=a", "--jsonmatch-replay=b"], "*choose one; *--jsonmatch-replay=FILE,missing"),
    ],
)
def test_what_is_wrong_is_reported_before_anything_runs(pytester, write, golden, arguments, message):
    write("here/a.txt", "")
    write("cut.jsonl", '{"case": "a", "text": "b"}\n{"case": "b", "te')
    write("bad.jsonl", '{"case": "a", "text": "b"}\n{"case": "a"}\n')
    golden("actual: 1\nexpected: 1\n")
    outcome = pytester.runpytest(*arguments)
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines([message])


ANSWERS = """\
import math
from decimal import Decimal

import pytest

DEEP = 1
for _ in range(127):
    DEEP = [DEEP]
ANSWERS = {
    "overflow": {"n": Decimal("1e400")},
    "long": {"n": 10**4299},
    "not-finite": {"n": [math.nan, math.inf, -math.inf]},
    "deep": DEEP,
    "text-of-bytes": "Sure: {\\"n\\": \\"\\u00e9\\"}".encode(),
    "half": {"n": "\\ud800"},
    "zero": {"n": -0.0},
    "tuple": {"n": (1, 2.0, True, None)},
}

@pytest.fixture
def jsonmatch_actual(jsonmatch_case):
    return ANSWERS[jsonmatch_case.id]
"""
EXPECTED = {
    "overflow": "{ n: 1e400 }",
    "long": "{ n: 1 }",
    "not-finite": "{ n: [1, 2, 3] }",
    "deep": "[1]",
    "text-of-bytes": "{ n: é }",
    "half": "{ n: x }",
    "zero": "{ n: 0 }",
    "tuple": "{ n: [1, 2, true, null] }",
}


def test_every_answer_comes_back_as_what_it_was(pytester, write, golden, recorded):
    hook = (pytester.path / "conftest.py").read_text()
    write("conftest.py", f"{hook}\n{ANSWERS}")
    cases = "".join(f"- id: {name}\n  expected: {expected}\n" for name, expected in EXPECTED.items())
    golden(f"metric: json_similarity\ncases:\n{cases}")
    live = pytester.runpytest("--jsonmatch-record=out.jsonl")
    live.assert_outcomes(passed=4, failed=4)
    assert '"error": ' not in (pytester.path / "out.jsonl").read_text()
    scores = recorded()
    assert len(scores) == len(EXPECTED)
    write("conftest.py", hook)
    replayed = pytester.runpytest("--jsonmatch-replay=out.jsonl")
    replayed.assert_outcomes(passed=4, failed=4)
    assert recorded() == scores


def test_what_json_can_not_say_is_an_error_that_says_so(pytester, golden):
    pytester.makeconftest(r"""
        import pytest

        @pytest.fixture
        def jsonmatch_actual(jsonmatch_case):
            return {1}
        """)
    golden("cases: [{id: a, expected: 1}]\n")
    pytester.runpytest("--jsonmatch-record=out.jsonl").assert_outcomes(failed=1)
    (entry,) = lines(pytester)
    assert "set" in entry["error"]
    outcome = pytester.runpytest("--jsonmatch-replay=out.jsonl")
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(["*has no output of a.golden.yaml::a: *set*"])


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**300, 10**4000)
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.decimals(allow_nan=False, allow_infinity=False)
)
answers = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner),
)


@law(answers | st.text(st.characters(exclude_categories=())) | st.binary())
def test_an_answer_and_what_is_read_of_it_have_the_same_score(actual):
    line = output_line("x.yaml::a", actual)
    assert line.isascii()
    assert "\n" not in line
    with TemporaryDirectory() as folder:
        path = Path(folder, "out.jsonl")
        path.write_text(line)
        try:
            found = Outputs(path).find("x.yaml::a")
        except LookupError:
            assert '"error": ' in line
            return
    if isinstance(actual, str | bytes):
        assert found == actual or found.encode() == actual
    else:
        assert repr(found) == repr(to_json_value(actual))
    for expected in ({"a": 1}, [1], "text"):
        assert judged(found, expected) == judged(actual, expected)


def judged(actual, expected):
    try:
        return compare_json(actual, expected, metric="json_similarity").score
    except JsonMatchError as error:
        return str(error)


def test_a_run_that_never_begins_leaves_no_file(pytester, golden):
    golden("actual: 1\nexpected: 1\n")
    pytester.makeconftest("""
        import pytest

        @pytest.hookimpl(trylast=True)
        def pytest_configure():
            raise pytest.UsageError("not today")
        """)
    assert pytester.runpytest("--jsonmatch-record=out.jsonl").ret == pytest.ExitCode.USAGE_ERROR
    assert not list(pytester.path.glob("out*"))


def test_a_run_without_answers_leaves_the_file_alone(pytester, write, golden):
    write("out.jsonl", OLD)
    golden("actual: 1\nexpected: 1\n")
    pytester.runpytest("--jsonmatch-record=out.jsonl", "--collect-only")
    pytester.runpytest("--jsonmatch-record=out.jsonl", "-k", "nothing")
    assert (pytester.path / "out.jsonl").read_text() == OLD
    assert [path.name for path in pytester.path.glob("out*")] == ["out.jsonl"]


def test_two_runs_at_once_leave_one_whole_file(tmp_path):
    path = tmp_path / "out.jsonl"
    one, other = OutputWriter(path), OutputWriter(path)
    for writer in (one, other):
        writer.pytest_sessionstart()
    for number in range(3):
        for writer, name in ((one, "one"), (other, "other")):
            writer.write(f'{{"case": "{name}{number}", "text": ""}}')
    assert len(list(tmp_path.glob("out.jsonl.*.partial"))) == 2
    one.close(is_complete=True)
    assert Outputs(path).find("one2") == ""
    other.close(is_complete=True)
    with pytest.raises(LookupError):
        Outputs(path).find("one2")
    assert [Outputs(path).find(f"other{number}") for number in range(3)] == [""] * 3
    assert [each.name for each in tmp_path.iterdir()] == ["out.jsonl"]


# -- whose file it is --------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--jsonmatch-replay=my,missing", "--jsonmatch-record=my"])
@pytest.mark.parametrize(
    "content",
    [
        b'{"gold": "precious"}',
        b'{"gold": "precious"}\n',
        b'{"case": "a", "text": "b"}\n{"gold": "precious"}',
        b'{"case": "a", "expected": 1}',
        b'{\n  "gold": "precious"\n}\n',
        b"cases:\n- {id: a, expected: 1}\n",
        b"no,amount\n1,2",
        b"\x89PNG\r\n",
    ],
)
def test_a_file_of_the_users_own_is_not_touched(pytester, asked, option, content):
    path = pytester.path / "my"
    path.write_bytes(content)
    outcome = pytester.runpytest(option)
    assert outcome.ret == pytest.ExitCode.USAGE_ERROR
    outcome.stderr.fnmatch_lines(["*--jsonmatch-re*: *my:* is not an output that --jsonmatch-record wrote*"])
    assert path.read_bytes() == content


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
@pytest.mark.parametrize("has_file", [True, False])
def test_a_link_stays_a_link(pytester, write, golden, has_file):
    golden("actual: { n: 1 }\nexpected: { n: 1 }\n")
    target = pytester.mkdir("kept") / "out.jsonl"
    if has_file:
        target.write_text(OLD)
        target.chmod(0o640)
    (pytester.path / "link.jsonl").symlink_to(target)
    pytester.runpytest("--jsonmatch-record=link.jsonl").assert_outcomes(passed=1)
    assert (pytester.path / "link.jsonl").is_symlink()
    assert [entry["case"] for entry in lines(pytester, "kept/out.jsonl")] == ["a.golden.yaml::a"]
    assert not has_file or target.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
@pytest.mark.parametrize("more", [[], ["-p", "xdist", "-n", "1"]])
def test_a_pipe_gets_all_answers_at_the_end(pytester, asked, more):
    asked("-k", "nothing")
    pipe = pytester.path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        outcome = pytester.runpytest_subprocess("--jsonmatch-record=pipe", *more)
        outcome.assert_outcomes(passed=3, failed=1)
        found = reader.communicate(timeout=60)[0]
    assert sorted(json.loads(line)["actual"]["n"] for line in found.splitlines()) == [1, 2, 3, 4]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert not list(pytester.path.glob("*.partial"))
    outcome = pytester.runpytest("--jsonmatch-replay=pipe,missing")
    outcome.stderr.fnmatch_lines(["*pipe can't be read: it is a pipe or a device, not a file"])


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such device")
def test_a_device_stays_a_device(pytester, golden):
    golden("actual: { n: 1 }\nexpected: { n: 1 }\n")
    (pytester.path / "null").symlink_to(os.devnull)  # a link, so that a mistake does not harm the system
    pytester.runpytest("--jsonmatch-record=null").assert_outcomes(passed=1)
    assert (pytester.path / "null").is_symlink()
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


# -- of which input ----------------------------------------------------------------------------------------

ECHO = """\
def ask(given):
    with open("calls.txt", "a") as file:
        file.write("x")
    return {"n": 1}
"""


@pytest.mark.parametrize(
    ("before", "after", "is_other"),
    [
        ("input: hello", "input: goodbye", True),
        ("input: {a: 1, b: [2]}", "input: {a: 1, b: [3]}", True),
        ("input: {a: 1, b: [2]}", "input: {b: [2], a: 1}", False),
        ("input: {a: 1}", "input: {a: 1}\ntitle: of one", False),
        ("input: 1", "input: '1'", True),
        ("input: hello", "input_file: hello.txt", False),
        ("input_file: hello.txt", "input_file: other.txt", True),
        ("input_file: bytes.bin", "input_file: other.bin", True),
        ("input: null", "input: ''", True),
    ],
)
def test_an_answer_to_another_input_is_none(pytester, write, golden, before, after, is_other):
    pytester.makeini("[pytest]\npythonpath = .\n")
    write("client.py", ECHO)
    for name, content in {
        "hello.txt": b"hello",
        "other.txt": b"bye",
        "bytes.bin": b"\xff",
        "other.bin": b"\xfe",
    }.items():
        (pytester.path / name).write_bytes(content)
    case = "producer: client:ask\nexpected: {{ n: 1 }}\n{}\n"
    golden(case.format(before))
    pytester.runpytest("--jsonmatch-record=out.jsonl").assert_outcomes(passed=1)
    golden(case.format(after))
    outcome = pytester.runpytest("--jsonmatch-replay=out.jsonl")
    outcome.assert_outcomes(passed=not is_other, errors=is_other)
    if is_other:
        outcome.stdout.fnmatch_lines("""\
            E*the output of a.golden.yaml::a in out.jsonl was recorded for another input; to produce and add *
            1 unanswered: 1 recorded for another input*""")
    calls = pytester.path / "calls.txt"
    calls.write_text("")
    for _ in range(2):
        pytester.runpytest("--jsonmatch-replay=out.jsonl,missing").assert_outcomes(passed=1)
    assert len(calls.read_text()) == is_other


def test_an_answer_of_unknown_input_counts(pytester, write, golden):
    write("out.jsonl", '{"case": "a.golden.yaml::a", "actual": {"n": 1}}')
    golden("input: 1\nexpected: { n: 1 }\n")
    pytester.runpytest("--jsonmatch-replay=out.jsonl").assert_outcomes(passed=1)


# -- under another rootdir ---------------------------------------------------------------------------------


@pytest.fixture
def mini(pytester, write):
    """Two files of cases in a folder, which can be rootdir itself, and a producer that counts its calls."""
    write("mini/pytest.ini", "[pytest]\npythonpath = .\n")
    write("mini/client.py", PRODUCER.replace("BROKEN", "False"))
    write("mini/a.golden.yaml", ASKED)
    write("mini/sub/a.golden.yaml", ASKED.replace("expected: { n: 5 }", "expected: { n: 4 }"))
    write("pytest.ini", "[pytest]\npythonpath = mini\n")
    return pytester


def run_in(pytester, monkeypatch, folder, *arguments):
    """Run pytest in a folder, which is the rootdir, too; return the outcome and the number of calls."""
    calls = pytester.path / folder / "calls.txt"
    calls.write_text("")
    monkeypatch.chdir(pytester.path / folder)
    outcome = pytester.runpytest_subprocess(*arguments)
    return outcome, len(calls.read_text())


@pytest.mark.parametrize(
    ("recorded", "replayed", "how", "more"),
    [
        ("mini", ".", "with 'mini/' before each id", ()),
        (".", "mini", "without 'mini/' in each id", ()),
        (".", "mini", "without 'mini/' in each id", ("-p", "xdist", "-n", "1")),
    ],
)
def test_answers_are_found_under_another_rootdir(mini, monkeypatch, recorded, replayed, how, more):
    path = mini.path / "out.jsonl"
    outcome, _ = run_in(mini, monkeypatch, recorded, f"--jsonmatch-record={path}")
    outcome.assert_outcomes(passed=7, failed=1)
    kept = path.read_text()
    for option in (f"{path},missing", str(path)):
        outcome, calls = run_in(mini, monkeypatch, replayed, f"--jsonmatch-replay={option}", *more)
        outcome.assert_outcomes(passed=7, failed=1)
        assert calls == 0
        line = f"--jsonmatch-replay: out.jsonl was recorded under another rootdir: it is read {how}"
        outcome.stdout.fnmatch_lines([line])
    assert path.read_text() == kept
    # What is added has ids as in the file.
    path.write_text("".join(line for line in kept.splitlines(keepends=True) if "three" not in line))
    _, calls = run_in(mini, monkeypatch, replayed, f"--jsonmatch-replay={path},missing")
    assert calls == 2
    assert sorted(path.read_text().splitlines()) == sorted(kept.splitlines())


def test_no_folder_is_chosen_where_several_would_do(mini, write, monkeypatch):
    write("out.jsonl", '{"case": "a.golden.yaml::one", "actual": {"n": 1}}\n')
    outcome = mini.runpytest("--jsonmatch-replay=out.jsonl")
    outcome.assert_outcomes(errors=8)
    outcome.stdout.fnmatch_lines(
        ["--jsonmatch-replay: out.jsonl has no case of this run, also not under another rootdir: it has *"]
    )


@pytest.mark.parametrize(("before", "after"), [("mini", "."), (".", "mini")])
def test_a_baseline_of_another_rootdir_has_the_same_cases(mini, monkeypatch, before, after):
    base, now = mini.path / "base.jsonl", mini.path / "now.jsonl"
    run_in(mini, monkeypatch, before, f"--jsonmatch-json={base}")
    outcome, _ = run_in(
        mini,
        monkeypatch,
        after,
        f"--jsonmatch-json={now}",
        f"--jsonmatch-baseline={base}",
        "--jsonmatch-max-drop=0",
    )
    outcome.stdout.fnmatch_lines(["*base.jsonl had another rootdir: it is read *"])
    outcome.stdout.no_fnmatch_line("*new cases*")
    diff = mini.run(sys.executable, "-m", "pytest_jsonmatch", "diff", str(base), str(now))
    assert diff.ret == 0
    diff.stdout.fnmatch_lines(["base had another rootdir: it is read *"])
