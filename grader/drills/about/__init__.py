"""The wording of drills, in files named like those of `grader.quantities`; each says its topic's title in TITLE."""
