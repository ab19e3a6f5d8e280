"""The `jsonmatch` command: `main` reads the command line, and each subcommand has its own module."""
