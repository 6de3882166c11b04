"""Design exercises: groups on a cluster, shapes through collectives, how often to save, a question to mark oneself."""
