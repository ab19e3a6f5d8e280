"""Where files may lie that golden cases name: in the rootdir, or beside the golden file."""

from __future__ import annotations

from pathlib import Path

import pytest

NAMING = """\
cases:
  - id: of-input
    input_file: ../outside/text.txt
    producer: builtins:str
    expected: {}
  - id: of-actual
    actual_file: ../outside/text.txt
    expected: {a: 1}
  - id: of-expected
    actual: {a: 1}
    expected_file: ../outside/value.json
  - id: of-schema
    actual: {a: 1}
    expected: {a: 1}
    schema: ../outside/schema.json
  - id: absolute
    actual: {a: 1}
    expected_file: OUTSIDE/value.json
  - id: filled
    parametrize: { folder: [.., ../project] }
    actual: {a: 1}
    expected_file: "${folder}/outside/value.json"
  - id: inside
    actual: {a: 1}
    expected_file: ../project/inside.json
"""


@pytest.fixture
def project(pytester, monkeypatch):
    """A rootdir, in which pytest runs, with a folder beside it; the folder that holds both."""
    for name, text in {
        "outside/text.txt": '{"a": 1}',
        "outside/value.json": '{"a": 1}',
        "outside/schema.json": '{"type": "object", "properties": {"a": {"type": "number"}}}',
        "project/inside.json": '{"a": 1}',
        "project/outside/value.json": '{"a": 1}',
        "project/pytest.ini": "[pytest]\n",
    }.items():
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(pytester.path / "project")
    return pytester.path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def refusal(project, key, written, leads="lies"):
    return f"`{key}` '{written}' {leads} outside of {project / 'project'}, pytest's rootdir; move the file into it"


def test_files_outside_of_rootdir_are_refused_where_they_are_named(pytester, project):
    write(project / "project" / "a.golden.yaml", NAMING.replace("OUTSIDE", (project / "outside").as_posix()))
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=2, errors=6)
    absolute = (project / "outside" / "value.json").as_posix()
    for place, key, written in [
        ("3:5", "input_file", "../outside/text.txt"),
        ("7:5", "actual_file", "../outside/text.txt"),
        ("11:5", "expected_file", "../outside/value.json"),
        ("15:5", "schema", "../outside/schema.json"),
        ("18:5", "expected_file", absolute),
        ("22:5", "expected_file", "../outside/value.json"),
    ]:
        message = f"E   a.golden.yaml:{place}: {refusal(project, key, written)}"
        assert message in [" ".join(line.split()).replace("E ", "E   ", 1) for line in outcome.outlines]
    outcome.stdout.fnmatch_lines("""\
        >*expected_file: ../outside/value.json
        a.golden.yaml:11: error""")


def test_a_folder_whose_name_begins_like_the_rootdirs(pytester, project):
    write(project / "project-2" / "value.json", '{"a": 1}')
    write(project / "project" / "a.golden.yaml", "actual: {a: 1}\nexpected_file: ../project-2/value.json\n")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines([f"E *: {refusal(project, 'expected_file', '../project-2/value.json')}"])


def link(at: Path, to: Path) -> None:
    try:
        at.symlink_to(to)
    except (OSError, NotImplementedError):
        pytest.skip("no symbolic links here")


def test_symbolic_links_are_followed(pytester, project):
    link(project / "project" / "linked.json", project / "outside" / "value.json")
    link(project / "project" / "folder", project / "outside")
    link(project / "outside" / "back.json", project / "project" / "inside.json")
    write(
        project / "project" / "a.golden.yaml",
        "cases:\n"
        "- {id: file, actual: {a: 1}, expected_file: linked.json}\n"
        "- {id: folder, actual: {a: 1}, expected_file: folder/value.json}\n"
        "- {id: and-back, actual: {a: 1}, expected_file: ../outside/back.json}\n",
    )
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=1, errors=2)
    leads = f"leads to {project / 'outside' / 'value.json'},"
    outcome.stdout.fnmatch_lines(f"""\
        E *: {refusal(project, "expected_file", "linked.json", leads)}
        E *: {refusal(project, "expected_file", "folder/value.json", leads)}""")


def test_a_golden_file_elsewhere_may_name_what_lies_next_to_it(pytester, project):
    write(
        project / "outside" / "b.golden.yaml",
        "cases:\n"
        "- {id: beside, actual: {a: 1}, expected_file: value.json}\n"
        "- {id: of-rootdir, actual: {a: 1}, expected_file: ../project/inside.json}\n"
        "- {id: above, actual: {a: 1}, expected_file: ../above.json}\n",
    )
    write(project / "above.json", '{"a": 1}')
    outcome = pytester.runpytest("--rootdir=.", "../outside/b.golden.yaml")
    outcome.assert_outcomes(passed=2, errors=1)
    reported = refusal(project, "expected_file", "../above.json")
    outcome.stdout.fnmatch_lines(f"E *b.golden.yaml:4:31: {reported}")


def test_a_folder_of_golden_files_may_be_a_link(pytester, project):
    write(project / "outside" / "b.golden.yaml", "actual: {a: 1}\nexpected_file: value.json\n")
    link(project / "project" / "golden", project / "outside")
    pytester.runpytest("golden/b.golden.yaml").assert_outcomes(passed=1)


def test_nothing_is_written_outside(pytester, project):
    write(
        project / "project" / "a.golden.yaml",
        "cases:\n"
        "- {id: new, actual: {a: 1}, expected_file: ../outside/new.json}\n"
        "- {id: old, actual: {a: 2}, expected_file: ../outside/value.json}\n"
        "- {id: inside, actual: {a: 3}, expected_file: inside.json}\n",
    )
    before = sorted((project / "outside").iterdir())
    outcome = pytester.runpytest("--jsonmatch-update=all")
    outcome.assert_outcomes(passed=1, errors=2)
    outcome.stdout.fnmatch_lines(["updated 1 case in inside.json"])
    outcome.stdout.fnmatch_lines([f"E *:2:29: {refusal(project, 'expected_file', '../outside/new.json')}"])
    assert sorted((project / "outside").iterdir()) == before
    assert (project / "outside" / "value.json").read_text(encoding="utf-8") == '{"a": 1}'
    assert (project / "project" / "inside.json").read_text(encoding="utf-8") == '{"a": 3}'


def test_cases_of_python_tests_keep_to_it(pytester, project):
    write(project / "project" / "cases" / "a.yaml", NAMING.replace("../", "../../"))
    test = "@golden_cases('cases/a.yaml')\ndef test_it(case): case.expected, case.actual, case.input, case.options\n"
    write(project / "project" / "test_it.py", f"from pytest_jsonmatch import golden_cases\n\n{test}")
    outcome = pytester.runpytest("-k", "of-expected or inside")
    outcome.assert_outcomes(passed=1, failed=1)
    reported = refusal(project, "expected_file", "../../outside/value.json")
    outcome.stdout.fnmatch_lines(f"E *GoldenFileError: cases/a.yaml:11:5: {reported}")


LARGE = f"cases:\n- id: one\n  title: {'x' * 2**24}\n  actual: {{a: 1}}\n  expected: {{a: 1}}\n"


def test_a_file_that_is_too_large_is_an_error_and_others_run(pytester):
    write(pytester.path / "a.golden.yaml", "actual: {a: 1}\nexpected: {a: 1}\n")
    write(pytester.path / "b.golden.yaml", LARGE)
    write(pytester.path / "value.yaml", f"a: {'x' * 2**24}\n")
    write(pytester.path / "c.golden.yaml", "actual: {a: 1}\nexpected_file: value.yaml\n")
    outcome = pytester.runpytest()
    outcome.assert_outcomes(passed=1, failed=1, errors=1)
    outcome.stdout.fnmatch_lines("""\
        E *b.golden.yaml:1:1: the file is larger than 16 MiB; *
        E *c.golden.yaml:2:1: expected_file is not valid: value.yaml:1:1: the file is *""")
