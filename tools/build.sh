#!/usr/bin/env bash
# Configures (when needed) and builds a preset: tools/build.sh PRESET [TARGET...]. Quiet when nothing is to do.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift
folder=build/$preset
if [ ! -f "$folder/build.ninja" ]; then
  echo "build: configuring $folder"
  log=$(mktemp)
  if ! cmake --preset "$preset" >"$log" 2>&1; then
    grep -A3 -E 'CMake Error|missing' "$log" >&2 || tail -n 20 "$log" >&2
    rm -f "$log" "$folder/build.ninja"
    echo "build: configuring failed" >&2
    exit 1
  fi
  rm -f "$log"
fi
# A torch translation unit takes up to 1.2 GB: no more jobs than memory allows.
memory_jobs=$(awk '/MemAvailable/ {j = int($2 / 1500000); print (j < 1) ? 1 : j}' /proc/meminfo)
jobs=$(nproc)
[ "$memory_jobs" -lt "$jobs" ] && jobs=$memory_jobs
# Progress on a terminal; in a log one line before the first, long build. Nothing when nothing is to do.
[ -f "$folder/.ninja_log" ] || echo "build: compiling into $folder with $jobs jobs (minutes the first time)"
style=(--quiet)
[ -t 1 ] && style=()
NINJA_STATUS='[%f/%t] ' ninja -C "$folder" "${style[@]}" -j "$jobs" "$@" > >(grep -v 'no work to do' || true) || {
  echo "build: failed in $folder" >&2
  exit 1
}
