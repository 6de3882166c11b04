"""The warm process that forks runs, and the conductor of one run."""
