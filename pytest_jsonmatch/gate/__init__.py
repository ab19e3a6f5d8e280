"""Gates: what results of a run come to, and whether a merge may go on."""
