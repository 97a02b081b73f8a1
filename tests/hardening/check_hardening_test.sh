#!/usr/bin/env bash
# The check of a release binary names each defence that is missing: check_hardening_test.sh SOURCE CXX
set -euo pipefail
source=$1 cxx=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "check_hardening_test: $1" >&2; exit 1; }

cat >main.cpp <<'CODE'
#include <cstdio>
#include <cstring>
#include <vector>
int second(int count, char** words);
int main(int count, char** words) {
  char text[8];
  std::memcpy(text, words[0], static_cast<std::size_t>(count));
  const std::vector<int> numbers(static_cast<std::size_t>(count));
  std::fprintf(stderr, "%s %d", text, numbers[static_cast<std::size_t>(count) / 2]);
  return second(count, words);
}
CODE
cat >second.cpp <<'CODE'
#include <cstdio>
int second(int count, char** words) {
  char text[9];
  return std::snprintf(text, sizeof text, "%d%s", count, words[0]) + text[0];
}
CODE
compile=(-O2 -fPIE -fstack-protector-strong -U_FORTIFY_SOURCE)
link=(-pie '-Wl,-z,relro,-z,now')
build() { # NAME: from main.o and second.o
  "$cxx" "${link[@]}" main.o second.o -o "$1"
}
checked() { "$source/tools/check_hardening.sh" "$1" 2>&1 || true; }
says() { checked "$1" | grep -qF -- "$2" || fail "$1 lacks something, and the check does not say '$2': $(checked "$1")"; }

fortified=(-D_FORTIFY_SOURCE=2 -D_GLIBCXX_ASSERTIONS)
"$cxx" "${compile[@]}" "${fortified[@]}" -c main.cpp second.cpp
build whole
# So small a program has too few calls for the count of their landing places.
! checked whole | grep -qvF 'control-flow' || fail "a hardened program is called wrong: $(checked whole)"

"$cxx" "${compile[@]}" -D_FORTIFY_SOURCE=2 -c main.cpp
build without_bounds
says without_bounds 'no bounds checks of libstdc++'

"$cxx" "${compile[@]}" -D_GLIBCXX_ASSERTIONS -c main.cpp second.cpp
build without_fortify
says without_fortify 'no checked library calls'

# One file without the checks beside others that have them.
"$cxx" "${compile[@]}" "${fortified[@]}" -c main.cpp
build one_file_without_fortify
says one_file_without_fortify 'calls snprintf unchecked'

"$cxx" "${compile[@]}" -fno-stack-protector "${fortified[@]}" -c main.cpp second.cpp
build without_stack_protector
says without_stack_protector 'no stack protector'
