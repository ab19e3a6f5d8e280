"""Results turned into a verdict: are they good enough, are they worse than those before, and how sure is it?

What the statistics take are plain mappings: case id → scores of its repeats, case id → passed, and the same
by field. The room reads no files, prints nothing, and knows neither pytest nor YAML.
"""
