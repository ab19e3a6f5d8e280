"""The scoring engine: JSON against JSON. It imports neither pytest nor YAML nor any other room."""
