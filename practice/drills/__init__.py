"""Drills: napkin math and concepts in sprints, repeated when they are about to be forgotten."""
