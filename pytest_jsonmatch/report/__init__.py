"""Repetition results into text: failure messages, summaries and reports. Knows the engine, never pytest."""
