"""One pytest run: its options, the comparisons of its tests, its verdict, its summary and its files."""
