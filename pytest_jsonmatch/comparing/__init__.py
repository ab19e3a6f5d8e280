"""One comparison: its arguments, the compiled metric, expected files and snapshots, the failure and hints."""
