"""Napkin drills: questions with tidy numbers made from every quantity, judged with their slips. Pure."""
