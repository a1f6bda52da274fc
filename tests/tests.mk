# What `make test`, `make check` and `make bench` run. Each suite prints its own summary.

test:
	@deploy/deps.sh run test
	@$(MAKE) --no-print-directory test-all

.PHONY: test-all test-unit
test-all: test-unit

test-unit: $(OUT)/unit
	$(OUT)/unit --jobs 2

check: test

bench: all
	@echo 'no benchmarks yet'
