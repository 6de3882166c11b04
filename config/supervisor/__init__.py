"""`make run`: starts Redis, the lab worker and the web server, keeps them running, and leaves nothing behind.

Standard library only: the supervisor stays small, and outlives whatever a service breaks.
"""
