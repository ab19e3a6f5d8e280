"""Score corpora: pair their records, score them in chunks, and add up the results."""
