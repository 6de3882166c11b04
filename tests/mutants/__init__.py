"""Mutation testing of `grader/`: `make mutants`. What is decided and why: docs/decisions/0044-mutants.md."""
