"""Files that a run leaves: whole or not at all, whatever becomes of the run."""

from __future__ import annotations

import os
import signal
import sys
import time
from fnmatch import fnmatch
from pathlib import Path

import pytest

from pytest_jsonmatch import read_results
from tests.conftest import gates_in
from tests.forked import Forked

SUITE = """\
import os, pathlib, signal, time
import pytest

@pytest.mark.parametrize("number", range(4))
def test_it(assert_json_match, number):
    assert_json_match({"n": number % 2}, {"n": 0})
"""
FILES = {
    "--jsonmatch-json=out/results.json": "out/results.json",
    "--jsonmatch-save=main": "jsonmatch-baselines/main.jsonl",
    "--jsonmatch-markdown=out/report.md": "out/report.md",
    "--jsonmatch-html=out/report.html": "out/report.html",
}
# Where nothing can be made, not even by root.
BELOW_A_FILE = "test_it.py/out"
KERNEL = "/proc/out"


@pytest.fixture
def suite(pytester):
    pytester.makepyfile(test_it=SUITE)
    return pytester


def check_files(folder: Path, cases: int, *, baseline: bool = True) -> None:
    """Each file is there, whole, and nothing is left beside it; a baseline only of a run that finished."""
    assert (folder / "jsonmatch-baselines").exists() == baseline
    for name in ("out/results.json", *(["jsonmatch-baselines/main.jsonl"] if baseline else [])):
        assert len(read_results(folder / name).cases) == cases
    assert (folder / "out/report.md").read_text(encoding="utf-8").startswith("## ")
    assert (folder / "out/report.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    names = sorted(path.name for path in (folder / "out").iterdir())
    assert names == ["report.html", "report.md", "results.json"]


def test_all_files_of_a_run_that_fails(suite, processes, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(suite.path / "summary.md"))
    run = suite.runpytest(*FILES, *processes)
    run.assert_outcomes(passed=2, failed=2)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    check_files(suite.path, 4)
    report = (suite.path / "out/report.md").read_text(encoding="utf-8")
    assert (suite.path / "summary.md").read_text(encoding="utf-8") == f"\n{report}"
    run.stdout.fnmatch_lines(f"""\
        results written to *{Path("out", "results.json")}
        results written to *{Path("jsonmatch-baselines", "main.jsonl")}
        report written to *{Path("out", "report.md")}""")


def test_the_same_files_with_and_without_workers(suite, monkeypatch):
    texts = []
    for arguments in ((), ("-p", "xdist", "-n", "2")):
        suite.runpytest(*FILES, *arguments)
        texts.append([(suite.path / name).read_text(encoding="utf-8") for name in FILES.values()])
    plain, spread = texts
    assert plain[2] == spread[2]
    assert plain[0].splitlines()[1:] == spread[0].splitlines()[1:]


@pytest.mark.parametrize("command", [("--collect-only",), ("--setup-plan",), ("-k", "nothing")])
def test_no_file_of_a_run_in_which_nothing_runs(suite, command, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(suite.path / "summary.md"))
    suite.runpytest(*FILES, *command)
    assert not any((suite.path / name).exists() for name in [*FILES.values(), "summary.md"])


OWN_FILES = {
    "gold.jsonl": '{"id": 1, "total": 2}\n',
    "gold.json": '{"gold": "precious"}',
    "a.golden.yaml": "expected: 1\nactual: 1\n",
    "test_b.py": "def test_b(): pass\n",
    "README.md": "# Receipts\n",
    "jsonmatch-baselines/gold.jsonl": '{"id": 1}\n',
}


@pytest.mark.parametrize("option", ["json", "html", "markdown", "save"])
@pytest.mark.parametrize("name", OWN_FILES)
def test_files_of_the_users_own_are_not_replaced(suite, option, name):
    if (option == "save") != ("/" in name):
        return
    for other, text in OWN_FILES.items():
        suite.path.joinpath(other).parent.mkdir(exist_ok=True)
        suite.path.joinpath(other).write_text(text, "utf-8")
    run = suite.runpytest(f"--jsonmatch-{option}={'gold' if option == 'save' else name}")
    assert run.ret == pytest.ExitCode.USAGE_ERROR
    run.stderr.fnmatch_lines(
        [f"*--jsonmatch-{option}: *{name} has other content than * of jsonmatch; name another file, *"]
    )
    assert {other: (suite.path / other).read_text("utf-8") for other in OWN_FILES} == OWN_FILES


def test_outputs_of_earlier_runs_and_empty_files_are_replaced(suite):
    for name in FILES.values():
        suite.path.joinpath(name).parent.mkdir(exist_ok=True)
        suite.path.joinpath(name).touch()
    for _ in range(2):
        suite.runpytest(*FILES).assert_outcomes(passed=2, failed=2)
        check_files(suite.path, 4)


# -- where nothing can be written --------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["json", "markdown", "html"])
@pytest.mark.parametrize("folder", [BELOW_A_FILE, KERNEL])
def test_a_file_that_cannot_be_written_fails_the_run_and_keeps_none_of_the_others(suite, option, folder):
    if folder == KERNEL and not sys.platform.startswith("linux"):
        pytest.skip("/proc is Linux's")
    others = [name for name in FILES if f"-{option}=" not in name]
    run = suite.runpytest("-k", "0", f"--jsonmatch-{option}={folder}/file", *others)
    run.assert_outcomes(passed=1, deselected=3)
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.re_match_lines([rf".*{folder}/file can't be written: (not a directory|no such file.*)"])
    assert all((suite.path / FILES[name]).exists() for name in others)


# Whoever runs the tests may write everywhere: an audit hook stands for the rights that they do not have.
LOCKED = """\
import os, sys

def refuse(event, arguments):
    if event in {"os.mkdir", "os.rename"} or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
        if isinstance(arguments[0], (str, os.PathLike)) and "locked" in os.path.abspath(arguments[0]):
            raise PermissionError(13, "Permission denied", os.fspath(arguments[0]))

sys.addaudithook(refuse)
"""


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("save=main", "locked/main.jsonl can't be written: permission denied"),
        ("record=locked/answers.jsonl", "*--jsonmatch-record: *ermission denied*"),
        (
            "update=all,force",
            "not updated: locked/a.golden.yaml::a: the file can't be written: permission denied",
        ),
    ],
)
def test_a_folder_that_may_only_be_read(pytester, option, message):
    pytester.makeconftest(LOCKED)
    pytester.makeini("[pytest]\njsonmatch_baselines = locked\n")
    pytester.mkdir("locked")
    golden = pytester.path / "locked/a.golden.yaml"
    golden.write_text("actual: 1\nexpected: 2\nthreshold: 0\nid: a\n")
    run = pytester.runpytest_subprocess(f"--jsonmatch-{option}", "-p", "no:cacheprovider")
    assert run.ret in {pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.USAGE_ERROR}
    assert any(fnmatch(line, message) for line in (*run.outlines, *run.errlines))
    assert "INTERNALERROR" not in run.stdout.str()
    assert golden.read_text() == "actual: 1\nexpected: 2\nthreshold: 0\nid: a\n"
    assert list(golden.parent.iterdir()) == [golden]


@pytest.mark.parametrize("what", ["KeyboardInterrupt", "OSError(28, 'No space left on device')"])
def test_files_are_as_they_were_if_writing_them_again_is_cut_short(suite, what):
    suite.runpytest_subprocess(*FILES)
    before = {name: (suite.path / name).read_bytes() for name in FILES.values()}
    suite.makeconftest(f"import os\n\ndef full(file):\n    raise {what}\n\nos.fsync = full\n")
    run = suite.runpytest_subprocess(*FILES, "-k", "0")
    assert run.ret != pytest.ExitCode.OK
    if what != "KeyboardInterrupt":
        run.assert_outcomes(passed=1, deselected=3)
        run.stdout.fnmatch_lines_random(
            f"{Path(name)} can't be written: no space left on device" for name in before
        )
    assert {name: (suite.path / name).read_bytes() for name in FILES.values()} == before
    check_files(suite.path, 4)


# -- interrupted -------------------------------------------------------------------------------------------


def start(*arguments: str, out: str = "out.txt") -> Forked:
    return Forked(("-p", "no:cacheprovider", *arguments), Path(out))


INTERRUPT = """
def test_that_is_interrupted(assert_json_match):
    assert_json_match({"n": 1}, {"n": 2}, threshold=0)
    os.kill(WHOM, signal.SIGINT)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_an_interrupt_leaves_all_files(suite, monkeypatch):
    suite.makepyfile(test_it=SUITE + INTERRUPT.replace("WHOM", "os.getpid()"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(suite.path / "summary.md"))
    process = start(*FILES, "--jsonmatch-gate=completeness == 1")
    assert process.wait(timeout=120) == pytest.ExitCode.INTERRUPTED
    output = Path("out.txt").read_text(encoding="utf-8")
    check_files(suite.path, 4, baseline=False)
    assert "interrupted" in read_results(suite.path / "out/results.json").narrowed
    assert "gates are not checked: the run was interrupted" in output
    assert "gates, on 4 of 5 cases (interrupted)" in output
    assert "not decided completeness == 1: 0.80, margin -0.20" in gates_in(output.splitlines())
    assert "4 of 5 cases (interrupted)" in (suite.path / "summary.md").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_an_interrupt_leaves_all_files_with_workers_too(suite):
    suite.makepyfile(test_it=SUITE + INTERRUPT.replace("WHOM", "os.getppid()"))
    process = start(*FILES, "-p", "xdist", "-n", "1")
    assert process.wait(timeout=120) == pytest.ExitCode.INTERRUPTED
    results = read_results(suite.path / "out/results.json")
    assert "interrupted" in results.narrowed
    check_files(suite.path, len(results.cases), baseline=False)


PAID = """
import os
import signal
import time

def answer(n):
    # (One write, so that the lines of calls at the same time cannot mix.)
    print(f"call {n}\\n", end="", flush=True)
    time.sleep(0.2)
    return {"n": n}
"""
CASES = "producer: app:answer\ncases:\n" + "".join(
    f"- {{id: c{n}, input: {n}, expected: {{n: {n}}}}}\n" for n in range(4)
)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("pause", [0.02, 0.1, "in the handler of the first"])
def test_two_interrupts_never_replace_a_whole_file_by_fewer_answers(pytester, pause, concurrency):
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(app=PAID)
    pytester.path.joinpath("a.golden.yaml").write_text(CASES, "utf-8")
    options = ("--jsonmatch-record=answers.jsonl", "--jsonmatch-save=main")
    pytester.runpytest_subprocess(*options).assert_outcomes(passed=4)
    paths = [pytester.path / name for name in ("answers.jsonl", "jsonmatch-baselines/main.jsonl")]
    whole = [path.read_bytes() for path in paths]

    if isinstance(pause, str):
        kill = (
            "import os, signal\n\ndef pytest_keyboard_interrupt():\n    os.kill(os.getpid(), signal.SIGINT)\n"
        )
        pytester.makeconftest(kill)
    more = (
        "--jsonmatch-json=r.jsonl",
        "--jsonmatch-gate=score > 1",
        f"--jsonmatch-concurrency={concurrency}",
    )
    os.mkfifo("calls")
    process = start("-s", *options, *more, out="calls")
    with Path("calls").open(encoding="utf-8") as calls:
        assert next(line for line in calls if "call 2" in line)
        process.send_signal(signal.SIGINT)
        if not isinstance(pause, str):
            time.sleep(pause)
            process.send_signal(signal.SIGINT)
        output = calls.read()
    process.wait(timeout=120)

    assert [path.read_bytes() for path in paths] == whole
    assert "FAILED   score" not in output
    results = pytester.path / "r.jsonl"
    assert not results.exists() or read_results(results).narrowed == ("interrupted",)


# All producers have returned, and their answers are on disk, before the second test ends the run.
ALL_RETURNED = """
import glob
import os
import signal
import time

import pytest

def pytest_runtest_call(item):
    if item.name == "c1":
        limit = time.monotonic() + 60
        while sum(open(name).read().count("\\n") for name in glob.glob("answers.jsonl*")) < 8:
            assert time.monotonic() < limit, "answers are missing"
        HARM
"""
EIGHT = "producer: app:answer\ncases:\n" + "".join(
    f"- {{id: c{n}, input: {n}, expected: {{n: {n}}}}}\n" for n in range(8)
)
QUICK = """
def answer(n):
    with open("calls.txt", "a") as file:
        file.write(str(n))
    return {"n": n}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize(
    ("harm", "more"),
    [
        ("os.kill(os.getpid(), signal.SIGINT)", ()),
        ("os.kill(os.getpid(), signal.SIGKILL)", ()),
        ("pytest.exit('enough')", ()),
        ("pytest.fail('no')", ("-x",)),
        ("os.kill(os.getpid(), signal.SIGKILL)", ("-p", "xdist", "-n1", "--max-worker-restart=0")),
        ("os.kill(os.getppid(), signal.SIGINT)", ("-p", "xdist", "-n1")),
    ],
)
@pytest.mark.parametrize("option", ["record=answers.jsonl", "replay=answers.jsonl,missing"])
def test_every_answer_that_came_back_is_kept(pytester, harm, more, option):
    if "xdist" in more and "missing" in option:
        return  # (What a worker sends does not depend on the option.)
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(app=QUICK)
    pytester.makeconftest(ALL_RETURNED.replace("HARM", harm))
    pytester.path.joinpath("a.golden.yaml").write_text(EIGHT, "utf-8")
    xdist = ("--dist=loadfile",) if more and more[0] == "-p" else ()
    process = start(f"--jsonmatch-{option}", "--jsonmatch-concurrency=8", *more, *xdist)
    assert process.wait(timeout=120) != 0
    (found,) = pytester.path.glob("answers.jsonl*")
    calls = pytester.path / "calls.txt"
    assert sorted(calls.read_text()) == list("01234567")
    pytester.makeconftest("")
    pytester.runpytest(f"--jsonmatch-replay={found.name},missing").assert_outcomes(passed=8)
    assert len(calls.read_text()) == 8


OWN_FIXTURE = """
@pytest.fixture
def jsonmatch_actual(jsonmatch_actual):
    return {"n": jsonmatch_actual["n"] + 100}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT to send")
def test_an_answer_that_a_fixture_has_not_received_goes_to_the_fixture(pytester):
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(app=QUICK)
    harm = "os.kill(os.getpid(), signal.SIGINT)"
    pytester.makeconftest(ALL_RETURNED.replace("HARM", harm) + OWN_FIXTURE)
    pytester.path.joinpath("a.golden.yaml").write_text(EIGHT.replace("expected: {n: ", "expected: {n: 10"))
    start("--jsonmatch-record=answers.jsonl", "--jsonmatch-concurrency=8").wait(timeout=120)
    (found,) = pytester.path.glob("answers.jsonl*")
    pytester.makeconftest("import pytest\n" + OWN_FIXTURE)
    outcome = pytester.runpytest(f"--jsonmatch-replay={found.name}")
    outcome.assert_outcomes(passed=1, errors=7)  # what the fixture would return is not known
    for concurrency in (1, 8):
        pytester.runpytest(
            f"--jsonmatch-replay={found.name},missing", f"--jsonmatch-concurrency={concurrency}"
        ).assert_outcomes(passed=8)
    assert len((pytester.path / "calls.txt").read_text()) == 8


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_worker_that_is_killed_counts_as_zero(suite):
    killed = "\ndef test_that_is_killed(assert_json_match):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    suite.makepyfile(test_it=SUITE + killed)
    run = suite.runpytest_subprocess(*FILES, "--jsonmatch-gate=score >= 0.5", "-p", "xdist", "-n", "2")
    run.assert_outcomes(passed=2, failed=3)
    check_files(suite.path, 5)
    run.stdout.fnmatch_lines("""\
        gates, on 5 cases
        score >= 0.5 *failed * 0.40 * -0.10 *mean of 5 cases""")
    assert "`test_it.py::test_that_is_killed`" in (suite.path / "out/report.md").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_run_that_is_killed_leaves_old_files_and_the_answers_that_it_had(suite):
    suite.makefile(".golden.yaml", a="id: a\nactual: {n: 1}\nexpected: {n: 1}\n")
    suite.makepyfile(test_it=SUITE + "\ndef test_that_dies():\n    os.kill(os.getpid(), signal.SIGKILL)\n")
    old = {
        "answers.jsonl": '{"case": "old", "text": "old"}\n',
        "results.json": '{"format": "jsonmatch-results"',
    }
    for name, text in old.items():
        (suite.path / name).write_text(text)
    suite.runpytest_subprocess("--jsonmatch-record=answers.jsonl", "--jsonmatch-json=results.json")
    assert {name: (suite.path / name).read_text() for name in old} == old
    (partial,) = suite.path.glob("answers.jsonl.*.partial")
    replayed = suite.runpytest("a.golden.yaml", f"--jsonmatch-replay={partial.name}")
    replayed.assert_outcomes(passed=1)


# -- two at once -------------------------------------------------------------------------------------------


KEYS = {
    "SHOP_API_KEY": "sk-very-private",
    "db_password": "hunter2",
    "A_TOKEN": "ab",
    "SHOP_URL": "shop.example",
}
RAISES = f"""\
import os

class Refused(Exception): ...

def ask(text):
    values = " ".join(map(os.environ.get, {list(KEYS)}))
    raise Refused(values + " refused\\nHeaders: long and private")

def compare(expected, actual, params):
    return ask("")

def pytest_jsonmatch_register(registry):
    registry.comparator("asking", compare)
"""
ASKING = """\
cases:
- {id: asked, producer: "conftest:ask", input: a, expected: {a: 1}}
- {id: compared, actual: {a: 1}, expected: {a: 1}, fields: {a: asking}}
"""


@pytest.mark.parametrize("fail", ["case", "gate"])
def test_no_file_has_more_than_the_first_line_of_an_error_and_none_has_a_secret(
    pytester, workers, monkeypatch, fail
):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    pytester.makeconftest(RAISES)
    pytester.makefile(".golden.yaml", a=ASKING)
    pytester.makepyfile(
        "from conftest import ask\n\ndef test_it(assert_json_match):\n    assert_json_match(ask(''), 1)\n"
    )
    pytester.makeini(f"[pytest]\njsonmatch_fail = {fail}\n")
    pytester.runpytest(*FILES, *workers)
    for name in FILES.values():
        text = (pytester.path / name).read_text(encoding="utf-8")
        assert "Refused: *** *** ab shop.example refused" in text
        assert not any(word in text for word in ("sk-very-private", "hunter2", "Headers"))
    assert len(read_results(pytester.path / "out/results.json").cases) == 3


def test_two_runs_write_the_same_files_at_once(suite, monkeypatch):
    suite.makepyfile(
        test_it="""
        import os
        import pytest
        from pytest_jsonmatch import assert_json_match

        @pytest.mark.parametrize("number", range(200))
        def test_it(number):
            assert_json_match({"n": 1}, {"n": 1}, name=os.environ["RUN"] + str(number))
        """
    )
    processes = []
    for name in ("one", "two"):
        monkeypatch.setenv("RUN", name)
        processes.append(start("-q", *FILES, out=name))
    assert [process.wait(timeout=120) for process in processes] == [0, 0]
    check_files(suite.path, 200)
    for name in ("out/results.json", "jsonmatch-baselines/main.jsonl"):
        ids = [comparison.id for comparison in read_results(suite.path / name).comparisons]
        assert len({identity[:3] for identity in ids}) == 1
    assert [path.name for path in (suite.path / "jsonmatch-baselines").iterdir()] == ["main.jsonl"]
