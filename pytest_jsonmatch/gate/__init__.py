"""Judge results: check gates, compare a run with a baseline, and compute confidence intervals.

The statistics take plain mappings from case id to the scores of its repeats, or to whether it passed, and
such mappings by field. This package reads no files, prints nothing, and imports neither pytest nor YAML.
"""
