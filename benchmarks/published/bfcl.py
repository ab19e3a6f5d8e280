"""BFCL, Python functions: is each of 800 answers right? The verdicts of 31 models, reached by `accept`.

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
from pytest_jsonmatch.schema import SchemaNode, parse_eval_schema

DATA = "berkeley-function-call-leaderboard/bfcl_eval/data"
DAY = "2024-08-11"
CATEGORIES = {
    "simple": "simple_python",
    "parallel_function": "parallel",
    "parallel_multiple_function": "parallel_multiple",
}
"""The names of 2024 and of today: one call; several calls of one function, of several, in any order."""
# 5.0 is no integer. As a float 5 is right, but not in an array.
STRICT = {"x-eval-compare": {"exact": {"strict_number_type": True}}}


def spelt(value: Any) -> Any:
    """As the leaderboard: spaces, some punctuation and case say nothing."""
    return re.sub(r"[ ,./*^_-]", "", value).lower().replace("'", '"') if isinstance(value, str) else value


register_transform("bfcl_text", spelt)
register_metric("bfcl", {"base": "leaf_f1", "transform": ["bfcl_text"]})


def value_of(possible: list[Any], about: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the first possible answer, and its schema; "" says: may be left out.

    `const` tells apart the calls of an answer, each with accepted alternatives of its own.
    """
    first, *others = sorted(possible, key=lambda value: value == "")
    rule: dict[str, Any] = {"optional": True} if "" in possible else {}
    if isinstance(first, dict):
        # Of an object, each member has possible answers of its own.
        members = {name: value_of(each, {}) for name, each in first.items()}
        first = {name: value for name, (value, _) in members.items()}
        node: dict[str, Any] = {"properties": {name: below for name, (_, below) in members.items()}}
    elif isinstance(first, list) and first and isinstance(first[0], dict):
        elements = [value_of([each], {}) for each in first]
        first = [value for value, _ in elements]
        node = {"items": {"anyOf": [below for _, below in elements]}}
    else:
        node = {"const": first}
        if about.get("type") == "integer" or about.get("items", {}).get("type") in {"integer", "float"}:
            node |= STRICT
        if others:
            rule["values"] = others
    return first, node | ({"x-eval-accept": rule} if rule else {})


def question_of(calls: list[Any], functions: list[Any]) -> tuple[list[Any], SchemaNode]:
    """Return the expected calls, and the schema by which an answer is compared to them, in any order."""
    described = {function["name"]: function["parameters"] for function in functions}
    expected, nodes = [], []
    for call in calls:
        ((name, possible),) = call.items()
        about = described[name]
        given = {key: value_of(values, about["properties"].get(key, {})) for key, values in possible.items()}
        for key in about["required"]:
            given[key][1].get("x-eval-accept", {}).pop("optional", None)
        spelt_name = name.replace(".", "_")
        expected.append({"name": spelt_name, "arguments": {key: value for key, (value, _) in given.items()}})
        arguments = {"properties": {key: node for key, (_, node) in given.items()}}
        nodes.append({"properties": {"name": {"const": spelt_name}, "arguments": arguments}})
    items = nodes[0] if len(nodes) == 1 else {"anyOf": nodes}
    schema = {"type": "array", "items": items, "x-eval-align": {"match_by": "hungarian"}}
    return expected, parse_eval_schema(schema)


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


def lines_of(path: Path) -> list[Any]:
    """Return the values of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """Print a table for each category."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("gorilla", type=Path)
    parser.add_argument("results", type=Path)
    args = parser.parse_args()
    own = checker(args.gorilla)
    for category in CATEGORIES:
        table(category, args.gorilla / DATA, args.results / DAY, own)


def table(category: str, data: Path, results: Path, own: ModuleType) -> None:
    """Print the verdicts of one category."""
    file = f"BFCL_v4_{CATEGORIES[category]}.json"
    possible, questions = lines_of(data / "possible_answer" / file), lines_of(data / file)
    both = list(zip(possible, questions, strict=True))
    models: dict[str, list[Any]] = {}
    for answers in sorted(
        (results / "result").glob(f"*/gorilla_openfunctions_v1_test_{category}_result.json")
    ):
        read = [calls_of(line["result"]) for line in lines_of(answers)]
        if sum(call is not None for call in read) > len(read) / 2:
            models[answers.parent.name] = [call or [] for call in read]
    ours: dict[str, list[bool]] = {model: [] for model in models}
    theirs: dict[str, list[bool]] = {model: [] for model in models}
    started = time.process_time()
    for at, (p, q) in enumerate(both):
        expected, schema = question_of(p["ground_truth"], q["function"])
        for model, calls in models.items():
            ours[model].append(compare_json(calls[at], expected, metric="bfcl", schema=schema).score == 1.0)
    spent = time.process_time() - started
    started = time.process_time()
    for at, (p, q) in enumerate(both):
        for model, calls in models.items():
            given = [{each["name"]: each["arguments"]} for each in calls[at]]
            named = own.Language.PYTHON, CATEGORIES[category], "any"
            verdict = own.ast_checker(q["function"], given, p["ground_truth"], *named)
            theirs[model].append(verdict["valid"])
    own_spent = time.process_time() - started
    print(f"## {category}\n\n| model | published | its checker today | ours | verdicts that differ |")
    print("|---|---|---|---|---|")
    apart = {}
    for model in models:
        published = lines_of(results / "score" / model / f"{category}_score.json")[0]["accuracy"]
        apart[model] = [at for at in range(len(both)) if ours[model][at] != theirs[model][at]]
        row = [sum(right[model]) / len(both) for right in (theirs, ours)]
        print(f"| {model} | {published:.4f} | {row[0]:.4f} | {row[1]:.4f} | {len(apart[model])} |")
    total = len(models) * len(both)
    print(f"\n{total - sum(map(len, apart.values())):,} of {total:,} verdicts agree")
    for model, places in apart.items():
        for at in places:
            print(f"{model}, question {at}: {models[model][at]} for {possible[at]['ground_truth']}")
    print(f"\nours: {spent:.1f} s of CPU, its checker: {own_spent:.1f} s\n")


if __name__ == "__main__":
    main()
