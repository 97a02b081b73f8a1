#!/usr/bin/env bash
# A private training that is killed outright, again and again, goes on with --resume: of every round that reached the
# disk there is one line, as it was, so that none was drawn and released twice.
#   killed_training_test.sh SOTTO
set -euo pipefail
sotto=$(realpath "$1")
work=$(mktemp -d)
running=
end() {
  [ -z "$running" ] || kill -KILL "$running" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
cd "$work"
fail() { echo "killed_training_test: $*" >&2; exit 1; }
lines() { if [ -f run/log.jsonl ]; then wc -l <run/log.jsonl; else echo 0; fi; }

# LINES COMMAND...: kill -9 once the log has so many lines.
kill_behind() {
  local enough=$1
  shift
  "$sotto" "$@" >out 2>err </dev/null &
  running=$!
  for _ in $(seq 6000); do
    [ "$(lines)" -ge "$enough" ] && break
    [ -d "/proc/$running" ] || fail "the training ended before $enough rounds: $(tail -n 3 err)"
    sleep 0.01
  done
  kill -KILL "$running"
  wait "$running" 2>/dev/null && fail 'the training ended before it was killed: give it more rounds'
  running=
  [ "$(lines)" -ge "$enough" ] || fail "a minute was too short for $enough rounds: $(tail -n 3 err)"
  # The last line may be torn: what is whole was released.
  grep -E '^\{.*\}$' run/log.jsonl >released || fail "no whole line in: $(cat run/log.jsonl)"
}
kept() {
  cmp -s released <(head -n "$(wc -l <released)" run/log.jsonl) ||
    fail "rounds that were released have other numbers now: $(diff released run/log.jsonl | head -n 4)"
}

"$sotto" --quiet data generate newsroom --users 200 --news 200 --days 3 --out news >out 2>err || fail "no data: $(cat err)"
rounds=400
training=(train sotto --data news --out run --rounds "$rounds" --epsilon 200 --test-impressions 20 --set vector_size=4
  --set cohort=20 --set personal_steps=0 --set learning_rate=0.001)
for every in 1 4; do
  rm -rf run
  kill_behind 2 "${training[@]}" --set checkpoint_every="$every"
  kill_behind $(($(wc -l <released) + 9)) "${training[@]}" --resume # and where it goes on
  kept
  "$sotto" --quiet "${training[@]}" --resume >out 2>err || fail "the last part failed: $(tail -n 3 err)"
  kept
  grep -oE '"round":[0-9]+' run/log.jsonl | cut -d: -f2 | cmp -s - <(seq "$rounds") ||
    fail "not one line of every round: $(grep -oE '"round":[0-9]+' run/log.jsonl | cut -d: -f2 | uniq -d | head -n 3)"
  grep -qF '"simulation":null' run/privacy.json || fail 'the run calls itself a simulation'
done
