"""`jsonmatch evaluate`: columns, rules on the command line and in files, several processes, progress."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from pytest_jsonmatch.cli import progress
from tests.conftest import option_names

GOLD = [
    {"doc": {"no": n, "source": "mail" if n % 2 else "scan"}, "gold": {"calls": [{"name": "a", "n": n}]}}
    for n in range(6)
]
ANSWERS = [
    {"doc": {"no": n}, "calls": f'I call [{{"n": {n if n != 3 else 0}, "name": "a"}}]'}
    for n in reversed(range(6))
]
COLUMNS = "--id doc.no --expected gold.calls --actual calls"


@pytest.fixture
def nested(write):
    write(gold_jsonl=GOLD, answers_jsonl=ANSWERS)


def scores(ran):
    return next(line for line in ran.out.splitlines() if line.startswith("mean score"))


@pytest.mark.usefixtures("nested")
def test_columns(command):
    ran = command(
        f"evaluate answers.jsonl gold.jsonl {COLUMNS} --tags source=doc.source --cluster doc.source"
    )
    assert ran.out.startswith("answers.jsonl against gold.jsonl\n6 records\n")
    assert scores(ran) == "mean score 0.92: 5 of 6 records with score 1"
    assert "mail" in ran.out
    assert ran.out.count("[].n 0.00") == 1


def test_labels_in_a_csv_file(write, command):
    write(gold_csv="no;text;label\n17;no light;urgent\n18;call;normal\n")
    write(answers_jsonl=[{"no": 18, "output": "normal"}, {"no": 17, "output": "late"}])
    ran = command("evaluate answers.jsonl gold.csv --delimiter ; --id no --expected label --actual output")
    assert scores(ran) == "mean score 0.50: 1 of 2 records with score 1"


def test_objects_of_columns(write, command):
    write(
        gold_csv="no,sum,shop\n1,2.5,Ann\n",
        schema_json={"properties": {"total": {"type": "number"}, "vendor": {}}},
    )
    write(answers_jsonl=[{"no": "1", "out": {"sum": 2.5, "at": "Ann"}}])
    expected = "--expected total=sum --expected vendor=shop"
    actual = "--actual total=out.sum --actual vendor=out.at"
    ran = command(f"evaluate answers.jsonl gold.csv --id no --schema schema.json {expected} {actual}")
    assert scores(ran) == "mean score 1.00: 1 of 1 record with score 1"


def test_globs(folder, command):
    for name in ("gold/a.json", "gold/x/b.json", "out/a.json", "out/x/b.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text('{"n": 1}')
    ran = command("evaluate out/**/* gold/**/*.json")
    assert scores(ran) == "mean score 1.00: 2 of 2 records with score 1"


# -- rules -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["compare", "evaluate"])
def test_every_option_of_a_metric_is_one_of_the_command(command, line):
    options = [f"--{name.replace('_', '-')}" for name in option_names()]
    shown = command(f"{line} --help").out
    assert len(options) > 20
    assert [name for name in options if f"\n  {name}" not in shown and name != "--validate"] == []


RULES = [
    "--skip [].n",
    "--fields [].n=skip",
    '--fields [].n={"tolerance":3}',
    '--leaf-threshold 0 --fields [].n={"compare":"numeric","tolerance":5}'.replace(
        '"compare":"numeric",', ""
    ),
    "--accept [].n=[0]",
    "--metric json_similarity --compare number=numeric --accept [].n=[0]",
]


@pytest.mark.usefixtures("nested")
@pytest.mark.parametrize("flags", RULES)
def test_rules(command, flags):
    assert scores(command(f"evaluate answers.jsonl gold.jsonl {COLUMNS} {flags}")).startswith(
        "mean score 1.00"
    )


ARRAYS = {"": 1, "--arrays unordered": 0, "--arrays key=k": 0, '--arrays {"key":"k"}': 0}


@pytest.mark.parametrize("flags", ARRAYS)
def test_arrays(write, command, flags):
    one, other = {"a": [{"k": 1}, {"k": 2}]}, {"a": [{"k": 2}, {"k": 1}]}
    write(gold_json=[one], answers_json=[other], one_json=one, other_json=other)
    assert command(f"evaluate answers.json gold.json --gate f1>=1 {flags}").code == ARRAYS[flags]
    assert command(f"compare one.json other.json {flags}").code == ARRAYS[flags]


CONFIGS = {
    "flat.json": '{"fields": {"[].n": "skip"}}',
    "flat.yaml": "fields: {'[].n': skip} # not compared\n",
    "file.json": '{"metric": "leaf_f1", "options": {"arrays": "unordered"}, "fields": {"[].n": "skip"}}',
    "x.golden.yaml": "threshold: 0.5\nproducer: a:b\nskip: ['[].n']\ncases:\n- {id: a, expected: 1}\n",
}


@pytest.mark.usefixtures("nested")
@pytest.mark.parametrize("name", CONFIGS)
def test_rules_in_files(folder, command, name):
    (folder / name).write_text(CONFIGS[name])
    ran = command(f"evaluate answers.jsonl gold.jsonl {COLUMNS} --config {name}")
    assert scores(ran).startswith("mean score 1.00")


@pytest.mark.usefixtures("nested")
def test_the_command_line_comes_before_its_file(folder, command):
    (folder / "c.yaml").write_text("metric: json_similarity\nfields: {'[].n': skip, x: exact}\nskip: [a]\n")
    ran = command(
        f"evaluate answers.jsonl gold.jsonl {COLUMNS} --config c.yaml --fields [].n=numeric --metric leaf_f1"
    )
    assert scores(ran).startswith("mean score 0.92")


EXTRAS = (
    "extra is 'count' and reduce is 'ratio', a share of expected that extras could not change; "
    "leave out reduce, or give "
)


@pytest.mark.usefixtures("nested")
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            "--skip a[1]",
            "--skip: 'a[1]' names one element; a rule applies to every element of an array: write []",
        ),
        ("--arrays sorted", "--arrays must be 'ordered', "),
        ("--extra some", "--extra must be 'count' or "),
        ("--fields total", "--fields must be NAME=VALUE, such as total=numeric, got 'total'"),
        ("--compare text=exact", "--compare: "),
        ("--config c.yaml", "c.yaml: `threshold`: threshold must be "),
        ("--config d.yaml", "d.yaml: unknown key 'metrics'; did you mean 'metric'?"),
        ("--config e.yaml", "e.yaml:2:1: not YAML: "),
        ("--config f.yaml", "f.yaml: unknown option 'ignore_order'; write arrays: unordered"),
        ("--extra count --reduce ratio", EXTRAS + "--extra ignore"),
        ('--arrays {"by":["a"]}', "--arrays: 'by' names members of one array: --fields 'PATTERN={"),
        ("--expected a --expected b", "--expected is given 2 times; for several columns write FIELD=COLUMN"),
        ("--judge mode=x", "--judge: mode must be 'live' or 'cached', got 'x'"),
        ("--judge cache=x", "--judge: the judge needs a model: name one, such as 'gpt-4.1-mini'"),
        ("--processes 0", "argument --processes: must be a number from 1 to 256, got '0'"),
        ("-p none.py", "none.py: no such file or directory"),
    ],
)
def test_bad_options_are_one_line(folder, refused, flags, message):
    (folder / "c.yaml").write_text("threshold: 7\nmetric: leaf_f1\n")
    (folder / "d.yaml").write_text("metrics: leaf_f1\ncases: []\n")
    (folder / "e.yaml").write_text("a: {\n")
    (folder / "f.yaml").write_text("ignore_order: true\n")
    assert refused("evaluate answers.jsonl gold.jsonl", *flags.split(" ")).startswith(
        f"jsonmatch evaluate: {message}"
    )


PLUGIN = """
def pytest_jsonmatch_register(registry):
    registry.comparator("lower", lambda expected, actual, params: float(expected.lower() == actual.lower()))


def post_process(results):
    return [each.replaced(status="match", score=1.0) if each.path == "b" else each for each in results]
"""


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("plugin", ["ownrules", "ownrules.py"])
def test_a_module_of_rules(folder, write, command, processes, plugin, monkeypatch):
    monkeypatch.delitem(sys.modules, "ownrules", raising=False)
    monkeypatch.syspath_prepend(folder)
    (folder / "ownrules.py").write_text(PLUGIN)
    write(gold_jsonl=[{"a": "X", "b": 1}] * 300, answers_jsonl=[{"a": "x", "b": 2}] * 300)
    flags = f"--compare string=lower -p {plugin} --processes {processes}"
    assert scores(command(f"evaluate answers.jsonl gold.jsonl {flags}")).startswith("mean score 1.00")


# -- several processes, progress, mistakes -----------------------------------------------------------------


@pytest.mark.usefixtures("nested")
def test_processes_give_the_same_file(folder, command):
    contents = []
    for number in (1, 2):
        command(
            f"evaluate answers.jsonl gold.jsonl {COLUMNS} --keep all --json r{number}.json --processes {number}"
        )
        content = json.loads((folder / f"r{number}.json").read_text().splitlines()[0])
        contents.append({name: value for name, value in content.items() if name not in {"created", "origin"}})
    assert contents[0] == contents[1]


@pytest.mark.usefixtures("nested")
def test_progress_on_a_terminal(command, monkeypatch):
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True, raising=False)
    ran = command(f"evaluate answers.jsonl gold.jsonl {COLUMNS}")
    assert "\r6 of 6 records, " in ran.err
    assert ran.err.endswith(" \r")


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("whole.jsonl nested.jsonl", "--expected gold"),
        ("outputs.jsonl nested.jsonl --expected gold", "--actual output"),
        ("outputs.jsonl nested.jsonl", "--actual output --expected gold"),
        (
            "outputs.jsonl table.csv",
            """--actual output --expected label --fields '$={"transform": ["parse_json"]}'""",
        ),
        ("whole.csv nested.jsonl --actual shop", "--expected gold.shop"),
    ],
)
def test_a_column_that_is_not_named_is_found(write, command, folder, line, missing):
    gold = [{"total": at, "shop": f"shop {at}"} for at in range(4)]
    ids = [{"id": f"r{at}"} for at in range(4)]
    write(
        whole_jsonl=[{**one, **record} for one, record in zip(ids, gold)],
        nested_jsonl=[{**one, "gold": record} for one, record in zip(ids, gold)],
        outputs_jsonl=[{**one, "output": f"Sure: {json.dumps(record)}"} for one, record in zip(ids, gold)],
    )
    quoted = (json.dumps(record).replace('"', '""') for record in gold)
    rows = [f'r{at},"{text}"' for at, text in enumerate(quoted)]
    (folder / "table.csv").write_text("\n".join(["id,label", *rows]))
    (folder / "whole.csv").write_text("\n".join(["id,shop", *(f"r{at},shop {at}" for at in range(4))]))
    files = " and ".join(line.split()[:2])
    reported = f"{files} have different forms; they are alike with {missing}"
    assert command(f"evaluate {line} --id id").err == f"jsonmatch evaluate: warning: {reported}\n"
    ran = command(f"evaluate {line} --id id", *shlex.split(missing))
    assert (ran.err, scores(ran)) == ("", "mean score 1.00: 4 of 4 records with score 1")


@pytest.mark.usefixtures("nested")
def test_sides_that_share_no_field_may_be_swapped(command):
    message = (
        "jsonmatch evaluate: warning: gold.jsonl and answers.jsonl share no field: are they swapped (answers "
        "come first), or is a column missing?\n"
    )
    assert command("evaluate gold.jsonl answers.jsonl --id doc.no").err == message
    ran = command("evaluate gold.jsonl answers.jsonl --id doc.no --actual gold.calls --expected calls")
    message = "answers.jsonl look like answers: are they swapped (answers come first)?"
    assert ran.err == f"jsonmatch evaluate: warning: {message}\n"
