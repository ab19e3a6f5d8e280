"""Read JSON from text: parse strict JSON, or find JSON in a model's answer."""
