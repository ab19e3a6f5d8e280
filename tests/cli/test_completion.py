"""`jsonmatch completion`."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_option_is_in_the_script(command, shell):
    pytest.importorskip("shtab")
    ran = command(f"completion {shell}")
    assert (ran.code, ran.err) == (0, "")
    for word in ("compare", "evaluate", "validate", "calibrate", "threshold", "gate"):
        assert word in ran.out


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes(command, folder):
    pytest.importorskip("shtab")
    (folder / "c.bash").write_text(command("completion bash").out)
    (folder / "answer.json").write_text("{}")

    def completed(*words):
        script = (
            'source ./c.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
            "$(complete -p jsonmatch | sed 's/.*-F \\([^ ]*\\).*/\\1/') jsonmatch; echo \"${COMPREPLY[@]}\""
        )
        done = subprocess.run(
            ["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=False, cwd=folder
        )
        return set(done.stdout.split())

    assert completed("jsonmatch", "e") == {"evaluate"}
    assert completed("jsonmatch", "compare", "--thr") == {"--threshold"}
    assert completed("jsonmatch", "compare", "--report", "j") == {"json"}
    assert completed("jsonmatch", "compare", "ans") == {"answer.json"}
    assert completed("jsonmatch", "report", "ans") == {"answer.json"}
    assert completed("jsonmatch", "report", "--ma") == {"--markdown"}
    assert completed("jsonmatch", "judge", "calibrate", "ans") == {"answer.json"}
    assert completed("jsonmatch", "judge", "calibrate", "--judge-m") == {
        "--judge-model",
        "--judge-mode",
    }


def test_without_shtab(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert refused("completion bash") == (
        "jsonmatch completion: this needs shtab: pip install 'pytest-jsonmatch[completion]'"
    )


def test_a_shell_that_is_not_known(refused):
    assert "invalid choice: 'csh'" in refused("completion csh")
