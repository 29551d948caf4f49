# Two commands: `make serve` runs the service on embedded defaults, `make test` proves it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# src/risala/http must never shadow the standard library's http (docs/decisions/0001).
export PYTHONSAFEPATH := 1

.PHONY: serve test test-all test-shuffled soak lint format bench vendor messages lock changelog clean

serve: $(VENV)/.stamp ## set up and run the demo: an SMS goes from curl to a phone that prints it
	@$(BIN)/risala serve --demo $(ARGS)

test: $(VENV)/.stamp-dev ## set up and prove every promise; what takes minutes is left out
	$(BIN)/python -m pytest -n 2 -m "not long" $(ARGS)

test-all: $(VENV)/.stamp-dev peers ## all tests, with programs of others
	$(BIN)/python -m pytest -n 2 $(ARGS)

test-shuffled: ## all tests in an order of its own, which is told; SEED=… for one again
	@$(MAKE) test-all ARGS="--shuffle $${SEED:-`date +%s`} $(ARGS)"

PEERS := gammu gammu-smsd smstools nodejs php-cli php-curl
.PHONY: peers
peers: ## programs of others that the tests talk to: Debian packages, got where we are root
	@PATH="$$PATH:/usr/sbin"; has() { command -v gammu && command -v gammu-smsd && command -v smsd && command -v node && php -r 'exit(function_exists("curl_init") ? 0 : 1);'; } >/dev/null; \
	get() { DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get $$1 -qq -y $$2; } >/dev/null 2>&1; \
	if ! has && test "`id -u`" = 0 && command -v apt-get >/dev/null; then \
	echo "Installing $(PEERS) …"; get install "$(PEERS)" || { get update; get install "$(PEERS)"; } || true; fi; \
	has || echo "NOT TRIED: what of $(PEERS) is not there, as peers of the modem simulator and to run the quick start's programs; sudo apt-get install $(PEERS)" >&2

WORLDS ?= 500
soak: $(VENV)/.stamp-dev ## many whole histories with kills at any step; WORLDS=… for more or fewer
	RISALA_WORLDS=$(WORLDS) $(BIN)/python -m pytest -n 2 tests/simulation $(ARGS)

KILLS ?= 500
kills: $(VENV)/.stamp-dev ## the service killed under load again and again; KILLS=… for more or fewer
	RISALA_KILLS=$(KILLS) $(BIN)/python -m pytest -n 2 tests/flows/crashes/test_messages.py -k nothing_answered $(ARGS)

.PHONY: browser-test kills
browser-test: $(VENV)/.stamp-dev ## pages and the example page in a real browser
	@{ command -v chromium || command -v chromium-browser; } >/dev/null || { echo "There is no Chromium: sudo apt-get install chromium"; exit 1; }
	$(BIN)/python -m pytest -m browser tests/browser $(ARGS)

lint: $(VENV)/.stamp-dev ## style, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.stamp-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: bench-scale bench-peers flame
bench: $(VENV)/.stamp-dev ## speed, as ratios measured in one run; ARGS="--against COMMIT": before and after
	PYTHONPATH=. $(BIN)/python -m benchmarks $(ARGS)

bench-scale: $(VENV)/.stamp-dev ## what a message costs among millions of others
	PYTHONPATH=. $(BIN)/python -m benchmarks.scale $(ARGS)

bench-peers: $(VENV)/.stamp-dev $(VENV)-peers/.stamp ## what one could take instead, under the same load
	PYTHONPATH=. $(BIN)/python -m benchmarks.peers $(ARGS)

$(VENV)-peers/.stamp: benchmarks/peers/requirements.lock | $(VENV)/bin/python
	@$(PYTHON) -m venv $(VENV)-peers
	@$(VENV)-peers/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

flame: $(VENV)/.stamp-dev ## where the time of a loaded service goes, as pictures in build/
	PYTHONPATH=. $(BIN)/python -m benchmarks.flame $(ARGS)

vendor: ## fetch the files of other projects that browsers get (needs npm)
	@$(PYTHON) .ci/vendor

messages: $(VENV)/.stamp-dev ## collect what is to be translated, and say what is not translated yet
	@$(BIN)/python -m risala.http.web.collect

lock: ## write the hashed locks anew from pyproject.toml
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/pip install --quiet uv
	$(VENV)-lock/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --python-version 3.11 --extra build pyproject.toml -o requirements.lock
	$(VENV)-lock/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --python-version 3.11 --extra build --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock
	rm -rf $(VENV)-lock

changelog: $(VENV)/.stamp-dev ## fold the fragments of changes/ into CHANGELOG.md
	$(BIN)/towncrier build

clean:
	rm -rf $(VENV) $(VENV)-peers build .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

$(VENV)/.stamp: pyproject.toml requirements.lock
	@sh .ci/venv "$(PYTHON)" "$(VENV)"
	@echo "Installing what Risala needs into $(VENV) …"
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.stamp-dev: pyproject.toml requirements-dev.lock
	@sh .ci/venv "$(PYTHON)" "$(VENV)"
	@echo "Installing Risala and its test tools into $(VENV) …"
	@$(PIP) --require-hashes -r requirements-dev.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.stamp
