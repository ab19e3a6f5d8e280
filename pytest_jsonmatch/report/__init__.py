"""Results turned into text: failure messages and the terminal summary. Knows the engine, never pytest."""
