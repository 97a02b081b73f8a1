#!/usr/bin/env bash
# The tests of the pages in Chromium. PICTURES=DIR keeps screenshots there.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build_web.sh check
tools/build_wasm.sh same_bytes
if [ -n "${PICTURES:-}" ]; then
  mkdir -p "$PICTURES"
  SOTTO_PICTURES=$(realpath "$PICTURES")
  export SOTTO_PICTURES
fi
cd web
node --test --test-concurrency=1 tests/*.test.mjs
