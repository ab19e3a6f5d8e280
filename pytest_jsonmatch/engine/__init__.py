"""The scoring engine: compare JSON with JSON. It imports neither pytest, YAML nor other subpackages."""
