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
if [ -e "$prefix/include/sotto/transport/http_transport.h" ]; then
  cmake -S "$source/examples/reader" -B "$work/reader" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" >"$work/log" 2>&1 ||
    { cat "$work/log"; fail 'find_package(sotto) with sotto::transport failed'; }
  cmake --build "$work/reader" >"$work/log" 2>&1 || { cat "$work/log"; fail 'the device example does not build'; }
  if said=$("$work/reader/reader" "$work/reader-device" https://localhost:1 /dev/null 2>&1); then fail "nobody listens there: $said"; fi
fi
shown=$("$work/example/round_cost" "$work/device")
grep -q 'bits an entry, epsilon' <<<"$shown" || fail "the example says: $shown"
