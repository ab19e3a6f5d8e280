"""The `jsonmatch` command: `main` reads the command line, and each subcommand is a module of its own."""
