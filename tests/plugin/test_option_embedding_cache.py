"""The ini option `jsonmatch_embedding_cache`."""

from __future__ import annotations

import pytest

ENCODER = """
class Lengths:
    revision = "1"

    def encode(self, texts):
        with open("calls.txt", "a") as file:
            file.write("".join(f"{text}\\n" for text in texts))
        return [[float(len(text)), 1.0] for text in texts]

def pytest_jsonmatch_register(registry):
    registry.encoder("lengths", Lengths())
"""
TEST = """
from pytest_jsonmatch import assert_json_match

RULES = {"x": {"compare": {"cosine": {"embedding_model": "lengths"}}}}

def test_one():
    assert_json_match({"x": "a"}, {"x": "bb"}, fields=RULES, threshold=0.5)

def test_two():
    assert_json_match({"x": "cccc"}, {"x": "ddd"}, fields=RULES, threshold=0.5)
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    monkeypatch.delenv("JSONMATCH_EMBEDDING_CACHE", raising=False)
    pytester.makeconftest(ENCODER)
    pytester.makepyfile(TEST)
    return pytester


def calls(pytester):
    return sorted((pytester.path / "calls.txt").read_text(encoding="utf-8").split())


def test_a_second_run_encodes_nothing(suite, workers):
    suite.makeini("[pytest]\njsonmatch_embedding_cache = kept/vectors\n")
    for _ in range(2):
        suite.runpytest(*workers).assert_outcomes(passed=2)
    assert calls(suite) == ["a", "bb", "cccc", "ddd"]
    assert [path.suffix for path in (suite.path / "kept" / "vectors").iterdir()] == [".sqlite"]


def test_without_it_every_run_does(suite):
    for _ in range(2):
        suite.runpytest().assert_outcomes(passed=2)
    assert len(calls(suite)) == 8


def test_it_is_relative_to_the_rootdir_and_the_environment_goes_before_it(suite, monkeypatch):
    suite.makeini("[pytest]\njsonmatch_embedding_cache = vectors\n")
    below = suite.mkdir("below")
    (below / "test_below.py").write_text(TEST, encoding="utf-8")
    suite.runpytest("below").assert_outcomes(passed=2)
    assert (suite.path / "vectors").is_dir()
    monkeypatch.setenv("JSONMATCH_EMBEDDING_CACHE", str(suite.path / "other"))
    suite.runpytest("below").assert_outcomes(passed=2)
    assert ((suite.path / "other").is_dir(), len(calls(suite))) == (True, 8)


def test_it_ends_with_the_session(suite):
    from pytest_jsonmatch.semantic.vectorcache import cache_folder

    suite.makeini("[pytest]\njsonmatch_embedding_cache = vectors\n")
    suite.runpytest().assert_outcomes(passed=2)
    assert cache_folder() is None
