"""BFCL, simple Python functions: is each of 400 calls right? The verdicts of 31 models, reached by `accept`.

    python benchmarks/published/bfcl.py GORILLA RESULTS

GORILLA: a checkout of github.com/ShishirPatil/gorilla (Apache 2.0): today's possible answers and checker.
RESULTS: one of github.com/HuanzhiMao/BFCL-Result: calls and verdicts of 2024-08-11; only calls as JSON count.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from pytest_jsonmatch import compare_json, register_metric, register_transform

DATA = "berkeley-function-call-leaderboard/bfcl_eval/data"
DAY = "2024-08-11"
# 5.0 is no integer. As a float 5 is right, but not in an array.
STRICT = {"compare": {"exact": {"strict_number_type": True}}}


def spelt(value: Any) -> Any:
    """As the leaderboard: spaces, some punctuation and case say nothing."""
    return re.sub(r"[ ,./*^_-]", "", value).lower().replace("'", '"') if isinstance(value, str) else value


register_transform("bfcl_text", spelt)
register_metric("bfcl", {"base": "leaf_f1", "transform": ["bfcl_text"]})


def expected_of(possible: list[Any], path: str, accept: dict[str, Any]) -> Any:
    """Return the first possible answer, and note what else is accepted; "" says also: may be left out."""
    rule: dict[str, Any] = {"optional": True} if "" in possible else {}
    first, *others = sorted(possible, key=lambda value: value == "")
    if isinstance(first, dict):
        # Of an object, each member has possible answers of its own.
        first = {name: expected_of(each, f"{path}.{name}", accept) for name, each in first.items()}
    elif isinstance(first, list) and first and isinstance(first[0], dict):
        first = [
            {name: expected_of(each, f"{path}[{at}].{name}", accept) for name, each in item.items()}
            for at, item in enumerate(first)
        ]
    elif others:
        rule["values"] = others
    if rule:
        accept[path] = rule
    return first


def options_of(call: dict[str, Any], function: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the expected call, and the options with which an answer is compared to it."""
    ((name, possible),) = call.items()
    described = function["parameters"]
    accept: dict[str, Any] = {}
    expected = {key: expected_of(values, f"arguments.{key}", accept) for key, values in possible.items()}
    for key in described["required"]:
        accept.get(f"arguments.{key}", {}).pop("optional", None)
    fields = {}
    for key, about in described["properties"].items():
        if key in possible and about["type"] == "integer":
            fields[f"arguments.{key}"] = STRICT
        elif key in possible and about.get("items", {}).get("type") in {"integer", "float"}:
            fields[f"arguments.{key}[]"] = STRICT
    accept = {path: rule for path, rule in accept.items() if rule}
    return {"name": name.replace(".", "_"), "arguments": expected}, {"fields": fields, "accept": accept}


def calls_of(answer: Any) -> list[dict[str, Any]] | None:
    """Return the calls of an answer; None if it is none."""
    try:
        return [
            {
                "name": name.replace(".", "_"),
                "arguments": json.loads(given) if isinstance(given, str) else given,
            }
            for call in answer
            for name, given in call.items()
        ]
    except (AttributeError, TypeError, ValueError):
        return None


def checker(gorilla: Path) -> ModuleType:
    """Import the leaderboard's own checker, without the clients of all providers that its settings import."""
    sys.path.insert(0, str(gorilla / "berkeley-function-call-leaderboard"))
    asks = {"MODEL_CONFIG_MAPPING": {"any": SimpleNamespace(underscore_to_dot=True)}}
    sys.modules["bfcl_eval.constants.model_config"] = SimpleNamespace(**asks)  # type: ignore[assignment]
    return importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("gorilla", type=Path)
    parser.add_argument("results", type=Path)
    args = parser.parse_args()
    possible, questions = (
        [json.loads(line) for line in (args.gorilla / DATA / place).read_text(encoding="utf-8").splitlines()]
        for place in ("possible_answer/BFCL_v4_simple_python.json", "BFCL_v4_simple_python.json")
    )
    both = list(zip(possible, questions, strict=True))
    asked = [options_of(p["ground_truth"][0], q["function"][0]) for p, q in both]
    models: dict[str, list[Any]] = {}
    for file in sorted((args.results / DAY / "result").glob("*/*_test_simple_result.json")):
        lines = file.read_text(encoding="utf-8").splitlines()
        read = [calls_of(json.loads(line)["result"]) for line in lines]
        if sum(call is not None for call in read) > len(read) / 2:
            models[file.parent.name] = [call or [] for call in read]
    ours: dict[str, list[bool]] = {model: [] for model in models}
    theirs: dict[str, list[bool]] = {model: [] for model in models}
    started = time.process_time()
    for at, (expected, options) in enumerate(asked):
        for model, calls in models.items():
            scores = [compare_json(call, expected, metric="bfcl", **options).score for call in calls[at]]
            ours[model].append(scores == [1.0])
    spent = time.process_time() - started
    own = checker(args.gorilla)
    started = time.process_time()
    for at, (p, q) in enumerate(both):
        for model, calls in models.items():
            given = [{each["name"]: each["arguments"]} for each in calls[at]]
            named = own.Language.PYTHON, "simple", "any"
            verdict = own.ast_checker(q["function"], given, p["ground_truth"], *named)
            theirs[model].append(verdict["valid"])
    own_spent = time.process_time() - started
    print("| model | published | its checker today | ours | verdicts that differ |\n|---|---|---|---|---|")
    apart = {}
    for model in models:
        verdicts = args.results / DAY / "score" / model / "simple_score.json"
        published = json.loads(verdicts.read_text(encoding="utf-8").splitlines()[0])["accuracy"]
        apart[model] = [at for at in range(len(asked)) if ours[model][at] != theirs[model][at]]
        row = [sum(right[model]) / len(asked) for right in (theirs, ours)]
        print(f"| {model} | {published:.4f} | {row[0]:.4f} | {row[1]:.4f} | {len(apart[model])} |")
    total = len(models) * len(asked)
    print(f"\n{total - sum(map(len, apart.values())):,} of {total:,} verdicts agree")
    for model, places in apart.items():
        for at in places:
            print(f"{model}, question {at}: {models[model][at]} for {possible[at]['ground_truth']}")
    print(f"\nours: {spent:.1f} s of CPU, its checker: {own_spent:.1f} s")


if __name__ == "__main__":
    main()
