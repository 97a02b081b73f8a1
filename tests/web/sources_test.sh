#!/usr/bin/env bash
# The committed pages are what their sources give, and the check that says so notices every kind of change.
# Usage: sources_test.sh SOURCE_DIR
set -euo pipefail
source=$(realpath "$1")
"$source/tools/web_sources.sh" check

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cd "$source"
sed 's/^[^ ]*  //' web/sources.sha256 | tar -c -T - web/sources.sha256 tools/web_sources.sh | tar -x -C "$copy"
cd "$copy"
fail() {
  echo "sources_test: $*" >&2
  exit 1
}
notices() { # WHAT FILE: the check fails and names the file
  if tools/web_sources.sh check >said 2>&1; then fail "says nothing of $1"; fi
  grep -qF "$2" said || fail "does not name $2 for $1: $(cat said)"
  rm said
}
tools/web_sources.sh check >/dev/null || fail "a copy is not current"
for file in web/src/reader/words.ts src/device/device.h proto/serving.fbs web/reader.html web/built/reader.html; do
  [ -e "$file" ] || fail "$file is not noted"
  cp "$file" kept
  echo "// changed" >>"$file"
  notices "a change" "$file"
  mv kept "$file"
done
echo "export {}" >web/src/reader/more.ts
notices "a source that is new" web/src/reader/more.ts
rm web/src/reader/more.ts
mkdir -p src/local/more
for file in src/device/more.cpp src/local/more/kernels.cpp; do
  echo "int more();" >"$file"
  notices "a new source of the module" "$file"
  rm "$file"
done
for file in src/base/log.cpp src/secagg/server/more.cpp src/serving/more.cpp; do # which no browser compiles
  mkdir -p "$(dirname "$file")"
  echo "int more();" >"$file"
  tools/web_sources.sh check >/dev/null || fail "$file is none of the module's"
done
rm src/device/sotto_device.h
notices "a source that is gone" src/device/sotto_device.h
echo "sources_test: all well"
