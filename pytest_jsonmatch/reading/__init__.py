"""Read JSON from text: strictly, or found in a model's answer."""
