"""Fail unless pyright finds at least 99 % of the package's public types complete, as it is installed."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as outside:
    answer = subprocess.run(
        ["pyright", "--verifytypes", "pytest_jsonmatch", "--ignoreexternal", "--outputjson"],
        cwd=outside,
        capture_output=True,
        text=True,
        check=False,
    )
score = json.loads(answer.stdout)["typeCompleteness"]["completenessScore"]
print(f"{score:.1%} complete")
sys.exit(score < 0.99)
