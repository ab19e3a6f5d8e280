"""Tags, and `--jsonmatch-by`: numbers by the values of a tag."""

from __future__ import annotations

import re

import pytest

from pytest_jsonmatch import read_results

YAML = """\
tags: {source: phone, language: de}
cases:
- {id: one, expected: {a: 1, b: 2}, actual: {a: 1, b: 3}, threshold: 0}
- {id: two, expected: {a: 1, b: 2}, actual: {a: 1, b: 2}, tags: {source: scan, pages: 3}}
- {id: three, expected: {a: 1, b: 2}, producer: "nowhere:f"}
"""
PYTHON = """\
import pytest
from pytest_jsonmatch import assert_json_match

pytestmark = pytest.mark.jsonmatch(tags={"source": "mail", "language": "fr"})

@pytest.mark.jsonmatch(tags={"language": "en"})
def test_it():
    assert_json_match({"a": 1}, {"a": 1}, tags={"source": "fax"})
    assert_json_match({"a": 1}, {"a": 2}, threshold=0)
"""


@pytest.fixture
def golden(pytester):
    return lambda text: pytester.path.joinpath("x.golden.yaml").write_text(text)


@pytest.fixture
def suite(pytester, golden):
    golden(YAML)
    pytester.makepyfile(test_it=PYTHON)
    return pytester


def test_a_table_has_a_row_for_each_value(suite, workers):
    run = suite.runpytest("--jsonmatch-by=source", *workers)
    run.stdout.fnmatch_lines(
        [
            "by source, mean over cases",
            "source  cases  score  precision  recall    F1  pass rate",
            "fax         1   1.00       1.00    1.00  1.00       1.00",
            "mail        1   0.00       0.00    0.00  0.00       1.00",
            # The case that failed before it compared is one of the phone's, and counts as 0.
            "phone       2   0.25       0.25    0.25  0.25       0.50",
            "scan        1   1.00       1.00    1.00  1.00       1.00",
            "",
            "score of fields by source",
            "field        fax  mail  phone  scan",
            "b              –     –   0.00  1.00",
            "a           1.00  0.00   1.00  1.00",
        ]
    )


def test_a_case_without_the_tag_is_counted(suite):
    suite.runpytest("--jsonmatch-by=pages").stdout.fnmatch_lines("""\
        3          1   1.00*
        3 cases without this tag""")


def test_a_name_that_no_tag_has(suite):
    run = suite.runpytest("--jsonmatch-by=sauce")
    run.stdout.fnmatch_lines(["no case has a tag 'sauce'; did you mean 'source'?"])


@pytest.mark.parametrize(
    ("gate", "line"),
    [
        ('tags["source=phone"].fields["b"].recall >= 0.9', "failed * 0.00 *-0.90*"),
        ('tags["pages=3"].pass_rate == 1', "passed * 1.00 *"),
        ('tags["language=de"].cases["one"].f1 > 0.4', "passed * 0.50 *"),
        ('tags["language=en"].f1 == 0.5', "passed * 0.50 *"),
        ('tags["source=phone"].errors == 0', "failed * 1 *"),
        ('tags["source=fone"].f1 >= 0', "no case has this tag; did you mean 'source=phone'[?]"),
    ],
)
def test_gates_by_tag(suite, gate, line):
    run = suite.runpytest(f"--jsonmatch-gate={gate}")
    run.stdout.fnmatch_lines([f"* {line}"])


def test_results_carry_tags(suite, workers):
    suite.runpytest("--jsonmatch-json=r.json", *workers)
    cases = {case.id.rpartition("::")[2]: case for case in read_results(suite.path / "r.json").cases}
    assert {name: case.tags for name, case in cases.items()} == {
        "one": {"source": "phone", "language": "de"},
        "two": {"source": "scan", "language": "de", "pages": 3},
        "three": {"source": "phone", "language": "de"},
        "test_it": {"source": "mail", "language": "en"},
    }
    assert [each.tags for each in cases["test_it"].runs[0].comparisons] == [{"source": "fax"}, {}]


def test_reports_have_the_table_too(suite):
    suite.runpytest("--jsonmatch-by=source", "--jsonmatch-markdown=r.md", "--jsonmatch-html=r.html")
    assert "| `phone` | 2 | 0.25 | 0.25 | 0.25 | 0.25 | 0.50 |" in (suite.path / "r.md").read_text()
    assert "<code>phone</code></th><td" in (suite.path / "r.html").read_text().replace("\n", "")


def test_wrong_tags(pytester, golden):
    golden("id: a\nexpected: 1\nactual: 1\ntags: {source: [phone]}")
    pytester.makepyfile("""
        import pytest
        from pytest_jsonmatch import assert_json_match

        @pytest.mark.jsonmatch(tags={"": 1})
        def test_mark():
            assert_json_match(1, 1)

        def test_call():
            assert_json_match(1, 1, tags="phone")
        """)
    pytester.runpytest().stdout.fnmatch_lines_random("""\
        E * x.golden.yaml:4:*: `tags`: the tag 'source' must be a string, *, got an array*
        E *ConfigurationError: a tag name must be text without an equals sign, got ''*
        E *ConfigurationError: tags must map names to values, such as {'source': 'phone'}, got 'phone'""")


def test_a_tag_may_name_the_cluster(suite, workers):
    suite.makeini("[pytest]\njsonmatch_cluster = source")
    suite.path.joinpath("y.golden.yaml").write_text(
        "{id: own, expected: 1, actual: 1, tags: {source: phone}, cluster: desk 3}"
    )
    suite.runpytest("--jsonmatch-json=r.json", *workers)
    cases = read_results(suite.path / "r.json").cases
    clusters = {case.id.rpartition("::")[2]: case.cluster for case in cases}
    assert clusters == {"one": "phone", "two": "scan", "three": "phone", "test_it": "mail", "own": "desk 3"}


def test_tags_are_tested_against_the_baseline(pytester, golden):
    def write(right):
        cases = "".join(
            f"- {{id: {source}-{n}, expected: {{a: 1, b: 1}}, actual: {{a: 1, b: {answer}}}, threshold: 0, "
            f"tags: {{source: {source}}}}}\n"
            for source in ("phone", "scan")
            for n in range(30)
            for answer in [1 if source == "scan" or right else 0]
        )
        golden(f"cases:\n{cases}")

    write(right=True)
    pytester.runpytest("--jsonmatch-save=main")
    write(right=False)
    run = pytester.runpytest("--jsonmatch-baseline=main", "--jsonmatch-by=source")
    run.stdout.fnmatch_lines("""\
        *, for `source=phone`
        (-0.500) and on*
        source=phone  1.00      0.50      -0.500  * significantly worse""")
    run.stdout.no_fnmatch_line("*source=scan *")
    pytester.runpytest("--jsonmatch-baseline=main").stdout.no_fnmatch_line("*source=*")


PARAMETRIZED = """\
import pytest

from pytest_jsonmatch import assert_json_match


@pytest.fixture(params=[{"name": "a"}, {"name": "b"}], ids=["gpt-mini", "gpt-large"])
def model(request):
    return request.param


@pytest.fixture(params=["short", "long"])
def prompt(request):
    return request.param


@pytest.mark.parametrize("number", [1, 2])
def test_it(model, prompt, number):
    answer = {"n": number, "prompt": prompt if model["name"] == "b" else "none"}
    assert_json_match(answer, {"n": number, "prompt": prompt}, threshold=0, tags={})
"""


def test_parameters_of_a_fixture_are_a_tag_of_tests_in_python_if_it_is_named(pytester, workers):
    pytester.makepyfile(test_it=PARAMETRIZED)
    gate = '--jsonmatch-gate=tags["prompt=long"].f1 >= 0.5'
    run = pytester.runpytest("--jsonmatch-by=prompt", gate, *workers)
    run.stdout.fnmatch_lines("""\
        `short`: the change from `long` is not tested: 4 cases, at least 6 needed
        short against long, mean of 4 cases in both
        statistic   long  short  difference     95 % interval  verdict
        mean score  0.75   0.75      +0.000  *
        long        4   0.75       0.75    0.75  0.75       1.00
        short       4   0.75       0.75    0.75  0.75       1.00""")
    run.stdout.fnmatch_lines(["tags*passed * 0.75  *"])
    run.stdout.no_fnmatch_line("score of fields by model*")
    run = pytester.runpytest(gate)
    run.stdout.fnmatch_lines(["tags*failed *", "  no case has any tag"])


ONE_PARAMETER = PARAMETRIZED.replace('@pytest.mark.parametrize("number", [1, 2])\n', "").replace(
    "(model, prompt, number):", '(model):\n    number, prompt = 1, "short"'
)


# Labels with hyphens can't be told from each other; with a single parameter the node id is the label.
@pytest.mark.parametrize(
    ("text", "labels"),
    [(PARAMETRIZED, ["model0", "model1"]), (ONE_PARAMETER, ["gpt-large", "gpt-mini"])],
    ids=["several", "one"],
)
def test_labels_of_parameters(pytester, text, labels):
    pytester.makepyfile(test_it=text)
    run = pytester.runpytest("--jsonmatch-by=model")
    run.stdout.fnmatch_lines([f"{label} *" for label in labels])


GOLDEN = """\
producer: conftest:answer
tags: {source: phone}
cases:
- {id: right, expected: {a: 1}, threshold: 0}
- {id: broken, expected: {a: 1}, input: 0, threshold: 0}
"""
CONFTEST = """\
import pytest

@pytest.fixture(params=["small", "large"])
def model(request):
    return request.param

@pytest.fixture
def jsonmatch_actual(jsonmatch_case, model):
    if jsonmatch_case.has_input and model == "large":
        raise ValueError
    return {"a": 1 if model == "large" else 2}
"""


def test_parameters_of_a_fixture_are_always_a_tag_of_golden_cases(pytester, workers):
    pytester.makeconftest(CONFTEST)
    pytester.path.joinpath("x.golden.yaml").write_text(GOLDEN.partition("\n")[2])
    gate = '--jsonmatch-gate=tags["model=large"].f1 >= 0.6'
    run = pytester.runpytest("--jsonmatch-by=model", gate, "--jsonmatch-json=r.json", *workers)
    # An answer that could not be made counts as 0.
    run.stdout.fnmatch_lines(["tags*failed * 0.50  *", "large * 2   0.50*", "small * 2   0.00*"])
    cases = {case.id: case for case in read_results(pytester.path / "r.json").cases}
    right = cases["x.golden.yaml::right[small]"]
    assert (right.tags, right.cluster) == ({"source": "phone", "model": "small"}, "x.golden.yaml::right")


def test_a_run_of_several_candidates(pytester, golden, workers):
    pytester.makeconftest(CONFTEST.replace("if jsonmatch_case", "if False and jsonmatch_case"))
    cases = [f"- {{id: c{n}, expected: {{a: 1}}, threshold: 0, repeat: {n % 2 + 1}}}\n" for n in range(12)]
    golden("cases:\n" + "".join(cases))
    gates = ("score >= 0.5", 'tags["model=large"].score >= 0.9', 'fields["a"].recall >= 0.6 significant')
    run = pytester.runpytest(*(f"--jsonmatch-gate={gate}" for gate in gates), *workers)
    run.stdout.fnmatch_lines("""\
        score*passed * 0.50 *
          mean of 24 cases, over all values of model; one is tags*model=large*
        tags*passed * 1.00 * +0.10
          mean of 12 cases
        fields*
          lower end 0.37 of 12 clusters, over all values of model*
        by model, mean over cases
        model * cases  score*
        large * 12   1.00*
        small * 12   0.00*
        *(24 cases in 12 clusters*""")


@pytest.mark.parametrize(
    ("tags", "outcome"), [("{model: gpt}", {"errors": 2}), ("{model: large}", {"errors": 1, "passed": 1})]
)
def test_a_tag_of_the_same_name_and_another_value_is_an_error(pytester, golden, tags, outcome):
    pytester.makeconftest(CONFTEST)
    golden(f"{{id: a, expected: {{a: 1}}, threshold: 0, tags: {tags}}}")
    run = pytester.runpytest()
    run.assert_outcomes(**outcome)
    run.stdout.fnmatch_lines(
        "*the tag 'model' is *, but the parametrized fixture of this name, also a tag, *"
    )


def test_a_tag_of_an_assertion_with_the_name_of_a_parameter(pytester):
    pytester.makepyfile(test_it=PARAMETRIZED.replace("tags={}", "tags={'prompt': 'long'}"))
    run = pytester.runpytest("--jsonmatch-by=prompt")
    run.assert_outcomes(failed=4, passed=4)
    run.stdout.fnmatch_lines(
        "*the tag 'prompt' is 'long', but *also a tag, is 'short'; give the tag another *"
    )
    pytester.runpytest().assert_outcomes(passed=8)


@pytest.mark.parametrize("number", [8, 9])
def test_at_most_eight_values_of_a_fixture_are_compared(pytester, number):
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.fixture(params=["v%d" % number for number in range({number})])
        def prompt(request):
            return request.param

        @pytest.mark.parametrize("case", range(6))
        def test_it(prompt, case, assert_json_match):
            assert_json_match({{"a": case if prompt == "v0" else -1}}, {{"a": case}}, threshold=0)
        """
    )
    run = pytester.runpytest("-v", "--jsonmatch-by=prompt")
    message = [line for line in run.outlines if re.match(r"v\d against v0", line)]
    assert len(message) == (number - 1 if number == 8 else 0)


def test_a_run_without_tags_says_so_once(pytester):
    pytester.makepyfile(
        "from pytest_jsonmatch import assert_json_match\ndef test_it():\n    assert_json_match({}, {'a': 1})\n"
    )
    lines = pytester.runpytest("--jsonmatch-by=lang").outlines
    assert [line for line in lines if "any tag" in line] == ["no case has any tag, not even 'lang'"]
