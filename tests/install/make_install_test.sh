#!/usr/bin/env bash
# 'make install' builds everything it installs by itself, also where only 'make demo' was run before. Nothing is built
# here: ninja says which files the targets of its recipe bring.
# Usage: make_install_test.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
export LC_ALL=C
source=$1 build=$2
fail() { echo "make_install_test: $1" >&2; exit 1; }

recipe=$(env -u MAKEFLAGS -u MAKELEVEL make -s -C "$source" -n install PREFIX=/nowhere)
grep -q 'cmake --install build/release' <<<"$recipe" || fail "'make install' installs nothing: $recipe"
read -ra targets <<<"$(sed -n 's|.*tools/build.sh release ||p' <<<"$recipe" | tr '\n' ' ')"
[ "${#targets[@]}" -gt 0 ] || fail "'make install' builds nothing: $recipe"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ninja -C "$build" -t targets all | sed 's/: [^:]*$//' | sort >"$work/made"
{ ninja -C "$build" -t inputs "${targets[@]}"; printf '%s\n' "${targets[@]}"; } | sort -u >"$work/built"
# Ninja leaves out what is made as part of a group, as headers are, and names what that is made of.
is_built() {
  grep -qxF -- "$1" "$work/built" || [ -z "$(ninja -C "$build" -t inputs "$1" | sort -u | comm -23 - "$work/built")" ]
}
# What cmake --install copies out of the build folder, and headers that are generated there.
{
  grep -rhoE --include=cmake_install.cmake "\"$build/[^\"]+\"" "$build" | tr -d '"' | grep -v '/CMakeFiles/' || true
  find "$build/wire/proto" -name '*.h' 2>/dev/null || true
} | sed "s|^$build/||" | sort -u >"$work/installed"
count=0
while IFS= read -r file; do
  grep -qxF -- "$file" "$work/made" || continue  # was there when CMake had configured
  count=$((count + 1))
  is_built "$file" || fail "$file is installed, and '${targets[*]}' does not build it"
done <"$work/installed"
[ "$count" -ge 10 ] || fail "only $count installed files are built: $(cat "$work/installed")"
echo "$count installed files are built by '${targets[*]}'"
