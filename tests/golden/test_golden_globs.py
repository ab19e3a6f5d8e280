"""`cases_from: {files: …}`: each file that a glob matches is a case, and its content is expected."""

from __future__ import annotations

import json
import os

import pytest

from tests.conftest import GoldenFileError, load_cases

SOURCE = """\
producer: scraper:scrape
cases_from:
  files: data/**/*.json
  input_file: "{dir}/{stem}.html"
  tags: { site: "{parent}" }
"""


@pytest.fixture
def cases(tmp_path):
    """Load the cases of the files of a glob, which are written first."""

    def load(columns, *names, next_to="", folders=None, **files):
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"name": name}))
        text = f"{next_to}cases_from: {{{columns}}}\n".encode()
        return load_cases(text, tmp_path / "x.golden.yaml", "x.yaml", folders=folders).by_id

    return load


def error_of(read):
    with pytest.raises(GoldenFileError) as caught:
        read()
    return str(caught.value)


def test_each_file_is_a_case(cases):
    names = ("data/b.json", "data/shop one/a.json", "data/shop one/a.html", "data/.c.json", "data/a.json")
    found = cases("files: data/**/*.json", *names)
    assert {name: case.expected for name, case in found.items()} == {
        "a": {"name": "data/a.json"},
        "b": {"name": "data/b.json"},
        "shop-one-a": {"name": "data/shop one/a.json"},
    }
    assert [case.expected_file_name for case in found.values()] == [
        "data/a.json",
        "data/b.json",
        "data/shop one/a.json",
    ]


def test_rules_by_the_place_of_a_file(cases):
    columns = (
        "files: data/*/*.json, threshold: parent, title: '{stem} of {parent}', "
        """skip: '["{stem}.note"]', fields: '{"{stem}": "numeric"}'"""
    )
    next_to = "skip: [id]\nfields: { shop: casefold }\n"
    found = cases(columns, "data/0.9/total.json", "data/0.5/tip.json", next_to=next_to)

    def options_of(stem):
        return {"skip": ["id", f"{stem}.note"], "fields": {"shop": "casefold", stem: "numeric"}}

    assert {name: (case.threshold, case.title, case.options) for name, case in found.items()} == {
        "0.5-tip": (0.5, "tip of 0.5", options_of("tip")),
        "0.9-total": (0.9, "total of 0.9", options_of("total")),
    }
    wrong = cases("files: data/0.9/*.json, threshold: stem")
    (case,) = wrong.values()
    assert "'stem' is \"total\", not JSON" in str(case.fault)


def test_parts_of_the_path_are_columns(cases):
    columns = (
        'files: "data/*/*.json", id: "{parent}-{stem}", input_file: "{dir}/{stem}.html", '
        'actual_file: "out/{path}", tags: {site: "{parent}", name: "{name}"}, title: "of {parent}", cluster: "{parent}"'
    )
    (case,) = cases(columns, "data/shop/a.json", "data/shop/a.html", "out/data/shop/a.json").values()
    assert (case.id, case.tags, case.title) == ("shop-a", {"site": "shop", "name": "a.json"}, "of shop")
    assert (case.input, case.actual) == ('{"name": "data/shop/a.html"}', '{"name": "out/data/shop/a.json"}')
    assert case.cluster == "shop"


def test_yaml_and_any_other_suffix(cases, tmp_path):
    (tmp_path / "a.yaml").write_text("n: 1 # one\n")
    (tmp_path / "b.expected").write_text('{"n": 2}')
    (tmp_path / "c.expected").write_text("n: 3")
    found = cases('files: "?.[ye]*"')
    assert (found["a"].expected, found["b"].expected) == ({"n": 1}, {"n": 2})
    assert error_of(lambda: found["c"].expected).startswith(
        "x.yaml:1:1: expected_file is not JSON: c.expected:1:1:"
    )


def test_two_files_with_one_id(cases):
    found = cases('files: "data/**/*.json"', "data/a b.json", "data/a/b.json", "data/c.json")
    assert list(found) == ["a-b", "data-a-b.json", "c"]
    reported = "x.yaml:1:14: data/a/b.json: the id 'a-b' is already taken by data/a b.json"
    assert str(found["data-a-b.json"].fault) == reported


CHECKS = r"""
files: "*.json" => 1:14: *.json matches no files; a file without cases tests nothing
files: "*.json", expected: gold => 1:31: `cases_from`: with `files`, each file is `expected`; leave out `expected`
files: "*.json", input: "{stem}" => 1:31: `cases_from`: `files` has no columns for `input`; use `input_file`
files: "*.json", input_file: "{folder}/a" => 1:31: `cases_from`: a file has no 'folder'; known: dir, name, parent, path, stem
files: "*.json", fields: rules => 1:31: `cases_from`: a file has no 'rules'; known: dir, name, parent, path, stem
files: "*.json", file: a.csv => 1:14: `cases_from`: both `file` and `files`; keep one
files: 3 => 1:14: `cases_from`: `files` must be a glob of files, relative to this one, such as data/**/*.json; each is a case
"""


@pytest.mark.parametrize("line", CHECKS.strip().splitlines())
def test_what_is_wrong(cases, line):
    columns, message = line.split(" => ")
    assert error_of(lambda: cases(columns)) == f"x.yaml:{message}"


# -- runs of pytest ----------------------------------------------------------------------------------------


@pytest.fixture
def site(golden, write):
    golden(SOURCE)
    write("scraper.py", "import json\n\n\ndef scrape(page):\n    return json.loads(page.partition(':')[2])\n")
    for name, total, html in (("one/a", 1, "x:{}"), ("one/b", 2, 'x:{"total": 3}'), ("two/c", 3, "")):
        write(f"data/{name}.json", json.dumps({"total": total}, indent=1) + "\n")
        if html:
            write(f"data/{name}.html", html)


@pytest.mark.usefixtures("site")
def test_a_run(pytester):
    pytester.makeini("[pytest]\npythonpath = .\n")
    result = pytester.runpytest("--jsonmatch-gate", 'tags["site=one"].pass_rate >= 0')
    result.assert_outcomes(failed=2, errors=1)
    result.stdout.fnmatch_lines_random(
        [
            "E     0.00  total  2 * 3 *  data/one/b.json:2",
            "E   a.golden.yaml:*: input_file 'data/two/c.html' can't be read: no such file or directory; *",
            "FAILED a.golden.yaml::one-b - *",
            'tags[[]"site=one"[]].pass_rate >= 0 *',
        ]
    )


@pytest.mark.usefixtures("site")
def test_a_node_id_and_workers(pytester):
    pytester.makeini("[pytest]\npythonpath = .\n")
    listed = pytester.runpytest("--collect-only", "-q").outlines
    assert listed[:3] == [f"a.golden.yaml::{name}" for name in ("one-a", "one-b", "two-c")]
    pytester.runpytest("a.golden.yaml::one-b").assert_outcomes(failed=1)


@pytest.mark.usefixtures("site")
def test_an_update_writes_the_file(pytester):
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.runpytest("--jsonmatch-update", "-k", "one-b").assert_outcomes(passed=1, deselected=2)
    assert (pytester.path / "data/one/b.json").read_text() == '{\n "total": 3\n}\n'


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_lead_nowhere_else(pytester, golden, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "a.json"
    outside.write_text("{}")
    golden("cases_from: { files: data/*.json, actual_file: '{path}' }\n")
    (pytester.path / "data").mkdir()
    (pytester.path / "data" / "a.json").symlink_to(outside)
    result = pytester.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E   a.golden.yaml:1:*'data/a.json' leads to *outside of *"])
