#!/usr/bin/env bash
# The defences that a release binary must have, read off the file: tools/check_hardening.sh BINARY...
set -euo pipefail
wrong=0
for binary in "$@"; do
  lacks() { echo "$binary: $1"; wrong=1; }
  header=$(readelf -hW "$binary")
  segments=$(readelf -lW "$binary")
  dynamic=$(readelf -dW "$binary")
  symbols=$(readelf --dyn-syms -W "$binary")
  grep -q 'Type: *DYN' <<<"$header" || lacks 'not position independent (-pie)'
  grep -q GNU_RELRO <<<"$segments" || lacks 'relocations stay writable (-z relro)'
  grep -qE 'BIND_NOW|FLAGS_1.*NOW' <<<"$dynamic" || lacks 'symbols are bound lazily, so their table stays writable (-z now)'
  grep -E 'GNU_STACK' <<<"$segments" | grep -q 'RWE' && lacks 'the stack is executable'
  grep -E 'LOAD' <<<"$segments" | grep -q 'RWE' && lacks 'a segment is writable and executable'
  grep -qE '(TEXTREL)' <<<"$dynamic" && lacks 'code is relocated'
  grep -qE '(RPATH|RUNPATH)' <<<"$dynamic" && lacks 'libraries are looked for in a folder of the build'
  grep -q '__stack_chk_fail' <<<"$symbols" || lacks 'no stack protector (-fstack-protector-strong)'
  # Both kinds are there when all is compiled so: a library that is linked in may bring one of them by itself.
  for kind in '__(mem|str)[a-z]*_chk' '__v?(f|s|sn)?printf_chk'; do
    grep -qE " $kind(@|$)" <<<"$symbols" || lacks "no checked library calls ($kind: _FORTIFY_SOURCE)"
  done
  # These are always replaced, so that one file compiled without is seen. (Not vsnprintf, whose address libstdc++ takes.)
  for call in printf fprintf sprintf snprintf; do
    grep -qE " UND $call(@|$)" <<<"$symbols" && lacks "calls $call unchecked: some file was compiled without _FORTIFY_SOURCE"
  done
  grep -q '__glibcxx_assert_fail' <<<"$symbols" || lacks 'no bounds checks of libstdc++ (_GLIBCXX_ASSERTIONS)'
  # The mark of the whole binary needs start files that Debian compiles without: count the landing places of calls.
  if grep -q 'X86-64' <<<"$header" && [ "$(LC_ALL=C grep -aoF $'\xf3\x0f\x1e\xfa' "$binary" | wc -l)" -lt 1000 ]; then
    lacks 'no control-flow protection (-fcf-protection)'
  fi
done
exit $wrong
