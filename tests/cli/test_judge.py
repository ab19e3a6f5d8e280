"""`jsonmatch study judge`."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from pytest_jsonmatch.cli.judge import read_labels
from pytest_jsonmatch.semantic.bench import _NO_JUDGE
from pytest_jsonmatch.semantic.judging import JudgeItem

# A judge that writes down what it is asked, and goes by what stands in the answer.
JUDGES = '''
from pytest_jsonmatch.semantic.judging import JudgeError, JudgeUsage, Verdict

ASKED = []


def judge(item):
    ASKED.append(item)
    if "?" in item.actual:
        raise JudgeError("timeout", "no answer within 60 s")
    return Verdict("yes" in item.actual, f"it says {item.actual}")


class Batches:
    """What somebody else writes, in batches."""

    usage = JudgeUsage(calls=5)
    sizes = []

    def judge(self, items):
        self.sizes.append(len(items))
        tokens = JudgeUsage(prompt_tokens=400, completion_tokens=40)
        self.usage += JudgeUsage(calls=1, items=len(items), cached=1) + tokens
        return {item.id: Verdict(item.actual == "yes") for item in items}


batches = Batches()
number = 1
'''


def pair(actual, same, expected="x", **more):
    return {"expected": expected, "actual": actual, "label": same, **more}


@pytest.fixture
def labelled(write, command, folder):
    """Write labels and the judges, and run the command; the judges' module comes along."""
    write(judges_py=JUDGES)

    def call(labels, *more, judge="judge"):
        write(labels_jsonl=labels)
        sys.modules.pop("judges", None)
        return command(f"study judge labels.jsonl --judge from=judges:{judge} --json found.json", *more)

    yield call
    sys.modules.pop("judges", None)


def report(ran):
    """The JSON that `--json found.json`, which each command of `labelled` and `asked` has, has written."""
    assert ran.code != 2, ran
    return json.loads(Path("found.json").read_text(encoding="utf-8"))


def verdicts(ran):
    return report(ran)["agreement"]["documents"]


MIXED = [
    *[pair(f"yes {at}", same=True, path="city") for at in range(4)],
    *[pair(f"no {at}", same=False, path="city") for at in range(4)],
    *[pair(f"yes {at}", same=at > 0, path="note") for at in range(3)],
    *[pair(f"no {at}", same=False, path="note") for at in range(2)],
]


def test_what_is_printed(labelled):
    ran = labelled(MIXED)
    assert (ran.code, ran.err) == (0, "judge: 13 calls, 13 items\n")
    assert ran.out == (
        "judge judges:judge on labels.jsonl: 13 verdicts\n"
        "\n"
        "  agreement      0.923  95 % interval 0.640 to 0.998\n"
        "  Cohen's kappa  0.848  95 % interval 0.157 to 0.995\n"
        "\n"
        "By field, the lowest kappa first\n"
        "field  places  agreement  kappa  95 % interval\n"
        "note        5       0.80   0.62  -0.26 to 0.99\n"
        "city        8       1.00   1.00   0.33 to 1.00\n"
        "\n"
        "Where they disagree\n"
        "label           field  judge says  expected  actual   reason\n"
        'labels.jsonl:9  note   same        "x"       "yes 0"  it says yes 0\n'
    )


def test_the_judge_gets_path_description_and_criterion(labelled):
    labelled([pair("yes", same=True, path="a", description="The a.", criterion="By sound.")])
    (item,) = sys.modules["judges"].ASKED
    assert (item.path, item.expected, item.actual) == ("a", "x", "yes")
    assert (item.description, item.criterion) == ("The a.", "By sound.")


def test_json(labelled):
    found = report(labelled(MIXED))
    assert found["agreement"]["documents"] == 13
    assert found["agreement"]["fields"]["city"]["kappa"][0] == 1.0
    told = {"expected": '"x"', "actual": '"yes 0"', "label": False, "reason": "it says yes 0"}
    assert found["disagreements"] == [{"place": "labels.jsonl:9", "path": "note", **told}]
    assert (found["judge"], found["labels"]) == ("judges:judge", 13)


def test_what_no_judge_is_asked_in_scoring_is_in_no_figure(labelled):
    settled = [pair("x", same=True), pair("x", same=False), pair(None, same=False)]
    ran = labelled([*MIXED, *settled, pair(1.0, same=True, expected=1)])
    assert len(sys.modules["judges"].ASKED) == len(MIXED)
    assert verdicts(ran) == 13
    assert "\n4 pairs left out: of equal values or with a null no judge is asked." in ran.out


def test_equal_questions_are_asked_once_and_a_contradiction_is_a_disagreement(labelled):
    ran = labelled([pair("yes", same=True), pair("yes", same=True), pair("yes", same=False)])
    assert len(sys.modules["judges"].ASKED) == 1
    assert report(ran)["agreement"]["total"]["agreement"][0] == pytest.approx(2 / 3)
    assert [each["place"] for each in report(ran)["disagreements"]] == ["labels.jsonl:3"]


def test_pairs_without_a_verdict_are_told_and_fail(labelled):
    ran = labelled([*MIXED, *(pair(f"? {at}", same=True) for at in range(25))])
    assert (ran.code, verdicts(ran)) == (1, 13)
    assert ran.out.count("timeout: no answer within 60 s\n") == 20
    assert "\nlabels.jsonl:14  timeout: no answer within 60 s\n" in ran.out
    assert "\n  … 5 more pairs (-v)\n" in ran.out
    found = report(labelled([pair("?", same=True)]))
    assert found["without_verdict"] == {"labels.jsonl:1": "timeout: no answer within 60 s"}
    assert found["agreement"]["total"]["agreement"] is None


NO_KAPPA = "No kappa: all values are the same, so chance alone explains the agreement.\n"


@pytest.mark.parametrize(
    ("labels", "figure", "told"),
    [
        ([pair("?", same=True)], "agreement", "labels.jsonl: 0 verdicts\n\nWithout a verdict"),
        ([pair("yes", same=True)] * 3, "kappa", NO_KAPPA),
    ],
)
def test_no_verdict_at_all_and_labels_of_one_kind(labelled, labels, figure, told):
    ran = labelled(labels, "--gate", f"{figure} >= 0")
    assert (ran.code, told in ran.out) == (1, True)
    assert ran.out.endswith(f"  FAILED   {figure} >= 0  this data has no {figure}\n")


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        (["kappa >= 0.8", "agreement >= 0.9"], 0),
        (["kappa >= 0.9"], 1),
        (["agreement >= 0.95"], 1),
        (["kappa_low >= 0.8"], 1),
        (["kappa_low >= 0.35"], 1),
        (['fields["city"].kappa >= 1', 'fields["*"].agreement_low >= 0.2'], 0),
    ],
)
def test_gates(labelled, gates, code):
    ran = labelled(MIXED, *(part for gate in gates for part in ("--gate", gate)))
    assert (ran.code, "FAILED" in ran.out) == (code, code == 1)


def test_disagreements_are_bounded_and_wrong_answers_that_would_pass_come_first(labelled):
    labels = [pair(f"no {at}", same=True) for at in range(14)] + [
        pair(f"yes {at} {'long ' * 200}", same=False) for at in range(14)
    ]
    brief = labelled(labels).out
    everything = labelled(labels, "-v").out
    assert brief.index("labels.jsonl:15 ") < brief.index("labels.jsonl:1 ")
    assert (brief.count("  same  "), brief.count("  different  ")) == (14, 6)
    assert "… 8 more disagreements (-v)\n" in brief
    assert (everything.count("  different  "), "more" in everything) == (14, False)
    assert max(map(len, brief.splitlines())) <= 100


def test_hostile_values_and_reasons_move_no_cursor(labelled):
    ran = labelled([pair("yes \x1b[31m\u202e", same=False, path="p\x1b[2J\x07")])
    assert ran.code == 0
    assert not {"\x1b", "\u202e", "\x07"} & set(ran.out)


@pytest.mark.parametrize("value", ["\ud800 yes", "yes " + "\U0001f600" * 50])
def test_any_text_can_be_reported(labelled, folder, value):
    ran = labelled([pair(value, same=False)], "--html", "page.html")
    assert ran.code == 0
    assert all((folder / name).stat().st_size > 0 for name in ("found.json", "page.html"))


def test_a_judge_in_batches_is_asked_in_chunks(labelled):
    labels = [pair("yes" if at % 2 else f"no {at}", same=bool(at % 2), path=f"{at}") for at in range(200)]
    ran = labelled(labels, judge="batches")
    assert sys.modules["judges"].batches.sizes == [100, 100]
    assert ran.err == "judge: 2 calls, 200 items, 2 from cache, 880 tokens\n"


def test_a_judge_that_a_plugin_registers(write, command, folder):
    write(
        conftest_py="def pytest_jsonmatch_register(registry):\n    registry.judge('default', lambda item: 'yes' in item.actual)\n"
    )
    write(labels_jsonl=MIXED)
    sys.modules.pop("conftest", None)
    ran = command("study judge labels.jsonl -p conftest")
    sys.modules.pop("conftest", None)
    assert ran.code == 0
    assert ran.out.startswith("the registered judge on labels.jsonl: 13 verdicts\n")


def test_labels_from_standard_input(labelled, command, stdin):
    labelled(MIXED)
    content = "\ufeff\n" + json.dumps(pair("yes", same=1)) + "\r\n\n" + json.dumps(pair("no", same=0))
    stdin(content.encode())
    ran = command("study judge - --judge from=judges:judge")
    assert ran.out.startswith("judge judges:judge on <stdin>: 2 verdicts\n")


def test_labels_are_read(write):
    write(labels_jsonl=[pair("y", same=0, id=7, path=None, note="kept out"), pair([1], same=True, path="a")])
    assert read_labels("labels.jsonl") == [
        (JudgeItem("labels.jsonl:1", "", "x", "y"), False),
        (JudgeItem("labels.jsonl:2", "a", "x", [1]), True),
    ]


NO_LABEL = (
    "a label is an object with expected, actual and label (true if they mean the same, else false); "
    "path, description and criterion, which it may have, are texts;"
)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"expected": 1', "2:15: not valid JSON: the text ends inside an object near '{\"expected\": 1'"),
        *(
            (line, f"2: {NO_LABEL} not {line}")
            for line in (
                "[1]",
                '{"expected": 1, "actual": 2}',
                '{"expected": 1, "actual": 2, "label": "yes"}',
                '{"expected": 1, "actual": 2, "label": 0.5}',
                '{"expected": 1, "actual": 2, "label": 1, "path": 1}',
            )
        ),
    ],
)
def test_a_line_that_is_no_label(refused, write, line, told):
    write(labels_jsonl=f"{json.dumps(pair('y', same=True))}\n{line}\n", judges_py=JUDGES)
    line = "study judge labels.jsonl --judge from=judges:judge"
    assert refused(line) == f"jsonmatch study judge: labels.jsonl:{told}"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("none.jsonl --judge from=judges:judge", "none.jsonl: no such file or directory"),
        ("empty.jsonl --judge from=judges:judge", "empty.jsonl has no labels: a line is an object with"),
        ("labels.jsonl", _NO_JUDGE),
        ("labels.jsonl --judge from=judges:jugde", "'judges:jugde': 'judges' has no 'jugde'; did you mean"),
        ("labels.jsonl --judge from=judges:number", "--judge from=judges:number is not a judge: name an"),
        ("labels.jsonl --judge from=nowhere:judge", "'nowhere:judge' can't be imported:"),
        (
            "labels.jsonl --judge from=judges:judge --judge base_url=http://localhost",
            "--judge base_url=...: a judge of your own has its own settings",
        ),
        ("labels.jsonl --judge model=m --judge max_calls", "--judge 'max_calls' is not NAME=VALUE, such as"),
        ("labels.jsonl --judge model=m --judge model=n", "--judge 'model=n': model is given twice"),
        ("labels.jsonl --judge model=m --judge max_cals=1", "a judge has no setting 'max_cals'; did you"),
        ("labels.jsonl --judge from=judges:judge --gate kapa>=0.7", "--gate 'kapa>=0.7': unknown figure"),
    ],
)
def test_what_cannot_be_used_is_one_line(refused, write, line, told):
    write(labels_jsonl=MIXED, empty_jsonl="\n", judges_py=JUDGES)
    sys.modules.pop("judges", None)
    assert refused(f"study judge {line}").startswith(f"jsonmatch study judge: {told}")


# -- a model behind an endpoint, and verdicts that were kept -----------------------------------------------


@pytest.fixture
def endpoint(monkeypatch):
    """The endpoint on loopback of tests/semantic."""
    pytest.importorskip("openai")
    place = Path(__file__).parents[1] / "semantic" / "endpoint.py"
    spec = importlib.util.spec_from_file_location("jsonmatch_loopback_cli", place)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with module.Endpoint() as running:
        running.judge = lambda shown: "yes" in str(shown["actual"])
        yield running


@pytest.fixture
def asked(write, command, endpoint):
    """Write labels, and run the command with a model behind the endpoint."""

    def call(labels, *more):
        write(labels_jsonl=labels)
        line = f"study judge labels.jsonl --judge model=m --judge base_url={endpoint.url}"
        return command(line, "--json", "found.json", *more)

    return call


def test_a_model_is_asked_in_batches_and_its_verdicts_are_kept(asked, endpoint, command, folder):
    labels = [pair(f"{'yes' if at % 2 else 'no'} {at}", same=at % 2, path="a") for at in range(30)]
    first = asked(labels, "--judge", "cache=kept.jsonl")
    assert (first.code, first.err) == (0, "judge: 2 calls, 30 items, 220 tokens\n")
    assert (len(endpoint.requests), verdicts(first)) == (2, 30)
    assert len((folder / "kept.jsonl").read_text().splitlines()) == 30
    second = command("study judge labels.jsonl --judge mode=cached --judge cache=kept.jsonl --gate kappa==1")
    assert (second.code, len(endpoint.requests)) == (0, 2)
    assert second.out.startswith("judge kept.jsonl on labels.jsonl: 30 verdicts\n")
    assert second.err == "judge: 0 calls, 30 from cache\n"


def test_verdicts_of_a_function_are_kept_under_its_name(labelled, command):
    assert labelled(MIXED, "--judge", "cache=kept.jsonl").code == 0
    assert len(sys.modules["judges"].ASKED) == 13
    again = labelled(MIXED, "--judge", "cache=kept.jsonl")
    assert (again.code, sys.modules["judges"].ASKED) == (0, [])
    other = labelled(MIXED, "--judge", "cache=kept.jsonl", "--judge", "mode=cached", judge="batches")
    assert other.out.count("  cache miss: ") == 13


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--judge from=judges:judge --judge mode=cached", "the mode 'cached' needs a cache: name the file"),
        ("--judge from=judges:judge --judge batch_size=1", "--judge batch_size=...: a judge of your own"),
        ("--judge model=m", "the judge 'm' has no key: set the environment variable OPENAI_API_KEY, or"),
    ],
)
def test_a_judge_that_cannot_judge(refused, write, monkeypatch, line, told):
    pytest.importorskip("openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    write(labels_jsonl=MIXED, judges_py=JUDGES)
    assert refused(f"study judge labels.jsonl {line}").startswith(f"jsonmatch study judge: {told}")


# -- compare and evaluate with a judge ---------------------------------------------------------------------

RULES = {"fields": {"*": {"compare": "semantic"}}}
JUDGED = "--config rules.json -p jm_judge"


@pytest.fixture
def plugin(write, monkeypatch):
    """Write a module whose judge takes texts for the same but for case, and the files to compare."""

    def call(judge="lambda item: item.expected.lower() == item.actual.lower()"):
        monkeypatch.delitem(sys.modules, "jm_judge", raising=False)
        write(
            jm_judge_py=f"def pytest_jsonmatch_register(registry):\n    registry.judge('default', {judge})\n",
            rules_json=RULES,
            a_json={"n": "1", "city": "PARIS", "land": "France"},
            b_json={"n": "1", "city": "Paris", "land": "FRANCE"},
            gold_jsonl=[{"city": "Paris"}, {"city": "Rome"}, {"city": "Paris"}],
            answers_jsonl=[{"city": "PARIS"}, {"city": "Milan"}, {"city": "PARIS"}],
        )

    return call


def test_compare_asks_the_judge_of_a_plugin(plugin, command):
    plugin()
    told = "leaf_f1 score 1.00 (limit 1.0)\n3 fields: 3 match\n"
    assert command(f"compare a.json b.json {JUDGED}") == (0, told, "judge: 2 calls, 2 items\n")


def test_evaluate_does_and_asks_equal_questions_once(plugin, command):
    plugin()
    ran = command(f"evaluate answers.jsonl gold.jsonl {JUDGED}")
    assert (ran.code, ran.err) == (0, "judge: 2 calls, 2 items\n")
    assert ran.out.splitlines()[0] == "leaf_f1, 2 of 3 records with score 1"


def test_results_alone_go_to_standard_output(plugin, command):
    plugin()
    ran = command(f"compare a.json b.json {JUDGED} --report json")
    assert (json.loads(ran.out)["figures"]["score"], ran.err) == (1.0, "judge: 2 calls, 2 items\n")


@pytest.mark.parametrize("line", ["compare a.json b.json", "evaluate answers.jsonl gold.jsonl"])
def test_without_a_judge_the_first_question_is_an_error(plugin, refused, line):
    plugin()
    assert ": there is no judge to ask" in refused(f"{line} --config rules.json")


def test_without_a_question_nobody_is_missed(plugin, command):
    plugin()
    ran = command("compare a.json a.json --config rules.json")
    assert (ran.code, ran.err) == (0, "")


def test_a_failed_judge_is_no_success(plugin, command):
    plugin("lambda item: 1 / 0")
    ran = command(f"compare a.json b.json {JUDGED}")
    assert "error: comparator 'semantic' at city: invalid: the judge raised" in ran.out
    corpus = command(f"evaluate answers.jsonl gold.jsonl {JUDGED} --gate", "batch_errors == 0")
    assert (ran.code, corpus.code) == (1, 1)
    assert "3 results left out of the figures: the batch comparator failed" in corpus.out
    assert "FAILED   batch_errors == 0" in corpus.out
    assert corpus.out.splitlines()[0] == "leaf_f1, 0 of 3 records with score 1, 3 errors"


def test_cached_takes_recorded_verdicts_alone(plugin, write, command):
    plugin()
    verdict = {"expected": "Paris", "actual": "PARIS", "equivalent": True, "model": "m", "prompt": "1"}
    write(verdicts_jsonl=[{"path": "city", **verdict}])
    ran = command(
        "compare a.json b.json --config rules.json --judge mode=cached --judge cache=verdicts.jsonl"
    )
    assert (ran.code, ran.err) == (1, "judge: 0 calls, 1 from cache, 1 error\n")
    assert "cache miss: no verdict on this pair" in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--judge mode=cached --judge model=m", "the mode 'cached' needs a cache: name the file of verdicts"),
        ("--judge cache=v.jsonl", "the judge needs a model: name one, such as 'gpt-4.1-mini'"),
        ("--judge api_key_env=KEY", "the judge needs a model: name one, such as 'gpt-4.1-mini'"),
        ("--judge model=m --judge max_calls=many", "max_calls is 'many'; it must be an integer, 0 or more"),
    ],
)
def test_options_that_do_not_fit(plugin, refused, options, message):
    plugin()
    told = refused(f"compare a.json b.json --config rules.json {options}")
    assert told.startswith(f"jsonmatch compare: {message}")
