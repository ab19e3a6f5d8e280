"""Scores turned into a verdict: is this run worse than that one, and how sure is it?

What comes in are plain mappings: case id → scores of its repeats, case id → passed, and the same by field.
The room reads no files, prints nothing, and knows neither pytest nor YAML.
"""

from __future__ import annotations
