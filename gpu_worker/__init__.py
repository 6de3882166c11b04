"""The lab: fabrics, ranks, jobs, faults and probes, and the queue that runs them."""
