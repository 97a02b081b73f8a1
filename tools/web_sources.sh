#!/usr/bin/env bash
# web/sources.sha256: the sums of what the committed pages in web/built are made of, and of the pages themselves.
# Usage: tools/web_sources.sh note     writes it, from what the compiler read for the module (after tools/build_wasm.sh)
#        tools/web_sources.sh check    is web/built what these sources gave? Needs neither npm nor emscripten
set -euo pipefail
cd "$(dirname "$0")/.."
list=web/sources.sha256

# Of the pages and their build.
pages() {
  find web/src web/wasm -path web/wasm/built -prune -o -type f -print
  printf '%s\n' web/*.html web/package.json web/package-lock.json web/tsconfig.json web/vite.config.js
  printf '%s\n' tools/build_wasm.sh tools/build_web.sh tests/device/wasm/same_bytes.cpp
}
# What the module's own rules would compile of this tree, found as CMake finds it: by the folders of sotto_part() and what it
# leaves out. One that is not noted came after the module was made.
compiled() {
  local rules=web/wasm/CMakeLists.txt parts without
  parts=$(sed -n 's/^sotto_part([a-z_]* "\([^"]*\)".*/\1/p' "$rules" | paste -s -d '|')
  without=$(sed -n 's/.*list(FILTER found EXCLUDE REGEX "\([^"]*\)").*/\1/p' "$rules" | sed 's/\\\\/\\/g' | paste -s -d '|')
  if [ -z "$parts" ] || [ -z "$without" ]; then
    echo "$rules has no sotto_part() that can be read here" >&2
    return 1
  fi
  find src -name '*.cpp' | sed 's|^|/|' | grep -E "^/src/($parts)" | grep -vE "$without" | sed 's|^/||'
}
# Of the module: the files of this tree that its objects were compiled from, schemas instead of what is made of them.
module() {
  printf '%s\n' proto/*.fbs
  ninja -C build/wasm/cmake -t deps | awk -v root="$PWD/" '
    /^[^ ]/ { ours = $1 ~ /^CMakeFiles\/sotto_/ }
    /^ / && ours { print }' | sed 's/^ *//' | (cd build/wasm/cmake && xargs realpath --) |
    sed -n "s|^$PWD/||p" | grep -E '^(src|web/wasm)/' | grep -v '^web/wasm/built/'
}

case "${1:-}" in
note)
  { pages; module; printf '%s\n' web/built/*; } | LC_ALL=C sort -u | xargs sha256sum -- >"$list.new"
  mv "$list.new" "$list"
  echo "web: $(wc -l <"$list") files are noted in $list"
  ;;
check)
  if ! wrong=$(sha256sum --check --quiet "$list" 2>/dev/null); then
    echo "web/built is not what its sources give: run 'make web' and commit what changed" >&2
    echo "$wrong" >&2
    exit 1
  fi
  of_module=$(compiled)
  unnoted=$({ pages; printf '%s\n' web/built/* "$of_module"; } | LC_ALL=C sort -u | comm -23 - <(sed 's/^[^ ]*  //' "$list" | LC_ALL=C sort))
  if [ -n "$unnoted" ]; then
    echo "web/built was made without these: run 'make web' and commit what changed" >&2
    echo "$unnoted" >&2
    exit 1
  fi
  echo "web: web/built is current"
  ;;
*)
  sed -n '2,4p' "$0" >&2
  exit 2
  ;;
esac
