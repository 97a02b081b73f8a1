#!/usr/bin/env bash
# Builds every fuzz target and runs each for SECONDS_EACH (default 30) seconds; stops at the first crash.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${SECONDS_EACH:-30}
tools/build.sh fuzz
for target in build/fuzz/fuzz/fuzz_*; do
  [ -x "$target" ] || continue
  name=$(basename "$target")
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  seeds=() # what once broke something, where there is any
  [ -d "fuzz/corpus/$name" ] && seeds=("fuzz/corpus/$name")
  echo "fuzz: $name for $seconds s"
  if ! "$target" -max_total_time="$seconds" -rss_limit_mb=3000 -timeout=20 -print_final_stats=1 \
    -artifact_prefix="$corpus-" "$corpus" "${seeds[@]}" >"$corpus.log" 2>&1; then
    tail -n 40 "$corpus.log" >&2
    echo "fuzz: $name failed; the input is beside $corpus" >&2
    exit 1
  fi
  grep -E 'number_of_executed_units' "$corpus.log"
done
