#!/usr/bin/env bash
# Runs every test under the sanitizers of build/asan and writes the line coverage of src/ beside it.
# A module's tests run in one process: starting each alone would load libtorch two thousand times.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=build/asan
# Leaks of libtorch's own start-up are not ours to mend; ours are looked for in the modules without it.
export UBSAN_OPTIONS=print_stacktrace=1 RC_PARAMS=${RC_PARAMS:-seed=20240229}
find "$folder" -name '*.gcda' -delete
failed=()
for binary in "$folder"/tests/test_*; do
  name=$(basename "$binary")
  echo "asan: $name"
  leaks=1
  [[ $(ldd "$binary") == *libtorch* ]] && leaks=0
  (cd "$folder/tests" && ASAN_OPTIONS=detect_leaks=$leaks:detect_stack_use_after_return=1 "./$name" --gtest_brief=1) || failed+=("$name")
done
# The rest of ctest are scripts and documents: their names begin with a small letter, those of tests in a module do not.
echo "asan: scripts and documents"
ASAN_OPTIONS=detect_leaks=0 ctest --test-dir "$folder" --output-on-failure -E '^[A-Z]' --timeout 3000 || failed+=(scripts)
mkdir -p "$folder/coverage"
gcovr --root . --filter src/ --html-details "$folder/coverage/index.html" --print-summary "$folder" || failed+=(gcovr)
[ ${#failed[@]} -eq 0 ] || { echo "asan: failed: ${failed[*]}" >&2; exit 1; }
echo "asan: all tests passed; coverage in $folder/coverage/index.html"
