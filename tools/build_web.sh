#!/usr/bin/env bash
# The web pages from web/src into web/built, which is committed, so that building sotto needs no npm.
# Usage: tools/build_web.sh          builds them
#        tools/build_web.sh check    says whether web/built is what the sources give, and changes nothing
# tools/web_sources.sh check says the same from noted sums, without npm and emscripten.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build_wasm.sh
cd web
npm install --no-save --silent --no-progress # as the lock says
npx tsc --noEmit
if [ "${1:-}" = check ]; then
  fresh=$(mktemp -d)
  trap 'rm -rf "$fresh"' EXIT
  npx vite build --logLevel warn --outDir "$fresh"
  if ! diff -rq "$fresh" built; then
    echo "web/built is not what web/src gives: run 'make web' and commit it" >&2
    exit 1
  fi
  echo "web: web/built is current"
else
  npx vite build --logLevel warn
  ../tools/web_sources.sh note
  echo "web: built $(du -cb built/* | tail -1 | cut -f1) bytes"
fi
