"""`make test`: what the tests need beside Python, the linters, and every test in an order that keeps the lab alone."""
