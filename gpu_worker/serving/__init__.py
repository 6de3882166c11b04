"""Runs in a queue: asked for, claimed, served and watched."""
