"""One file a kind of exercise, found by looking."""
