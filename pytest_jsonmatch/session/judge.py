"""The judge of a run of pytest, as the ini option says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_jsonmatch.engine.value.errors import ConfigurationError

if TYPE_CHECKING:
    from pytest_jsonmatch.session.options import Settings


def configured_judge(settings: Settings, root: Path) -> object:
    """Return the judge of `jsonmatch_judge` in the configuration file; None if it names none.

    Args:
        settings: of the run.
        root: the folder that the path of a cache is relative to.

    Raises ConfigurationError if a setting has an invalid value.
    """
    said: dict[str, Any] = dict(settings.judge)
    if not said.keys() - {"mode"}:
        return None
    from pytest_jsonmatch.semantic.openaijudge import make_judge

    said["mode"] = settings.judge_mode or "live"
    if said.get("cache"):
        said["cache"] = Path(os.path.relpath(root / said["cache"]))  # messages name it
    try:
        return make_judge(said)
    except ConfigurationError as error:
        raise ConfigurationError(f"jsonmatch_judge: {error}") from None
