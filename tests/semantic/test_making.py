from __future__ import annotations

import sys
from inspect import signature

import pytest

from pytest_jsonmatch import CachedJudge, ConfigurationError, JudgeItem, JudgeUsage, OpenAIJudge, Verdict
from pytest_jsonmatch.semantic.openaijudge import make_judge
from pytest_jsonmatch.semantic.settings import read_settings

NYC = JudgeItem("1", "city", "New York", "NYC")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"model": ""}, "model must be text, got ''"),
        (
            {"api_key_env": "sk-proj-0123"},
            (
                "api_key_env must be the name of an environment variable that contains the key, such as "
                "GROQ_API_KEY; the key itself is never a setting"
            ),
        ),
        (
            {"base_url": "localhost:11434/v1"},
            "base_url must begin with http:// or https://, got 'localhost:11434/v1'",
        ),
        ({"structured": "auto"}, "structured must be true or false, got 'auto'"),
        ({"temperature": -1}, "temperature must be a number, 0 or more, or none, got -1"),
        ({"batch_size": 0}, "batch_size must be an integer, 1 or more, got 0"),
        ({"concurrency": 2.5}, "concurrency must be an integer, 1 or more, got 2.5"),
        ({"timeout": 0}, "timeout must be a number above 0, got 0"),
        ({"timeout": float("inf")}, "timeout must be a number above 0, got inf"),
    ],
)
def test_arguments_that_are_wrong(given, message):
    with pytest.raises(ConfigurationError) as caught:
        OpenAIJudge(**{"model": "m", **given})
    assert str(caught.value) == message


def test_settings_of_texts():
    assert read_settings(
        {
            "model": " gpt ",
            "max_calls": "10",
            "timeout": "2.5",
            "temperature": "none",
            "cache": "verdicts.jsonl",
            "base_url": "",
            "concurrency": None,
            "structured": "False",
        }
    ) == {
        "model": "gpt",
        "max_calls": 10,
        "timeout": 2.5,
        "temperature": None,
        "structured": False,
        "cache": "verdicts.jsonl",
    }


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("timeout", "soon", "timeout must be a number above 0, got 'soon'"),
        ("mode", "offline", "mode must be 'live' or 'cached', got 'offline'"),
        ("cache", 3, "cache must be a file's path, got 3"),
        ("retries", "-1", "retries must be an integer, 0 or more, got '-1'"),
        ("modell", "x", "a judge has no setting 'modell'; did you mean 'model'?"),
    ],
)
def test_settings_that_are_wrong(name, text, message):
    with pytest.raises(ConfigurationError) as caught:
        read_settings({name: text})
    assert str(caught.value) == message


def test_every_argument_but_the_key_and_the_client_is_a_setting():
    arguments = signature(OpenAIJudge).parameters.keys() - {"client"}
    assert read_settings(dict.fromkeys([*arguments, "mode", "cache"])) == {}


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"model": "m"}, "OpenAIJudge('m')"),
        ({"model": "m", "cache": "v"}, "CachedJudge(OpenAIJudge('m'), mode='live')"),
        ({"model": "m", "cache": "v", "mode": "cached"}, "CachedJudge(OpenAIJudge('m'), mode='cached')"),
        ({"cache": "v", "mode": "cached"}, "CachedJudge(None, 'v')"),
    ],
)
def test_the_judge_of_settings(given, shown):
    judge = make_judge(given)
    assert (repr(judge), type(judge) in {OpenAIJudge, CachedJudge}) == (shown, True)


def test_no_judge_of_settings():
    with pytest.raises(
        ConfigurationError, match=r"the judge needs a model: name one, such as 'gpt-4\.1-mini'"
    ):
        make_judge({})
    with pytest.raises(
        ConfigurationError, match="the mode 'cached' needs a cache: name the file of verdicts"
    ):
        make_judge({"mode": "cached", "model": "m"})


def test_live_then_cached(endpoint, tmp_path, monkeypatch):
    """A live run fills the cache; then neither the endpoint nor a key nor the client is needed."""
    endpoint.judge = lambda pair: True
    cache = tmp_path / "verdicts.jsonl"
    live = make_judge({"model": "m", "base_url": endpoint.url, "cache": cache})
    assert live.judge([NYC]) == {"1": Verdict(True, "as it is")}
    live._judge._get_client().close()
    monkeypatch.setitem(sys.modules, "openai", None)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    cached = make_judge({"model": "m", "cache": cache, "mode": "cached"})
    changed = JudgeItem("2", "city", "New York", "Newark")
    answers = cached.judge([NYC, changed])
    assert [answers["1"], answers["2"].kind] == [Verdict(True, "as it is"), "cache miss"]
    assert (cached.usage, len(endpoint.requests)) == (JudgeUsage(cached=1, errors=1), 1)
