#!/usr/bin/env bash
# The comparison of benchmarks with the committed ratios fails for a clear loss alone, in the direction that each row says is
# worse, and only when three repeats agree.
#   ratios_test.sh SOURCE_DIR
set -euo pipefail
tool=$(realpath "$1")/tools/bench_ratios.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "ratios_test: $*" >&2; exit 1; }
echo '{"step": {"a step": 4.0}, "private": {"a round": 1.2}}' >ratios.json
# measured BETTER BENCH NAME RATIO...: one repeat for each ratio
measured() {
  local better=$1 bench=$2 name=$3 repeat=0
  shift 3
  for ratio in "$@"; do
    repeat=$((repeat + 1))
    printf '{"bench":"%s","repeat":%d,"name":"%s","ours":1,"baseline":2,"ratio":%s,"unit":"s","against":"it","goal":"","note":"","better":"%s"}\n' \
      "$bench" "$repeat" "$name" "$ratio" "$better"
    printf '{"bench":"%s","repeat":%d,"event":"memory","peak_bytes":%d}\n' "$bench" "$repeat" $((repeat * 1000))
  done >lines
}
passes() { python3 "$tool" lines --out out.json --compare ratios.json >out 2>err || fail "$1: $(cat err)"; }
fails() {
  if python3 "$tool" lines --out out.json --compare ratios.json >out 2>err; then fail "$1 passes"; fi
  grep -qF 'a clear loss' err || fail "$1: $(cat err)"
}
measured larger step 'a step' 3.3 3.9 3.1
passes 'a ratio a fifth below'
measured larger step 'a step' 2.9 3.0 2.8
fails 'a ratio of 3.0 instead of 4.0'
measured larger step 'a step' 2.0 3.6 2.1
passes 'one repeat of three as good as before'
measured larger step 'a step' 2.0 2.0
passes 'two repeats alone'
measured larger step 'a step' 9 9 9
passes 'a gain'
measured smaller private 'a round' 1.7 1.6 1.8
fails 'a private round that takes 1.6 times instead of 1.2'
measured smaller private 'a round' 0.7 0.6 0.8
passes 'a private round that became quicker'
measured larger step 'another step' 0.1 0.1 0.1
passes 'what nobody committed'
grep -q '"step": 3000' out.json || fail 'no peak memory in the JSON'
for key in date machine cores spread; do grep -q "\"$key\"" out.json || fail "no $key in the JSON"; done
python3 "$tool" lines --out out.json --commit ratios.json >out
measured larger step 'another step' 0.05 0.05 0.05
fails 'half of what was committed'
: >lines
if python3 "$tool" lines --out out.json --compare ratios.json >out 2>err; then fail 'nothing measured passes'; fi
echo 'clear losses fail, everything else passes'
