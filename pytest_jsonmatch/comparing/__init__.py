"""One comparison: its arguments, its comparer, the run around it, the assertion and its hints."""
