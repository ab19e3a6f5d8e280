"""What a build adds to pyproject.toml: the project's addresses, and a README whose links work anywhere."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Addresses(MetadataHookInterface):
    """Fills in `readme` and `urls` from `address`, the one place that says where the project is hosted."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Make the README's relative links absolute: an index of packages does not have the other files."""
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        address = self.config["address"].rstrip("/")
        if address:
            files = f"{address}/blob/v{metadata['version']}"
            metadata["urls"] = {
                "Homepage": address,
                "Documentation": f"{files}/docs/index.md",
                "Changelog": f"{files}/CHANGELOG.md",
                "Issues": f"{address}/issues",
            }
            readme = re.sub(r"(!\[[^]]*]\()(?!https?:)", rf"\1{address}/raw/v{metadata['version']}/", readme)
            readme = re.sub(r"(]\()(?!https?:|#)", rf"\1{files}/", readme)
        else:
            warnings.warn(
                "pyproject.toml: [tool.hatch.metadata.hooks.custom] address is empty, so links of the README "
                "work only in the repository; set it before a release",
                stacklevel=2,
            )
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
