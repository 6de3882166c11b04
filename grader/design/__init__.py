"""Design exercises: groups drawn on a cluster, shapes traced, checkpoints timed, a question marked by oneself. Pure."""
