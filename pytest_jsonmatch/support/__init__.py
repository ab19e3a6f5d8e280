"""What several rooms use: writing files, defaults, lazy names, the version."""
