"""Repetition results into a verdict: are they good enough, are they worse than before, and how sure is that?

The statistics take plain mappings: case id → scores of its repeats, case id → passed, and the same by field.
This package reads no files, prints nothing, and knows neither pytest nor YAML.
"""
