# make help lists the targets. Two commands do everything on a bare Debian 12: make demo, make test.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.PHONY: help setup build demo bench test test-processes test-python test-aarch64 play web test-web docs lint analyze fuzz chaos asan tsan clean hardening install package package-test crash-test

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

setup: ## install the Debian packages that are missing
	@tools/install_packages.sh build

build: setup ## build the sotto command into build/release/sotto
	@tools/build.sh release sotto

demo: build ## generate a newsroom, train private federated recommendation, write a report
	@build/release/sotto demo

test: setup ## build everything and run every test
	@tools/build.sh release
	@ctest --test-dir build/release --output-on-failure -j 2 --timeout 600 --progress

test-processes: build ## trainings in several processes as whole commands (it does not pass yet: docs/processes.md)
	@tests/cli/processes_test.sh build/release/sotto

test-python: setup ## the Python package in a fresh virtual environment: wheel, tests, types, notebooks (needs PyPI; FROM_SOURCE=1: and 'pip install' of the sdist alone)
	@tools/install_packages.sh build python
	@tools/build.sh release sotto sotto_eval sotto_transport
	@tools/test_python.sh
	@if [ -n "$(FROM_SOURCE)" ]; then tools/test_sdist.sh build/python/dist/sotto-*.tar.gz; fi

bench: build ## every benchmark three times, compared with the committed ratios (ONLY=NAME,NAME REPEATS=n DEVICE=cuda)
	@tools/bench.sh $(if $(ONLY),--only $(ONLY)) $(if $(REPEATS),--repeats $(REPEATS)) $(if $(DEVICE),--device $(DEVICE))

play: build ## all of it at once on this machine, with the web pages
	@build/release/sotto play

web: ## the web pages and the browser's device from their sources, and that it computes as natively (npm, emscripten, Chromium)
	@tools/install_packages.sh build web wasm
	@tools/build.sh release same_bytes
	@tools/build_web.sh

test-web: setup ## the committed web pages in a browser (npm and Chromium; PICTURES=DIR keeps screenshots, ONLY=NAME,NAME)
	@tools/install_packages.sh build web
	@tools/build.sh release sotto
	@tools/test_web.sh

docs: ## the documents as a site with search in build/site
	@tools/install_packages.sh docs
	@tools/docs/build_site.sh

lint: ## clang-format, clang-tidy, cppcheck, shellcheck (warnings are errors)
	@tools/install_packages.sh build lint
	@tools/lint.sh

analyze: ## clang's static analyser over the modules without torch (slow)
	@tools/install_packages.sh build lint
	@tools/lint.sh analyze

hardening: build ## check the release binaries for the compiler's and linker's defences
	@tools/check_hardening.sh build/release/sotto build/release/libexec/sotto-trainer && echo "hardening: all defences are in place"

fuzz: ## run every fuzz target for 30 s (SECONDS_EACH=n), until all ran EXECUTIONS=n inputs, JOBS=n at once (ONLY="NAME NAME")
	@tools/install_packages.sh build lint
	@tools/fuzz.sh

chaos: setup ## slow, broken, hostile and normal clients against one server (SEED=n SECONDS_IN_ALL=n)
	@tools/build.sh release chaos_http
	@build/release/tests/chaos_http $${SEED:-20240229} $${SECONDS_IN_ALL:-60}

crash-test: setup ## kill coordinator and devices a hundred times each while rounds go on (SEED=n)
	@tools/build.sh release crash_rounds
	@build/release/tests/crash_rounds $${SEED:-20240229} 100 100

test-aarch64: setup ## the device library and its tests for 64-bit ARM, by qemu-user (adds the architecture arm64 to dpkg)
	@tools/install_packages.sh build aarch64
	@tools/test_aarch64.sh

asan: ## every test under AddressSanitizer and UBSan, line coverage as build/asan/coverage/index.html
	@tools/install_packages.sh build lint
	@tools/build.sh asan
	@tools/sanitize.sh

tsan: setup ## the tests of the threaded modules under ThreadSanitizer
	@tools/sanitize_threads.sh

install: build ## install command, libraries and headers (PREFIX=DIR, /usr/local otherwise)
	@tools/build.sh release sotto sotto_device
	@cmake --install build/release --prefix "$(or $(PREFIX),/usr/local)" >/dev/null && echo "install: into $(or $(PREFIX),/usr/local)"

package: build ## a Debian package of command, trainer, device library and units in build/package
	@tools/build.sh release sotto sotto_transport
	@tools/package/build_package.sh build/release build/package

package-test: package ## install it in a new Debian, start its server, upgrade and remove it (root; minutes)
	@tools/install_packages.sh package
	@tools/package/check_package.sh "$$(ls -t build/package/*.deb | head -1)"
	@tools/package/test_in_chroot.sh "$$(ls -t build/package/*.deb | head -1)"

clean: ## remove build/
	@rm -rf build
