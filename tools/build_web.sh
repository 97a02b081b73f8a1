#!/usr/bin/env bash
# The web pages from web/src into web/built, which is committed, so that building and testing sotto need neither npm nor
# emscripten. What the module computes is compared with the native library before its sources are noted: whoever finds them
# unchanged (tools/web_sources.sh check) has what passed that.
# Two builds of the module need not have the same bytes, for clang places the ends of try blocks as addresses fall.
# Usage: tools/build_web.sh, after tools/build.sh release same_bytes
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build_wasm.sh
tools/build_wasm.sh same_bytes
cd web
npm install --no-save --silent --no-progress # as the lock says
npx tsc --noEmit
npx vite build --logLevel warn
node --test --test-concurrency=1 wasm/*.test.mjs
../tools/web_sources.sh note
echo "web: built $(du -cb built/* | tail -1 | cut -f1) bytes"
