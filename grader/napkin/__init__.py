"""Quantities as people ask for them: typed words in, answers and pages out."""
