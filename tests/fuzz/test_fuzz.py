"""What checks the laws: that it finds broken ones, and shows them again."""

from __future__ import annotations

import re
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import strategies as st

from tests.fuzz import run
from tests.fuzz.suite import check_suite
from tests.laws import LAWS, SEED, law

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture
def small():
    """Enter a law that breaks, and one that does not for each of two texts; there are no others."""
    with mock.patch.dict(LAWS, clear=True):
        yield enter()


def enter():
    @law(st.integers(0, 10**6), examples=500)
    def test_small(number):
        assert number < 1_000

    @law(st.text(), each=["a", "b"])
    def test_longer(end, text):
        assert len(text + end) > len(text)

    return test_small


def test_a_broken_law_is_shown_with_the_smallest_input_and_how_to_see_it_again(small, capsys):
    assert run.main(["--minutes", "0", "--seed", "7"]) == 1
    shown = capsys.readouterr().out
    assert "python tests/fuzz/run.py --minutes 0 --law 'small' --seed 7\n" in shown
    assert "number=1000," in shown
    assert "seeds 7 to 7: 3 laws, " in shown
    assert re.findall(r"^(\S+) +[1-9]\d*(  BROKEN)?$", shown, re.MULTILINE) == [
        ("small", "  BROKEN"), ("longer[a]", ""), ("longer[b]", ""),
    ]  # fmt: skip
    with pytest.raises(AssertionError):
        small()
    assert f"--law 'small' --seed {SEED}\n" in capsys.readouterr().out


def test_some_laws_alone(small, capsys):
    assert run.main(["--minutes", "0", "--law", "longer", "--law", "longer[a]"]) == 0
    assert "seeds 1 to 1: 2 laws, " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run.main(["--law", "none"])
    assert "no law has this name; there are small, longer" in capsys.readouterr().err


def test_a_law_can_be_tried_on_bytes(small):
    LAWS["longer[a]"].try_bytes(bytes(range(256)))
    assert LAWS["longer[a]"].tried == 1
    with pytest.raises(AssertionError):
        for number in range(256):
            LAWS["small"].try_bytes(bytes([number]) * 99)


def test_two_laws_have_two_names(small):
    enter()  # as if their file was imported once more
    with pytest.raises(ValueError, match=r"^two laws are called small"):

        @law(st.none())
        def test_small(value):
            assert value is None


def test_every_property_is_a_law():
    outside = [path for path in TESTS.glob("*/test_*.py") if "\n@given" in path.read_text(encoding="utf-8")]
    assert outside == []


def test_files_of_json_test_suite_are_taken_and_refused_by_their_names(tmp_path):
    folder = tmp_path / "test_parsing"
    folder.mkdir()
    for name, text in {
        "y_array": "[1, 2.5]",
        "y_twice": '{"a": 1, "a": 2}',
        "n_comma": "[1,]",
        "n_text": "[\xff]",
        "i_huge": "1e9999",
        "i_half": '"\\ud800"',
    }.items():
        (folder / f"{name}.json").write_text(text, encoding="latin-1")
    assert check_suite(tmp_path) == ({"y": 2, "n": 2, "i": 2}, [])
    (folder / "n_right.json").write_text("[1]")
    (folder / "y_wrong.json").write_text("[1")
    _, wrong = check_suite(tmp_path)
    assert [line.partition(":")[0] for line in wrong] == ["n_right.json", "y_wrong.json"]
