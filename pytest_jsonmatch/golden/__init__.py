"""Golden YAML cases: the loader, the case model, and the pytest collector."""
