#!/usr/bin/env bash
# tools/quality_table.sh on a small data set: every run once, nothing twice, one row per model and baseline.
#   quality_table_test.sh SOURCE_DIR SOTTO
set -euo pipefail
source=$1 sotto=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "quality_table_test: $1" >&2; exit 1; }

"$sotto" data generate newsroom --users 40 --out "$work/data" --quiet >/dev/null
table() {
  "$source/tools/quality_table.sh" --sotto "$sotto" --data "$work/data" --results "$work/results.jsonl" --models 'nrms fm' \
    --seeds '1 2' --rates '0.001 0.01' --rounds 4 --evaluate-every 2 --set word_size=8 --set heads=2 --set head_size=4 \
    --set pooling_size=4 --set batch=16 "$@" 2>>"$work/log"
}

first=$(table) || { cat "$work/log" >&2; fail 'the first call failed'; }
# Two rates with the first seed, the better one with the second: three runs of each model.
[ "$(wc -l <"$work/results.jsonl")" -eq 6 ] || fail "6 runs expected: $(cat "$work/results.jsonl")"
[ -z "$(ls -A "$work/results.jsonl.runs")" ] || fail 'finished runs must be removed'
for row in nrms fm popularity random; do
  [ "$(grep -c "^| $row |" <<<"$first")" -eq 1 ] || fail "no row of $row in: $first"
done
grep -q '^| random | 50.00 |' <<<"$first" || fail "random order has AUC 50: $first"
grep -q '^| nrms | [0-9.]* ± [0-9.]* | .* | 2 |$' <<<"$first" || fail "mean and error of two seeds: $first"
[ "$(sed 1,2d <<<"$first" | cut -d '|' -f 3 | sort -rg)" = "$(sed 1,2d <<<"$first" | cut -d '|' -f 3)" ] || fail "not sorted: $first"

# Cut the last run off, as if stopped before it: it alone is trained again.
sed -i '$d' "$work/results.jsonl"
second=$(table)
[ "$(wc -l <"$work/results.jsonl")" -eq 6 ] || fail 'the missing run must be trained again'
[ "$first" = "$second" ] || fail "a run repeated gives the same table: $first $second"
[ "$(table --table)" = "$first" ] || fail '--table prints what is finished'
# Other settings are other runs.
table --rounds 6 >/dev/null
[ "$(wc -l <"$work/results.jsonl")" -eq 12 ] || fail 'other settings must not be skipped'
