# Two commands: `make serve` runs the service on embedded defaults, `make test` proves it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
INSTALL := $(BIN)/python .ci/install
# src/risala/http must never shadow the standard library's http (docs/decisions/0001).
export PYTHONSAFEPATH := 1
# A process that compiles all that it imports takes three times as long to start, and the tests start
# hundreds: where a machine forbids to keep what was compiled, it is kept here all the same.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: serve test test-pythons newest test-all test-shuffled soak lint format bench vendor messages lock changelog clean

serve: $(VENV)/.stamp ## set up and run the demo: an SMS goes from curl to a phone that prints it; ARGS="--country SN"
	@$(BIN)/risala serve --demo $(ARGS)

# Tests wait for processes half of their time: two workers would leave two cores idle as long.
WORKERS ?= 4
QUICK := --hypothesis-profile=quick

test: $(VENV)/.stamp-dev ## set up and run the tests, without the long ones; CHANGED=1: those next to what was changed
	@chosen="$(if $(CHANGED),$$(PYTHONPATH=. $(BIN)/python -m proofs.changed))"; \
	if test -n "$(CHANGED)" && test -z "$$chosen"; then echo "No test sees what was changed."; exit 0; fi; \
	set -x; $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not long" $(QUICK) $(ARGS) $$chosen

test-pythons: ## run the tests on each Python that is installed, 3.11 to 3.14, each in a .venv of its own
	@sh .ci/pythons

newest:
	@sh .ci/pythons newest

test-all: $(VENV)/.stamp-dev peers ## all tests, also with other projects' programs; BROWSER=1: and those in a browser
	$(if $(BROWSER),@$(HAS_CHROMIUM))
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(if $(BROWSER),-m "browser or not browser") $(ARGS)

HAS_CHROMIUM := { command -v chromium-headless-shell || command -v chromium || command -v chromium-browser; } >/dev/null || { echo "There is no Chromium: sudo apt-get install chromium-headless-shell"; exit 1; }

test-shuffled: ## all tests in a shuffled order; it prints the seed, and SEED=… repeats it
	@$(MAKE) test-all ARGS="--shuffle $${SEED:-`date +%s`} $(ARGS)"

PEERS := gammu gammu-smsd smstools kannel kannel-extras nodejs php-cli php-curl default-jdk-headless openssl nginx-light caddy logrotate gcc libc6-dev osmo-msc osmo-hlr osmo-stp osmo-mgw postfix prometheus-alertmanager postgresql pgbouncer dbus mosquitto
# What Nagios recommends is thirty packages (Samba, rpcbind), which no test uses; ModemManager's is polkit.
LEAN := nagios4-core modemmanager
.PHONY: peers
peers: ## install, as root, the Debian packages that the tests talk to
	@PATH="$$PATH:/usr/sbin"; has() { command -v gammu && command -v gammu-smsd && command -v smsd && command -v bearerbox && test -x /usr/lib/kannel/test/test_http && command -v node && command -v javac && command -v openssl && command -v nginx && command -v caddy && command -v logrotate && command -v gcc && command -v osmo-msc && command -v osmo-hlr && command -v osmo-stp && command -v osmo-mgw && command -v postfix && command -v prometheus-alertmanager && command -v nagios4 && ls /usr/lib/postgresql/*/bin/initdb && command -v pgbouncer && command -v ModemManager && command -v dbus-daemon && command -v mosquitto && php -r 'exit(function_exists("curl_init") ? 0 : 1);'; } >/dev/null; \
	get() { DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get $$1 -qq -y $$2; } >/dev/null 2>&1; \
	all() { get install "$(PEERS)" && get install "--no-install-recommends $(LEAN)"; }; \
	if ! has && test "`id -u`" = 0 && command -v apt-get >/dev/null; then \
	echo "Installing $(PEERS) $(LEAN) …"; all || { get update; all; } || true; fi; \
	has || echo "NOT TRIED: some of these packages are missing, so the tests that need them are skipped: sudo apt-get install $(PEERS) $(LEAN)" >&2

WORLDS ?= 500
LENGTH = $(if $(HOURS),--hours $(HOURS),--worlds $(WORLDS))
worlds: $(VENV)/.stamp-dev ## play many whole histories in which anything goes wrong; WORLDS=… or HOURS=…
	PYTHONPATH=.:tests/support nice $(BIN)/python -m proofs.worlds --write --command "make worlds $(if $(HOURS),HOURS=$(HOURS),WORLDS=$(WORLDS))" $(LENGTH) $(ARGS)

world: $(VENV)/.stamp-dev ## play one history and print it: PLAN="SEED …", as a failed one printed it
	PYTHONPATH=.:tests/support $(BIN)/python -m proofs.worlds --plan "$(PLAN)"

soak: worlds kills timing steady ## run all that takes long: histories, kills, timing, a steady hour

.PHONY: worlds world tamperings pair
RIG := RISALA_TESTS_EXEC=1 PYTHONPATH=.:tests/support nice $(BIN)/python -m
KILLS ?= 200
tamperings: $(VENV)/.stamp-dev ## tamper with audit trails a thousand times, and check a million lines
	TAMPERINGS=1000 CHAIN_LINES=1000000 RISALA_TESTS_EXEC=1 nice $(BIN)/python -m pytest -q -s tests/engine/rules/trail tests/engine/journal/audit/test_check.py $(ARGS)

kills: $(VENV)/.stamp-dev ## kill the real process under load from all kinds of callers; KILLS=… sets how often
	KILLS=$(KILLS) $(RIG) proofs.crashes $(ARGS)

pair: $(VENV)/.stamp-dev ## strike two machines and a PostgreSQL with its replica, as root; KILLS=… sets how often
	KILLS=$(KILLS) $(RIG) proofs.pair $(ARGS)

MESSAGES ?= 1000
phones: $(VENV)/.stamp-dev ## send MESSAGES=… through three simulated phones with bad days, at a service that is killed
	MESSAGES=$(MESSAGES) $(RIG) proofs.phones $(ARGS)

SESSIONS ?= 10000
reverse: $(VENV)/.stamp-dev ## verify SESSIONS=… numbers by texts and calls in any order, with forwards, replays and forgeries; SEED=…
	RISALA_REVERSE_SESSIONS=$(SESSIONS) RISALA_REVERSE_SEED=$(or $(SEED),7) $(BIN)/python -m pytest -q -s -n 0 tests/engine/features/reverse/test_property.py $(ARGS)

MINUTES ?= 60
life: $(VENV)/.stamp-dev ## stop the service, reload, freeze it, start it with a long queue, load it for an hour; MINUTES=…
	MINUTES=$(MINUTES) $(RIG) proofs.life $(ARGS)

steady: $(VENV)/.stamp-dev ## only the last part of life: nothing grows under a steady load; MINUTES=…
	MINUTES=$(MINUTES) $(RIG) proofs.life --only steady $(ARGS)

guards: $(VENV)/.stamp-dev ## remove each guard from the source, and show which test fails
	PYTHONPATH=. nice $(BIN)/python -m proofs.guards $(ARGS)

.PHONY: same move
AGAINST ?= main
same: $(VENV)/.stamp-dev ## compare what this tree answers, shows and asks its database with a commit: AGAINST=…
	PYTHONPATH=.:tests/support nice $(BIN)/python -m proofs.same --against $(AGAINST) $(ARGS)

move: $(VENV)/.stamp-dev ## give modules other places, everywhere they are named: ARGS="engine.old=engine.new"
	PYTHONPATH=. $(BIN)/python -m proofs.moving $(ARGS)

.PHONY: budgets
budgets: $(VENV)/.stamp-dev ## measure the largest input of each function that gets words from outside; ARGS=--service for a whole service
	$(RIG) proofs.budgets $(ARGS)

.PHONY: pumping
pumping: $(VENV)/.stamp-dev ## play seeded attacks and honest days to guards against pumped codes; writes the table of it
	PYTHONPATH=. $(BIN)/python -m proofs.pumping $(ARGS)

.PHONY: durations
durations: $(VENV)/.stamp-dev ## measure how long `make test` takes, by folder; writes tests/DURATIONS.md
	PYTHONPATH=. $(BIN)/python -m proofs.durations $(ARGS)

coverage: $(VENV)/.stamp-dev ## measure which branches of engine and sms the tests take
	PYTHONPATH=. $(BIN)/python -m proofs.reach $(ARGS)

trust: $(VENV)/.stamp-dev ## run `make test` ten times beside busy programs: no run may fail
	PYTHONPATH=. $(BIN)/python -m proofs.trust $(ARGS)

timing: $(VENV)/.stamp-dev ## measure whether the time of an answer shows how near a guess was
	PYTHONPATH=. $(BIN)/python -m proofs.timing --write $(ARGS)

faults: $(VENV)/.stamp-dev peers ## cause everything that can go wrong on a machine, one at a time; writes the table of it
	PYTHONPATH=. $(BIN)/python -m proofs.faults $(ARGS)

.PHONY: fuzz
SECONDS ?= 60
fuzz: $(VENV)/.stamp-dev $(VENV)-fuzz/.stamp ## send hostile octets to every input, guided by coverage; SECONDS=… for each input
	PYTHONPATH=. nice $(BIN)/python -W ignore -m proofs.fuzz --seconds $(SECONDS) $(ARGS)

$(VENV)-fuzz/.stamp: proofs/fuzz/requirements.lock | $(VENV)/bin/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --target $(VENV)-fuzz --require-hashes -r $<
	@touch $@

mutants: $(VENV)/.stamp-dev $(VENV)-mutants/.stamp ## make small changes to the source, and show which no test notices; ARGS="sms" for a part
	PYTHONPATH=. nice -n 15 $(BIN)/python -m proofs.mutants --tools $(VENV)-mutants $(ARGS)

$(VENV)-mutants/.stamp: proofs/mutants/requirements.lock | $(VENV)/bin/python
	@$(PYTHON) -m venv $(VENV)-mutants
	@$(VENV)-mutants/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

.PHONY: browser-test mutants kills phones reverse life steady guards coverage trust timing faults
browser-test: $(VENV)/.stamp-dev ## test the pages and the example page in a real browser
	@$(HAS_CHROMIUM)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m browser tests/browser $(ARGS)

.PHONY: pictures
pictures: $(VENV)/.stamp-dev ## take the pictures of the first page and of the dashboard's tutorial again, while their tests go through both
	RISALA_PICTURES=docs $(BIN)/python -m pytest -m browser tests/browser/test_first_page.py tests/browser/test_tutorials.py -k "the_first or the_carriers or the_dashboard"

.PHONY: clicks
clicks: $(VENV)/.stamp-dev ## count what a person presses, types and reads for 21 tasks of the pages
	@$(HAS_CHROMIUM)
	PYTHONPATH=. $(BIN)/python -m proofs.clicks $(ARGS)

.PHONY: challenges
challenges: $(VENV)/.stamp-dev ## measure how long a slow phone works at a challenge of the default difficulty
	@$(HAS_CHROMIUM)
	PYTHONPATH=. $(BIN)/python -m proofs.challenges $(ARGS)

lint: $(VENV)/.stamp-dev ## check style, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(VENV)/.stamp-dev ## let ruff fix and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: bench-scale bench-peers flame
bench: $(VENV)/.stamp-dev ## measure speed, as ratios within one run; ARGS="--against COMMIT": before and after
	PYTHONPATH=. $(BIN)/python -m benchmarks $(ARGS)

bench-scale: $(VENV)/.stamp-dev ## measure what a message costs among millions of others
	PYTHONPATH=. $(BIN)/python -m benchmarks.scale $(ARGS)

bench-peers: $(VENV)/.stamp-dev $(VENV)-peers/.stamp ## measure Kannel, and FastAPI with SQLite, under the same load
	PYTHONPATH=. $(BIN)/python -m benchmarks.peers $(ARGS)

$(VENV)-peers/.stamp: benchmarks/peers/requirements.lock | $(VENV)/bin/python
	@$(PYTHON) -m venv $(VENV)-peers
	@$(VENV)-peers/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

flame: $(VENV)/.stamp-dev ## draw where the time of a loaded service goes, in build/
	PYTHONPATH=. $(BIN)/python -m benchmarks.flame $(ARGS)

.PHONY: docs
docs: $(VENV)/.stamp-dev ## make a site of the pages of docs/, in build/docs; every warning is an error
	$(BIN)/python -m sphinx --quiet --fresh-env --fail-on-warning --keep-going --nitpicky -c docs -d build/doctrees . build/docs
	@echo "The site is build/docs/index.html. `grep -c . build/docs/external-links.txt` links to other hosts were not tried: build/docs/external-links.txt"

vendor: ## fetch the files of other projects that browsers get (needs npm)
	@$(PYTHON) .ci/vendor

.PHONY: client generated
client: $(VENV)/.stamp-dev ## write the client for threads and the page of both; copy the JavaScript client that is served
	$(BIN)/python clients/python/make_synchronous.py
	$(BIN)/ruff format --quiet src/risala/client
	$(BIN)/python clients/python/make_reference.py docs/reference/python-client.md
	cp clients/javascript/risala.js src/risala/http/static/clients/risala.js

generated: client ## write each generated file again, except the locks
	$(BIN)/python -m risala.config.document docs/reference/configuration.md
	$(BIN)/python -m risala.plugins.document docs/reference
	$(BIN)/python -m risala.drivers.http.document docs/reference/http-driver.md
	PYTHONPATH=. $(BIN)/python -m proofs.operations docs/reference/operations.md
	PYTHONPATH=. $(BIN)/python -m proofs.authorization
	PYTHONPATH=. $(BIN)/python -m proofs.reference
	PYTHONPATH=. $(BIN)/python -m proofs.settings
	PYTHONPATH=. $(BIN)/python -m proofs.modems
	PYTHONPATH=. $(BIN)/python -m proofs.members
	$(BIN)/python -m risala.http.api.openapi.skill docs/reference/skill.md
	PYTHONPATH=. $(BIN)/python -m proofs.findings
	PYTHONPATH=. $(BIN)/python -m proofs.views
	@RISALA_WRITE=1 $(BIN)/python -m pytest -q -n 0 tests/engine/upkeep/test_deploy.py -k list_of_metrics
	@$(BIN)/python -m risala.http.web.collect

messages: $(VENV)/.stamp-dev ## collect the pages' sentences, and say which are not translated yet
	@$(BIN)/python -m risala.http.web.collect

.PHONY: sbom dependencies
sbom: $(VENV)/.stamp-dev $(VENV)-supply/.stamp ## list what the product is made of, as CycloneDX, in dist/
	@PYTHONPATH=. $(BIN)/python -m proofs.supply.sbom dist/risala.cdx.json
	@$(VENV)-supply/bin/python proofs/supply/valid.py dist/risala.cdx.json

dependencies: sbom ## check that list for known vulnerabilities; ADVISORIES=FOLDER has a copy of an advisory database
	@PYTHONPATH=. $(VENV)-supply/bin/python -m proofs.supply.audit dist/risala.cdx.json $(ADVISORIES)

$(VENV)-supply/.stamp: proofs/supply/requirements.lock | $(VENV)/bin/python
	@$(PYTHON) -m venv $(VENV)-supply
	@$(VENV)-supply/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

.PHONY: dist bundle deb container release develop
dist: $(VENV)/.stamp-dev $(VENV)-supply/.stamp ## build the wheel and the sdist, in dist/, and check what they say of themselves
	$(BIN)/python -m hatchling build -t sdist -t wheel -d dist
	$(VENV)-supply/bin/python -m twine check --strict dist/risala-`$(BIN)/python -c 'import risala; print(risala.__version__)'`[.-]*

# Debian's own Python, whatever else is in the path: the package depends on it.
DEB_PYTHON ?= /usr/bin/python3
deb: ## build the Debian package for this machine's Debian and processor, in dist/
	@PYTHONPATH=. $(DEB_PYTHON) -B -m deploy.debian.build $(ARGS)

.PHONY: machine-test
machine-test: $(VENV)/.stamp-dev ## try the Debian package, and the way to the first message, on real machines in qemu; BASE=COMMIT
	PYTHONPATH=. nice -n 15 $(BIN)/python -m proofs.machine --write $(ARGS)

.PHONY: one-line
one-line: $(VENV)/.stamp-dev ## install the packages of dist/ by one line on bare systems in containers, and take them away, as root
	PYTHONPATH=. nice $(BIN)/python -m proofs.one_line --write $(ARGS)

# Compiled here, by hashes that are not looked at: the first start would else do it, and unpacking changes dates.
BUNDLE := build/bundle/site
bundle: dist ## build dist/risala.pyz, one file that runs wherever this Python is, and try it
	rm -rf build/bundle
	$(PIP) --target $(BUNDLE) --no-compile --require-hashes -r requirements.lock
	test "$$(uname -m)" != x86_64 -a "$$(uname -m)" != aarch64 || $(PIP) --target $(BUNDLE) --no-compile --no-deps --require-hashes -r requirements-standby.lock
	$(PIP) --target $(BUNDLE) --no-compile --no-deps --no-index dist/risala-`$(BIN)/python -c 'import risala; print(risala.__version__)'`-py3-none-any.whl
	$(BIN)/python -m compileall -q -s $(BUNDLE) --invalidation-mode unchecked-hash $(BUNDLE)
	$(VENV)-supply/bin/shiv --reproducible --compressed --preamble deploy/bundle/preamble.py --site-packages $(BUNDLE) -c risala -o dist/risala.pyz
	@PYTHONPATH=. $(BIN)/python -m deploy.bundle.trial dist/risala.pyz

container: dist sbom ## build an image with podman or docker, from dist/; ARGS="--base IMAGE": from another Debian
	@PYTHONPATH=. $(BIN)/python -m deploy.container.build $(ARGS)

release: $(VENV)/.stamp-dev ## make the release VERSION=…: commit, packages, signatures, tag; KEY=FINGERPRINT PUBLIC=https://… REGISTRY=…
	@PYTHONPATH=. $(BIN)/python -m deploy.release $(VERSION) --key "$(KEY)" --public "$(PUBLIC)" --registry "$(REGISTRY)" $(ARGS)

.PHONY: packages sign
packages: $(VENV)/.stamp-dev ## build the package for each Debian and Ubuntu, amd64 and arm64, as root; ARGS="--only trixie"
	@PYTHONPATH=. $(BIN)/python -m deploy.release.packages $(ARGS)

sign: $(VENV)/.stamp-dev ## sign the release in dist/ once more, before its signatures are no longer valid: KEY=FINGERPRINT
	@PYTHONPATH=. $(BIN)/python -m deploy.release.sign "$(KEY)"

develop: $(VENV)/.stamp-dev ## after a release: make the commit from which on the source becomes VERSION=…
	@PYTHONPATH=. $(BIN)/python -m deploy.release.develop $(VERSION)

lock: ## write the hashed locks again from pyproject.toml
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/pip install --quiet uv
	$(VENV)-lock/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --python-version 3.11 --extra build pyproject.toml -o requirements.lock
	$(VENV)-lock/bin/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --python-version 3.11 --extra build --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock
	mkdir -p build
	(sed -n 1p requirements-standby.lock; awk '/^[^ ]/ {on = /^psycopg/} on' requirements-dev.lock) >build/standby.lock
	mv build/standby.lock requirements-standby.lock
	(sed -n 1p requirements-pdf.lock; awk '/^[^ ]/ {on = /^(defusedxml|fonttools|fpdf2|pillow|uharfbuzz)==/} on' requirements-dev.lock) >build/pdf.lock
	mv build/pdf.lock requirements-pdf.lock
	rm -rf $(VENV)-lock

changelog: $(VENV)/.stamp-dev ## fold the fragments of changes/ into CHANGELOG.md
	$(BIN)/towncrier build

DAILY := serve test lint format generated same docs
help: ## list the targets, the daily ones first
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F '\t' -v daily='$(DAILY)' \
	'{ names[NR] = $$1; says[$$1] = $$2 } \
	END { n = split(daily, first, " "); for (i = 1; i <= n; i++) { print first[i] FS says[first[i]]; delete says[first[i]] } \
	print ""; for (i = 1; i <= NR; i++) if (names[i] in says) print names[i] FS says[names[i]] }' | expand -t 16

.PHONY: help
clean: ## remove the environments, all caches, build and dist
	rm -rf $(VENV) $(VENV)-peers $(VENV)-supply $(VENV)-fuzz $(VENV)-mutants build .mypy_cache .ruff_cache .pytest_cache .hypothesis dist

$(VENV)/.stamp: pyproject.toml requirements.lock
	@sh .ci/venv "$(PYTHON)" "$(VENV)"
	@echo "Installing what Risala needs into $(VENV), once: a minute or two …"
	@$(INSTALL) requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.stamp-dev: pyproject.toml requirements-dev.lock
	@sh .ci/venv "$(PYTHON)" "$(VENV)"
	@echo "Installing Risala and its test tools into $(VENV) …"
	@$(INSTALL) requirements-dev.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.stamp
