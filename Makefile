# Two commands to know: make run, make test. Everything they need they make themselves.
PYTHON ?= python3
PORT ?= 8000
export PORT

.PHONY: run test bench mutants env help

run:  ## everything: environment, database, scenarios, Redis, lab worker, web on 127.0.0.1:$(PORT)
	@$(PYTHON) -m config.bootstrap run

test:  ## everything that the tests need, then all tests
	@$(PYTHON) -m config.bootstrap test $(ARGS)

bench:  ## benchmarks: prints a table, writes bench/results/latest.json
	@$(PYTHON) -m config.bootstrap bench

mutants:  ## mutation testing of grader/, on from where it stopped; ARGS="inference --seconds 300" or nothing
	@$(PYTHON) -m config.bootstrap mutants $(ARGS)

env:  ## only the environment in .venv
	@$(PYTHON) -m config.bootstrap env

help:
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'
