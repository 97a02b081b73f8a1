#!/usr/bin/env bash
# The tests of the committed pages in Chromium. PICTURES=DIR keeps screenshots there; ONLY=NAME,NAME runs tests/NAME.test.mjs.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/web_sources.sh check
if [ -n "${PICTURES:-}" ]; then
  mkdir -p "$PICTURES"
  SOTTO_PICTURES=$(realpath "$PICTURES")
  export SOTTO_PICTURES
fi
cd web
npm install --no-save --silent --no-progress # as the lock says
npx tsc --noEmit
tests=(tests/*.test.mjs)
if [ -n "${ONLY:-}" ]; then
  IFS=, read -ra names <<<"$ONLY"
  tests=("${names[@]/#/tests/}")
  tests=("${tests[@]/%/.test.mjs}")
fi
node --test --test-concurrency=1 "${tests[@]}"
