"""What becomes of requests: which file gets which content, and what is refused."""

from __future__ import annotations

import json
import sys

import pytest

from pytest_jsonmatch import MISSING
from pytest_jsonmatch.golden.review import review, update_lines
from pytest_jsonmatch.golden.update import Request, digest_of, plan_updates, write
from pytest_jsonmatch.reading import yamlevents
from pytest_jsonmatch.reading.strict import parse_json
from pytest_jsonmatch.report.styled import line_text
from pytest_jsonmatch.report.terminal_style import TerminalStyle


def message(*updates):
    return [line_text(line) for line in update_lines(updates, TerminalStyle(), dry_run=False)]


@pytest.fixture
def ask(tmp_path):
    """Make a request about a file that holds some bytes, or does not exist."""

    def make(data, value="2", *, case="one", name="a.yaml", trail=("expected",), digest=None):
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data)
        if digest is None:
            digest = "" if data is None else digest_of(data)
        return Request("write", str(path), name, f"{name}::{case}", trail, digest, value)

    return make


def test_cases_of_one_file_are_written_at_once(ask, tmp_path):
    data = b"cases:\n- {id: one, expected: 1}\n- {id: two, expected: 1}\n"
    (update,) = plan_updates(
        [
            ask(data, case="one", trail=("cases", 0, "expected")),
            ask(data, case="two", trail=("cases", 1, "expected")),
        ]
    )
    assert list(update.updated) == ["a.yaml::one", "a.yaml::two"]
    assert update.after == data.replace(b"expected: 1", b"expected: 2")
    assert (tmp_path / "a.yaml").read_bytes() == data
    write(update)
    assert (tmp_path / "a.yaml").read_bytes() == update.after


@pytest.mark.parametrize("cases", [3, 30])
def test_a_file_is_not_read_again_for_each_case(ask, cases, monkeypatch):
    loads = []
    load = yamlevents.load
    monkeypatch.setattr(yamlevents, "load", lambda *given, **more: loads.append(1) or load(*given, **more))
    data = b"cases:\n" + b"".join(b"- {id: c%d, expected: 1}\n" % at for at in range(cases))
    (update,) = plan_updates(ask(data, case=f"c{at}", trail=("cases", at, "expected")) for at in range(cases))
    assert (len(update.updated), len(loads) <= 3) == (cases, True)


def test_files_come_in_the_order_of_their_names(ask):
    data = b"expected: 1\n"
    updates = plan_updates([ask(data, name="b.yaml"), ask(data, name="a.yaml")])
    assert message(*updates) == [
        "updated 1 case in a.yaml",
        "  a.yaml::one",
        "    the whole value  1 → 2",
        "updated 1 case in b.yaml",
        "  b.yaml::one",
        "    the whole value  1 → 2",
    ]


def test_workers_that_read_different_contents_are_refused(ask):
    (update,) = plan_updates([ask(b"expected: 1\n", digest="x"), ask(b"expected: 1\n")])
    assert update.refused == {"a.yaml::one": "the file has changed since it was read; run again"}
    assert not update.is_changed


def test_a_file_that_came_meanwhile_is_refused(ask):
    (update,) = plan_updates([ask(b"1\n", name="a.json", trail=(), digest="")])
    assert list(update.refused.values()) == ["the file has changed since it was read; run again"]


def test_a_file_that_can_not_be_read_is_refused(ask, tmp_path):
    request = ask(None, digest="x")
    (tmp_path / "a.yaml").mkdir()
    (update,) = plan_updates([request])
    (reason,) = update.refused.values()
    assert reason.startswith("the file can't be read: ")


def test_a_file_that_is_not_valid_is_refused(ask):
    (update,) = plan_updates([ask(b"expected: [\n")])
    (reason,) = update.refused.values()
    assert reason.startswith("a.yaml:2:1: not YAML: ")


def test_a_change_that_can_not_be_made_is_refused_alone(ask):
    data = b"cases:\n- {expected: &x 1}\n- {expected: 1}\nsame: *x\n"
    (update,) = plan_updates(
        [
            ask(data, case="one", trail=("cases", 0, "expected")),
            ask(data, case="two", trail=("cases", 1, "expected")),
        ]
    )
    assert list(update.updated) == ["a.yaml::two"]
    assert list(update.refused) == ["a.yaml::one"]
    assert update.after == data.replace(b"{expected: 1}", b"{expected: 2}")


@pytest.mark.parametrize(
    ("name", "value", "content"),
    [
        ("a.json", '{"a": []}', b'{\n  "a": []\n}\n'),
        ("a.yaml", '{"a": [1]}', b"a:\n  - 1\n"),
        ("a.yaml", '"NO"', b"NO\n"),
        ("a.yml", "[]", b"[]\n"),
        ("a.json", "1e400", b"1E+400\n"),
    ],
)
def test_a_new_file(ask, tmp_path, name, value, content):
    (update,) = plan_updates([ask(None, value, name=name, trail=())])
    write(update)
    assert (tmp_path / name).read_bytes() == content
    found = parse_json(value)
    # An object is told key by key, so that a misspelt one is seen.
    message = [(("a",), MISSING, found["a"])] if type(found) is dict else [((), MISSING, found)]
    assert update.updated == {f"{name}::one": message}


def test_a_file_that_changes_between_planning_and_writing_stays(ask, tmp_path):
    (update,) = plan_updates([ask(b"expected: 1\n")])
    (tmp_path / "a.yaml").write_bytes(b"expected: 3\n")
    write(update)
    assert (tmp_path / "a.yaml").read_bytes() == b"expected: 3\n"
    assert message(update) == ["not updated: a.yaml::one: the file has changed since it was read; run again"]


@pytest.mark.skipif(sys.platform == "win32", reason="root or not, POSIX")
def test_a_read_only_file_is_refused(ask, tmp_path, monkeypatch):
    (update,) = plan_updates([ask(b"expected: 1\n")])
    monkeypatch.setattr("os.access", lambda path, mode: False)
    write(update)
    assert (tmp_path / "a.yaml").read_bytes() == b"expected: 1\n"
    assert update.refused == {"a.yaml::one": "the file is read-only"}


def test_what_is_already_there_is_no_change(ask):
    (update,) = plan_updates([ask(b"expected: 2\n")])
    assert not update.is_changed
    assert update.updated == {"a.yaml::one": []}


def test_long_values_and_many_changes_are_cut(ask):
    names = [f"k{number:02}" for number in range(30)]
    before = f"expected: {json.dumps(dict.fromkeys(names, 0))}\n".encode()
    (update,) = plan_updates([ask(before, json.dumps(dict.fromkeys(names, "word " * 40)))])
    lines = message(update)
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "    … 10 more changes (-v)"


def test_only_what_is_accepted_is_asked_for(tmp_path):
    path = tmp_path / "e.json"
    path.write_text('{"a": 1, "b": [1, 2]}')
    request = Request(
        "write", str(path), "e.json", "x::a", (), digest_of(path.read_bytes()), '{"a": 2, "b": [2], "c": 3}'
    )
    keep = Request("keep", str(path), "e.json", "x::b")
    shown = []
    answers = iter(["r\n", "k\n", "r\n"])
    result = review([request, keep], show=shown.append, ask=lambda question: next(answers))
    assert [(each.action, each.value) for each in result] == [
        ("write", '{"a": 2, "b": [1, 2], "c": 3}'),
        ("keep", "null"),
    ]


def test_alternatives_of_a_file_with_matchers_are_part_of_the_value(tmp_path):
    path = tmp_path / "e.json"
    path.write_text('{"a": "x", "b": {"$any": true}, "c": 1}')
    new = '{"a": "y", "b": {"$any": true}}'
    request = Request(
        "write", str(path), "e.json", "x::a", (), digest_of(path.read_bytes()), new, has_matchers=True
    )
    shown = []
    answers = iter(["a\n", "a\n", "r\n"])
    (answered,) = review([request], show=shown.append, ask=lambda question: next(answers))
    assert answered.value == '{"a": {"$one_of": ["x", "y"]}, "b": {"$any": true}}'
    assert "  `$one_of` can't make it optional: replace it, or keep it" in shown


def test_a_file_that_is_gone_is_left_to_the_writer(tmp_path):
    request = Request("write", str(tmp_path / "none.yaml"), "none.yaml", "x::a", ("expected",), "1")
    assert review([request], show=print, ask=print) == [request]
