"""Every fault against the probes that should show it and those that should not: what to run, what is kept, the verdict.

`trials` decides purely what to run, `digest` names a run by what it depends on, `store` keeps runs, `take` makes the
missing ones, `judge` reads them all and says what holds, `table` writes it down.
"""
