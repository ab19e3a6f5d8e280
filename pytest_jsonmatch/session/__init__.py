"""One run of pytest: its options, what its tests compare, its verdict, what it shows and leaves behind."""
