#!/usr/bin/env bash
# Every benchmark of 'sotto bench --list', several times, as one JSON file with machine, date and limits, compared with the
# committed ratios (bench/ratios.json): a clear loss ends it with 1.
# tools/bench.sh [--sotto FILE] [--repeats N] [--only NAME,NAME] [--device cpu|cuda] [--out FILE] [--commit]
#   --commit: writes the ratios measured into bench/ratios.json instead of comparing with them
set -euo pipefail
cd "$(dirname "$0")/.."
sotto=build/release/sotto repeats=3 only="" device=cpu out=build/bench.json compare=(--compare bench/ratios.json)
while [ $# -gt 0 ]; do
  case "$1" in
    --sotto) sotto=$2 && shift 2 ;;
    --repeats) repeats=$2 && shift 2 ;;
    --only) only=$2 && shift 2 ;;
    --device) device=$2 && shift 2 ;;
    --out) out=$2 && shift 2 ;;
    --commit) compare=(--commit bench/ratios.json) && shift ;;
    *) echo "bench: unknown '$1'; see the head of tools/bench.sh" >&2 && exit 2 ;;
  esac
done
[[ $repeats =~ ^[1-9][0-9]*$ ]] || { echo "bench: --repeats '$repeats': it must be a number from 1" >&2; exit 2; }
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
mapfile -t names < <("$sotto" --json bench --list | sed -nE 's/.*"name":"([a-z]+)".*/\1/p')
[ ${#names[@]} -gt 0 ] || { echo "bench: $sotto lists no benchmark" >&2; exit 1; }
for wanted in ${only//,/ }; do
  [[ " ${names[*]} " == *" $wanted "* ]] || { echo "bench: no benchmark '$wanted' among: ${names[*]}" >&2; exit 2; }
done
for name in "${names[@]}"; do
  [ -z "$only" ] || [[ ,$only, == *,$name,* ]] || continue
  flags=()
  if [ "$device" != cpu ]; then
    [[ $name == limits || $name == private || $name == blind ]] || continue # the others have no card
    flags=(--device "$device")
  fi
  for ((repeat = 1; repeat <= repeats; ++repeat)); do
    echo "$name, $repeat of $repeats" >&2
    "$sotto" --quiet --json bench "$name" "${flags[@]}" | sed "s/^{/{\"bench\":\"$name\",\"repeat\":$repeat,/" >>"$lines"
  done
done
python3 tools/bench_ratios.py "$lines" --device "$device" --out "$out" "${compare[@]}"
