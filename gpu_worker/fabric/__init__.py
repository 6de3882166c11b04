"""What the lab builds: networks of namespaces, their plan, their making, the paths of flows."""
