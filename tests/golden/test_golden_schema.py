"""The key `schema` of golden cases."""

from __future__ import annotations

import pytest

SCHEMA = """\
{"type": "object", "properties": {
  "lab": {"type": "string", "x-eval-transform": ["lowercase"]},
  "temp": {"type": "number", "x-eval-compare": {"numeric": {"tolerance": {"rel": 0.01}}}}
}}
"""


def test_a_schema_next_to_the_yaml_file(pytester, write):
    write("golden/schemas/a.schema.json", SCHEMA)
    write(
        "golden/a.golden.yaml",
        """\
        metric: leaf_f1
        schema: schemas/a.schema.json
        cases:
          - {id: good, actual: {lab: a1, temp: 301}, expected: {lab: A1, temp: 300}}
          - {id: bad, actual: {lab: a1, temp: 350}, expected: {lab: A1, temp: 300}}
          - id: rules_go_over_it
            actual: {lab: a1, temp: 350}
            expected: {lab: A1, temp: 300}
            fields: {temp: {compare: {numeric: {tolerance: {abs: 60}}}}}
        """,
    )
    outcome = pytester.runpytest("golden")
    outcome.assert_outcomes(passed=2, failed=1)
    outcome.stdout.fnmatch_lines(["*0.00  temp  300 → 350  17 % off (limit 1 %)*"])


def test_a_schema_written_out(pytester, golden):
    golden("""\
        metric: pairwise_f1
        schema: {properties: {a: {type: string, x-override-evaluator: {evaluation_type: binary}}}, additionalProperties: true}
        actual: {a: x y, more: 1}
        expected: {a: x y}
        """)
    pytester.runpytest().assert_outcomes(passed=1)


# Lines of a file, the line that is blamed, and the message.
ERRORS = r"""
schema: nope.json\nexpected: {lab: A1} | schema: nope.json => 2:1: schema file '*nope.json' does not exist*
schema: {properties: {lab: {x-eval-compare: exakt}}}\nexpected: {lab: A1} | schema: {* => 2:1: schema: lab: unknown comparator 'exakt'; did you mean 'exact'[?]
schema: {properties: {lab: {}}}\nexpected:\n  lab: A1\n  lob: 2 | lob: 2 => 5: 'lob' is not in the schema; did you mean 'lab'[?]; list it, or *
schema: {properties: {a: {}}}\nmetric: pairwise_f1\nexpected: {a: 1} | actual: {lab: A1} => 1:1: actual has 'lab', which is not in the schema; *
schema: 5\nexpected: 1 | schema: 5 => 2:1: `schema` is neither the path of a JSON file nor a schema*
schema: ''\nexpected: 1 | schema: '' => 2:1: `schema` is empty; *
options: {schema: x.json}\nexpected: 1 | options: * => 2:11: `options` can't hold `schema`; write it next to `options`*
"""


MODELS = "import pydantic\nclass Receipt(pydantic.BaseModel):\n    total: float = pydantic.Field(ge=0)\n"


def test_a_pydantic_model(pytester, write):
    write("src/golden_models.py", MODELS)
    pytester.makeini("[pytest]\npythonpath = src\n")
    case = "expected: {total: 1}\n  actual: {total: 1}\n"
    write(
        "golden/a.golden.yaml",
        f"schema: golden_models:Receipt\nvalidate: require\ncases:\n- id: good\n  {case}"
        "- {id: wrong, expected: {total: -1}, actual: {total: -1}}\n"
        f"- id: other\n  schema: golden_models:Recept\n  {case}"
        f"- id: nowhere\n  schema: shopmodels:Receipt\n  {case}"
        f"- id: list\n  schema: json:loads\n  {case}",
    )
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=1, failed=1, errors=3)
    reported = "\n".join(outcome.outlines)
    for message in (
        "not valid by the schema: total: -1 is less than the minimum of 0",
        "a.golden.yaml:9:3: schema: 'golden_models:Recept': 'golden_models' has no 'Recept'; did you mean 'Receipt'?",
        "a.golden.yaml:13:3: schema: 'shopmodels:Receipt' can't be imported: ModuleNotFoundError: No module",
        "named 'shopmodels'; add the folder that holds it to pytest's ini option `pythonpath`, or install it",
        "a.golden.yaml:17:3: schema: a schema must be a dict, the path of a JSON file or a pydantic model class, got",
    ):
        assert message in reported


def test_an_expected_value_that_the_schema_does_not_allow_is_shown(pytester, golden):
    golden(
        "schema: {properties: {paid: {type: boolean}, n: {type: integer}, at: {type: string}}}\ncases:\n"
        "- {id: word, actual: {paid: false}, expected: {paid: no}}\n"
        "- {id: text, actual: {n: 1, at: x}, expected: {n: '1', at: y}}\n"
        "- {id: matcher, actual: {n: 1}, expected: {n: {$range: [5, 9]}}}\n"
        "- {id: other, actual: {n: 1, at: x}, fields: {n: numeric}, expected: {n: '1', at: y}}\n"
    )
    outcome = pytester.runpytest()
    outcome.assert_outcomes(failed=4)
    hints = [line for line in outcome.outlines if "expected is not" in line or "is text;" in line]
    assert hints == [
        'E   paid: "no" is text; write the boolean as false',
        'E   expected is not valid by the schema: n: "1" is not of type "integer"',
    ]


@pytest.mark.parametrize("row", ERRORS.strip().splitlines())
def test_what_is_wrong_is_reported_at_its_line(pytester, golden, row):
    lines, reported = row.replace("\\n", "\n").split(" | ")
    blamed, message = reported.split(" => ")
    golden(f"actual: {{lab: A1}}\n{lines}\n")
    outcome = pytester.runpytest()
    # What is wrong with the file or the configuration, whatever the answer is, is an error.
    is_error = not any(word in lines for word in ("lob", "pairwise_f1"))
    outcome.assert_outcomes(failed=int(not is_error), errors=int(is_error))
    outcome.stdout.fnmatch_lines([f"> *{blamed}", f"E *a.golden.yaml:{message}"])
