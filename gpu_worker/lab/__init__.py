"""One run of the lab from its spec to a WholeRun, and what the machine must be for it."""
