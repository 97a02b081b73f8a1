#!/usr/bin/env bash
# Installs into an empty folder, moves it, and builds and runs a program that uses the package there.
#   install_test.sh SOURCE_DIR BUILD_DIR CXX
set -euo pipefail
source=$1 build=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "install_test: $1" >&2; exit 1; }

cmake --install "$build" --prefix "$work/here" >/dev/null
mv "$work/here" "$work/there"
prefix=$work/there
if named=$(grep -rlE "$source|$build|$work/here" "$prefix"/lib*/cmake "$prefix"/lib*/*/cmake 2>/dev/null); then
  fail "$named names the place it was built or installed in"
fi
[ -n "$(find "$prefix/share" -name LICENSE)" ] || fail 'LICENSE is missing'
grep -q '^sotto ' <<<"$("$prefix/bin/sotto" --version)" || fail 'the command does not run'
if [ -e "$build/libexec/sotto-trainer" ]; then
  grep -q fedrec <<<"$("$prefix/bin/sotto" recipes)" || fail 'the installed command does not find its trainer'
fi

cmake -S "$source/examples/round_cost" -B "$work/example" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" >"$work/log" 2>&1 ||
  { cat "$work/log"; fail 'find_package(sotto) failed'; }
cmake --build "$work/example" >"$work/log" 2>&1 || { cat "$work/log"; fail 'the example does not build'; }

# What docs/sdk.md shows are these programs, line for line.
page_block() { awk -v form="$1" '$0 == "```" form {on = 1; next} /^```/ {on = 0} on' "$source/docs/sdk.md"; }
cmp <(page_block cpp) "$source/examples/reader/main.cpp" || fail 'docs/sdk.md shows another program than examples/reader'
cmp <(page_block c) "$source/examples/reader_c/main.c" || fail 'docs/sdk.md shows another program than examples/reader_c'
# What docs/start/7 says of the first one.
lines=$(awk 'on && /^}/ {exit} on {++count} /read\(/ {begun = 1} begun && /{$/ {on = 1} END {print count}' "$source/examples/reader/main.cpp")
[ "$lines" = 10 ] || fail "examples/reader is a device in $lines lines, and docs/start/7 says ten"
[ -e "$prefix/include/sotto_device.h" ] || fail 'the C header is missing'

# A device in C++ and one in C, asking a server.
if [ -e "$prefix/include/sotto/transport/http_transport.h" ]; then
  for example in reader reader_c; do
    cmake -S "$source/examples/$example" -B "$work/$example" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release >"$work/log" 2>&1 ||
      { cat "$work/log"; fail "find_package(sotto) failed for $example"; }
    cmake --build "$work/$example" >"$work/log" 2>&1 || { cat "$work/log"; fail "$example does not build"; }
    grep -q warning "$work/log" && { cat "$work/log"; fail "$example is warned about"; }
  done
  if said=$("$work/reader/reader" "$work/reader-device" https://localhost:1 /dev/null 2>&1); then fail "nobody listens there: $said"; fi
  "$prefix/bin/sotto" --json serve --synthetic 50 --catalogue "$work/items" --address 127.0.0.1 --port 0 >"$work/served" 2>"$work/err" &
  server=$!
  trap 'kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
  for _ in $(seq 600); do [ -s "$work/served" ] && break; sleep 0.1; done
  url=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$work/served" | head -1) || { cat "$work/err"; fail 'the server does not start'; }
  said=$("$work/reader/reader" "$work/in-cpp" "$url" /dev/null item-3) || fail "the device in C++ says: $said"
  grep -q 'new pack, fresh query' <<<"$said" || fail "the device in C++ says: $said"
  said=$("$work/reader_c/reader_c" "$work/in c, 's own" "$url" item-3) || fail "the device in C says: $said"
  grep -q '"source":"fresh query"' <<<"$said" || fail "the device in C says: $said"

  # What an app links: no torch, no Boost, no web server, and little of it.
  "$source/tests/install/check_closure.sh" "$work/reader_c/reader_c" || fail 'the device library links too much'
fi
shown=$("$work/example/round_cost" "$work/device")
grep -q 'bits an entry, epsilon' <<<"$shown" || fail "the example says: $shown"
