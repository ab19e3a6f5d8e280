from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import filelock
import pytest
from hypothesis import strategies as st

from pytest_jsonmatch import (
    CachedJudge,
    CallableJudge,
    ConfigurationError,
    JsonMatchWarning,
    JudgeItem,
    JudgeUsage,
    Verdict,
)
from pytest_jsonmatch.semantic import cache
from tests.laws import law

LINE = '{"path": "city", "expected": "New York", "actual": "NYC", "equivalent": true, "model": "m", "prompt": "1"}'
NYC = JudgeItem("1", "city", "New York", "NYC")


class Counting:
    """A judge of texts but for case, which notes what it was asked about."""

    def __init__(self, model="m", prompt="1"):
        self.model = model
        self.prompt = prompt
        self.asked = []
        self._inner = CallableJudge(
            lambda item: Verdict(str(item.expected).lower() == str(item.actual).lower(), "so")
        )

    def judge(self, items):
        self.asked += [item.actual for item in items]
        return self._inner.judge(items)

    @property
    def usage(self):
        return self._inner.usage


@pytest.fixture
def file(tmp_path):
    return tmp_path / "verdicts.jsonl"


def item(actual, name="1", expected="a", path="note", **words):
    return JudgeItem(name, path, expected, actual, **words)


def items(*actuals):
    return [item(actual, str(at)) for at, actual in enumerate(actuals)]


def shown(answers):
    return [answer.equivalent if isinstance(answer, Verdict) else str(answer) for answer in answers.values()]


def test_what_was_judged_is_not_asked_about_again(file):
    asked = Counting()
    CachedJudge(asked, file).judge(items("A", "b"))
    judge = CachedJudge(asked, file)
    assert shown(judge.judge(items("b", "c", "A"))) == [False, False, True]
    assert asked.asked == ["A", "b", "c"]
    assert judge.usage == JudgeUsage(calls=3, items=3, cached=2)


def test_the_file(file):
    judge = CachedJudge(Counting(), file)
    judge.judge([item("b", description="A note"), JudgeItem("2", "city", ["é", 1], {"z": 1, "a": "\u200b"})])
    judge.judge([item("A", criterion="like this")])
    assert file.read_text(encoding="utf-8") == (
        r'{"path": "city", "expected": ["é", 1], "actual": {"a": "\u200b", "z": 1}, "equivalent": false, '
        '"reason": "so", "model": "m", "prompt": "1"}\n'
        '{"path": "note", "expected": "a", "actual": "A", "equivalent": true, "reason": "so", "model": "m", '
        '"prompt": "1", "criterion": "like this"}\n'
        '{"path": "note", "expected": "a", "actual": "b", "equivalent": false, "reason": "so", "model": "m", '
        '"prompt": "1", "description": "A note"}\n'
    )


@pytest.mark.parametrize(
    ("other", "model", "prompt"),
    [
        (NYC, "m2", "1"),
        (NYC, "m", "2"),
        (JudgeItem("1", "town", "New York", "NYC"), "m", "1"),
        (JudgeItem("1", "city", "New York", "nyc"), "m", "1"),
        (JudgeItem("1", "city", "NYC", "New York"), "m", "1"),
        (JudgeItem("1", "city", "New York", "NYC", "where"), "m", "1"),
        (JudgeItem("1", "city", "New York", "NYC", None, "where"), "m", "1"),
        (JudgeItem("1", "city", "New York", ["NYC"]), "m", "1"),
    ],
)
def test_another_question_is_another_question(file, other, model, prompt):
    file.write_text(LINE, encoding="utf-8")
    asked = Counting(model, prompt)
    CachedJudge(asked, file).judge([other])
    assert asked.asked == [other.actual]


def test_errors_are_not_kept(file):
    judge = CachedJudge(CallableJudge(lambda one: 0.5), file)
    judge.judge(items("A", "A", "b"))
    assert (file.exists(), judge.usage.errors) == (False, 3)


def test_cached_asks_nobody(file):
    file.write_text(LINE, encoding="utf-8")
    asked = Counting()
    judge = CachedJudge(asked, file, mode="cached")
    assert shown(judge.judge([NYC, item("b", "2")])) == [
        True,
        (
            f"cache miss: no verdict of 'm' on this pair in {file}; the mode 'live' asks for it "
            "(in pytest --jsonmatch-judge-mode=live)"
        ),
    ]
    assert (asked.asked, judge.usage) == ([], JudgeUsage(cached=1, errors=1))
    assert file.read_text(encoding="utf-8") == LINE


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (LINE[:-20], "not valid JSON (line 1, column "),
        ("[1]", "not a JSON object; "),
        ("<<<<<<< HEAD", "a merge has left a conflict marker here; "),
        (LINE.replace("true", "1"), "'equivalent' must be true or false, got 1; "),
        (LINE.replace('"m"', "7"), "'model' is not text; "),
        (LINE.replace('"path": "city", ', ""), "the verdict has no 'path'; "),
        (LINE.replace("true", "false"), "a line above has another verdict on the same pair; delete one"),
        (LINE.replace('"m"', '"m", "model": "m"'), "not valid JSON (line 1, column "),
        ("\x00\xff", "not valid JSON"),
    ],
)
@pytest.mark.parametrize("mode", ["live", "cached"])
def test_a_line_that_is_no_verdict_is_named(file, line, message, mode):
    file.write_bytes(f"{LINE}\n\n{line}\n".encode("latin-1"))
    asked = Counting()
    with pytest.raises(ConfigurationError) as caught:
        CachedJudge(asked, file, mode=mode).judge([item("b")])
    start = f"{file}:3: {message}"
    assert (str(caught.value)[: len(start)], asked.asked) == (start, [])


def test_a_line_that_was_mended_is_read(file):
    file.write_text("no\n", encoding="utf-8")
    judge = CachedJudge(Counting(), file, mode="cached")
    with pytest.raises(ConfigurationError):
        judge.judge([NYC])
    file.write_text(LINE, encoding="utf-8")
    assert shown(judge.judge([NYC])) == [True]


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_lines_are_added_to_what_is_there(file, end):
    file.write_bytes(f"{LINE}{end}".encode())
    judge = CachedJudge(Counting(), file)
    judge.judge([item("b")])
    assert shown(CachedJudge(Counting(), file, mode="cached").judge([NYC, item("b", "2")])) == [True, False]
    assert [json.loads(line)["path"] for line in file.read_bytes().split(b"\n")[:-1]] == ["city", "note"]


def test_the_first_of_two_who_ask_at_once_is_right(file):
    """Both miss; the other one's verdict is in the file before ours."""

    def asks_late(one):
        CachedJudge(CallableJudge(lambda _: True), file, model="m").judge([NYC])
        return False

    assert shown(CachedJudge(CallableJudge(asks_late), file, model="m").judge([NYC])) == [True]
    assert len(file.read_text(encoding="utf-8").splitlines()) == 1


FILL = """
import sys, warnings
from pytest_jsonmatch import CachedJudge, CallableJudge, JudgeItem
warnings.simplefilter("error")
judge = CachedJudge(CallableJudge(lambda item: True), sys.argv[1])
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 40):
    # (Lines that no pipe or page takes at once.)
    judge.judge([JudgeItem("1", "city", "New York", f"{number} " + "x" * 5_000)])
"""


def test_several_processes_fill_one_file_and_none_reads_half_a_line(file):
    starts = range(0, 60, 20)
    processes = [subprocess.Popen([sys.executable, "-c", FILL, file, str(start)]) for start in starts]
    reader = CachedJudge(None, file)
    reads = []
    while any(process.poll() is None for process in processes):
        if file.exists():
            reader.judge([NYC])  # raises for any line that is no verdict
            content = file.read_text(encoding="utf-8")
            lines = content.splitlines()
            reads.append((content[-1:] or "\n", lines == sorted(lines), len(lines)))
            assert all(json.loads(line) for line in lines[:1] + lines[-1:])
    assert [process.returncode for process in processes] == [0] * 3
    lines = file.read_text(encoding="utf-8").splitlines()
    found = sorted(int(json.loads(line)["actual"].split()[0]) for line in lines)
    assert (found, lines) == (list(range(80)), sorted(lines))
    assert {(end, in_order) for end, in_order, _ in reads} == {("\n", True)}
    # What was there once stays there.
    assert [count for *_, count in reads] == sorted(count for *_, count in reads)


def test_readers_and_writers_take_turns(file, monkeypatch):
    """Windows replaces no file that somebody reads."""
    turns = []

    class Lock(filelock.FileLock):
        def __enter__(self):
            turns.append("reads" if file.exists() else "begins")
            return super().__enter__()

    monkeypatch.setattr(filelock, "FileLock", Lock)
    CachedJudge(Counting(), file).judge([NYC])
    CachedJudge(None, file).judge([NYC])
    assert turns == ["begins", "begins", "reads"]


def test_the_next_run_removes_what_a_killed_one_has_left(file):
    file.write_text(f"{LINE}\n", encoding="utf-8")
    left, now = (file.with_name(f".verdicts.jsonl.{name}.tmp") for name in ("0f0f0f0f", "1f1f1f1f"))
    for path in (left, now):
        path.write_text("half a li", encoding="utf-8")
    os.utime(left, (1, 1))
    CachedJudge(None, file).judge([NYC])
    assert sorted(file.parent.iterdir()) == [now, file]  # another run may be writing the new one


def test_without_the_extra_nothing_can_be_kept_but_all_can_be_read(file, monkeypatch):
    file.write_text(LINE, encoding="utf-8")
    monkeypatch.setitem(sys.modules, "filelock", None)
    asked = Counting()
    judge = CachedJudge(asked, file)
    assert shown(judge.judge([NYC])) == [True]
    with pytest.raises(ConfigurationError) as caught:
        judge.judge([item("b")])
    assert (str(caught.value), asked.asked) == (
        "keeping verdicts needs the extra 'judge': pip install 'pytest-jsonmatch[judge]'",
        [],
    )


def test_the_file_stays_where_it_was_when_the_folder_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    judge = CachedJudge(Counting(), "verdicts.jsonl")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    judge.judge([NYC])
    assert [path.name for path in tmp_path.rglob("*.jsonl")] == ["verdicts.jsonl"]
    assert (tmp_path / "verdicts.jsonl").exists()


@pytest.mark.parametrize("place", ["folder", "below a file"])
def test_a_file_that_cannot_be_is_reported_before_anybody_is_asked(tmp_path, place):
    path = tmp_path
    if place == "below a file":
        tmp_path.joinpath("file").write_text("")
        path = tmp_path / "file" / "verdicts.jsonl"
    asked = Counting()
    with pytest.raises(ConfigurationError, match="the cache of verdicts can't be read: "):
        CachedJudge(asked, path).judge([NYC])
    assert asked.asked == []


def test_verdicts_that_could_not_be_kept_stand(file, monkeypatch):
    def full(path, data, **options):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(cache, "write_file", full)
    with pytest.warns(JsonMatchWarning, match="verdicts of 'm' were not kept: .*No space left on device"):
        answers = CachedJudge(Counting(), file).judge(items("A", "b"))
    assert shown(answers) == [True, False]


def test_values_that_are_no_json_are_not_kept_and_not_asked_about(file):
    asked = Counting()
    judge = CachedJudge(asked, file)
    answers = judge.judge([item(float("nan")), item("A", "2")])
    assert shown(answers) == ["invalid: a value contains NaN or an infinity, which is not JSON", True]
    assert (asked.asked, judge.usage) == (["A"], JudgeUsage(calls=1, items=1, errors=1))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@law(
    VALUES,
    VALUES,
    st.text(),
    st.none() | st.text(),
    st.none() | st.text(),
    st.booleans(),
    st.none() | st.text(),
)
def test_a_line_is_read_as_it_was_written(expected, actual, path, description, criterion, equivalent, reason):
    question = JudgeItem("1", path, expected, actual, description, criterion)
    verdict = Verdict(equivalent, reason)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "verdicts.jsonl")
        assert CachedJudge(CallableJudge(lambda _: verdict), file).judge([question]) == {"1": verdict}
        written = file.read_bytes()
        assert (written.count(b"\n"), written[-1:]) == (1, b"\n")
        assert CachedJudge(None, file).judge([question]) == {"1": verdict}


# Recordings.


def test_a_recording_is_replayed(file):
    file.write_text(LINE, encoding="utf-8")
    judge = CachedJudge(None, file)
    assert shown(judge.judge([NYC, item("b", "2")])) == [
        True,
        f"cache miss: no verdict on this pair in {file}",
    ]
    assert judge.usage == JudgeUsage(cached=1, errors=1)


def test_a_recording_of_two_models(file):
    other = LINE.replace("true", "false").replace('"m"', '"n"')
    file.write_text(f"{LINE}\n{other}\n", encoding="utf-8")
    assert shown(CachedJudge(None, file).judge([NYC])) == [
        "invalid: recorded verdicts differ (m 1, n 1): name one model, or one prompt"
    ]
    assert shown(CachedJudge(None, file, model="n").judge([NYC])) == [False]
    assert shown(CachedJudge(None, file, prompt="2").judge([NYC])) == [
        f"cache miss: no verdict on this pair in {file}"
    ]


def test_a_recording_that_is_not_there(file):
    with pytest.raises(ConfigurationError) as caught:
        CachedJudge(None, file).judge([NYC])
    assert str(caught.value) == f"the cache of verdicts {file} does not exist"


def test_a_judge_that_forgets_an_item(file):
    class Forgets:
        usage = JudgeUsage()

        def judge(self, items):
            return {}

    assert shown(CachedJudge(Forgets(), file).judge([NYC])) == ["missing: the judge gave no answer"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names there")
def test_a_pipe_has_no_verdicts(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    judge = CachedJudge(None, tmp_path / "pipe.jsonl")
    with pytest.raises(ConfigurationError, match="it is a pipe or a device, not a file"):
        judge.judge([])
