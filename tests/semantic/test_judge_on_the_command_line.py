"""`jsonmatch compare` with a model behind an endpoint, and with what it has said."""

from __future__ import annotations

import json

from tests.conftest import main

RULES = {"fields": {"city": {"compare": {"semantic": {"criterion": "the same place"}}}}}


def test_compare_asks_the_endpoint_once(endpoint, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, value in (("rules", RULES), ("a", {"city": "PARIS"}), ("b", {"city": "Paris"})):
        (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    line = "compare a.json b.json --config rules.json --judge cache=verdicts.jsonl --judge model=loopback"
    live = main([*line.split(), "--judge", f"base_url={endpoint.url}"])
    message = capsys.readouterr().err
    cached = main([*line.split(), "--judge", "mode=cached"])
    again = capsys.readouterr().err
    (request,) = endpoint.requests
    assert [live, cached, message, again, request.pairs[0]["criterion"]] == [
        0,
        0,
        "judge: 1 call, 1 item, 110 tokens\n",
        "judge: 0 calls, 1 from cache\n",
        "the same place",
    ]
