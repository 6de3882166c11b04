"""The pure core: physics, units, inference over causes, rubric, scorecard.

No Django, no torch, no I/O, no clock: everything is a function of its arguments.
"""
