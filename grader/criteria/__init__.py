"""The criteria, one small pure function each: `mark(case) -> Mark`."""
