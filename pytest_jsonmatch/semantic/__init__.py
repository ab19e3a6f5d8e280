"""Meaning: embeddings and an LLM judge. Optional extras; no other room imports their libraries."""
