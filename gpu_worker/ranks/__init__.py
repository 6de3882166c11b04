"""What a rank is made of: its body, its batches, its telemetry, what throttles it."""
