"""`make bench`: the figures that Rank 37 holds itself to, measured here, as ratios where machines differ."""
