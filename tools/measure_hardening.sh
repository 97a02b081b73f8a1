#!/usr/bin/env bash
# What the defences of compiler and linker cost: builds bench/hardening with and without them and lets both do the same
# work in turns, so that whatever else the machine does falls on both. Prints the ratio of the quickest runs in
# processor time, and of the instructions that valgrind counts. tools/measure_hardening.sh [RUNS]
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-25}
for kind in hardened plain; do
  folder=build/$kind
  [ -f "$folder/build.ninja" ] || cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSOTTO_TORCH=OFF \
    -DSOTTO_TESTS=OFF "-DSOTTO_HARDEN=$([ "$kind" = hardened ] && echo ON || echo OFF)" >/dev/null
  ninja -C "$folder" --quiet hardening_work
done
instructions() { # FOLDER WORK
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "build/$1/bench/hardening_work" "$2" 4 2>&1 |
    sed -n 's/.*Collected : *//p'
}
printf 'work\tinstructions\tprocessor time\n'
while read -r work repeats; do
  declare -A best=([hardened]=1e9 [plain]=1e9)
  for ((run = 0; run < runs; ++run)); do
    for kind in hardened plain; do
      took=$("build/$kind/bench/hardening_work" "$work" "$repeats")
      best[$kind]=$(awk -v a="$took" -v b="${best[$kind]}" 'BEGIN {print (a < b) ? a : b}')
    done
  done
  counted=$(awk -v a="$(instructions hardened "$work")" -v b="$(instructions plain "$work")" 'BEGIN {printf "%.3f", a / b}')
  timed=$(awk -v a="${best[hardened]}" -v b="${best[plain]}" 'BEGIN {printf "%.3f", a / b}')
  printf '%s\t%s\t%s\n' "$work" "$counted" "$timed"
done <<'WORK'
noise 20
masks 40
training 30
query 20
WORK
