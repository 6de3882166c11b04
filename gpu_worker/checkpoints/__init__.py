"""Saving and restoring by real ranks. `knobs` and `shape` import without torch; the rest is for the ranks."""
