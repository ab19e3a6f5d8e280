"""Comparison by meaning: embeddings and an LLM judge; no other package imports their optional libraries."""
