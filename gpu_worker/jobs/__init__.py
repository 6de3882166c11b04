"""What ranks do: the training job and the microbenchmark."""
