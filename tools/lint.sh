#!/usr/bin/env bash
# Format, clang-tidy (modules without torch: clang does not compile torch's headers in C++20), cppcheck, shellcheck.
# With the argument 'analyze' clang's slow static analyser instead.
set -euo pipefail
cd "$(dirname "$0")/.."

style() {
  echo "lint: clang-format"
  git ls-files '*.cpp' '*.h' | xargs -r clang-format-14 --dry-run -Werror
  echo "lint: shellcheck"
  git ls-files '*.sh' .ci/run | xargs -r shellcheck
  echo "lint: cppcheck"
  # containerOutOfBounds does not follow std::min over sizes; _GLIBCXX_ASSERTIONS checks every access at run time.
  cppcheck --quiet --std=c++20 --language=c++ --enable=warning,performance,portability --inline-suppr \
    --suppress=missingIncludeSystem --suppress=unknownMacro --suppress=internalAstError --suppress=containerOutOfBounds --error-exitcode=1 -j 2 -I src -I . src bench
}

checks="" # as in .clang-tidy
if [ "${1:-}" = analyze ]; then checks="-*,clang-analyzer-*"; else style; fi

echo "lint: clang-tidy"
cmake --preset release -B build/lint -DSOTTO_TORCH=OFF -DSOTTO_PLAIN_PCH=OFF -DSOTTO_TOGETHER=OFF >/dev/null
cmake --build build/lint --target sotto_wire_headers >/dev/null
mapfile -t sources < <(git ls-files 'src/base/*.cpp' 'src/metrics/*.cpp' 'src/data/*.cpp' 'src/text/*.cpp' 'src/report/*.cpp' 'src/formats/*.cpp' 'src/privacy/*.cpp' 'src/local/*.cpp' 'src/secagg/*.cpp' 'src/rounds/*.cpp' 'src/blind/*.cpp' 'src/device/*.cpp' 'src/coordinator/*.cpp' 'src/net/*.cpp' 'src/pages/*.cpp' 'src/transport/*.cpp' 'src/fleet/*.cpp' 'src/serving/*.cpp' 'src/cli/*.cpp' 'bench/*.cpp' ':!bench/training/*' ':!bench/cuda/*')
# A file whose content, headers and checks are unchanged since its last clean run is not looked at again.
mkdir -p build/lint/clean
digest=$({ echo "$checks"; cat .clang-tidy; git ls-files -z 'src/*.h' 'bench/*.h' 'proto/*.fbs' | xargs -0 cat; } | sha256sum | cut -c1-16)
check() {
  local key
  key=build/lint/clean/$(cat "$2" <(echo "$1 $2") | sha256sum | cut -c1-32)
  [ -f "$key" ] && return 0
  clang-tidy-14 --quiet --checks="$checks" -p build/lint "$2" 2> >(grep -v 'warnings generated' >&2) && touch "$key"
}
export -f check
export digest checks
printf '%s\n' "${sources[@]}" | xargs -r -P "$(nproc)" -I{} bash -c "check \"\$digest\" {}"
