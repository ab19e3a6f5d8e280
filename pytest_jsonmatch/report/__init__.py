"""Render results as text: failure messages, summaries and reports. Imports the engine, never pytest."""
