"""Score corpora: pair their records, score them in chunks, and sum them up."""
