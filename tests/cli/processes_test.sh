#!/usr/bin/env bash
# 'sotto train' in several processes: the same bits as in one where sums are whole numbers, the same up to the order of
# addition where they are not; what cannot be shared is refused; a process that is lost ends the training with a word
# about it, and --resume goes on.
#   processes_test.sh SOTTO
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
mkdir tmp
export TMPDIR=$work/tmp
unset RANK WORLD_SIZE MASTER_ADDR MASTER_PORT
fail() { echo "processes_test: $*" >&2; exit 1; }
nothing_left() { [ -z "$(ls tmp)" ] || fail "$1 left in TMPDIR: $(ls tmp)"; }
train() { "$sotto" --quiet --threads 1 train "$@" >out 2>err </dev/null || fail "sotto train $*: $(tail -n 5 err)"; }
measures() { grep -vE '"(ended|seconds)"' "$1/result.json"; }
parameters() { # RUN: the file with them; checkpoints hold times too
  "$sotto" --quiet export "$1" --to safetensors >out 2>err || fail "export $1: $(tail -n 3 err)"
  echo "$1/export-safetensors/model.safetensors"
}
same_parameters() { cmp -s "$(parameters "$1")" "$(parameters "$2")" || fail "$1 and $2 have other parameters"; }
losses() { grep -oE '"loss":[^,]+' "$1/log.jsonl" | cut -d: -f2; }

"$sotto" --quiet data generate newsroom --users 300 --news 200 --days 3 --out news >out 2>err || fail "no data: $(cat err)"
small=(--data news --rounds 3 --test-impressions 60)
private=(sotto "${small[@]}" --epsilon 200 --reproducible --set vector_size=4 --set cohort=21 --set personal_steps=0)

for sums in law simulated; do
  train "${private[@]}" --set sums=$sums --out $sums-1
  for processes in 2 4; do
    train "${private[@]}" --set sums=$sums --out $sums-$processes --processes $processes
    same_parameters $sums-1 $sums-$processes
    cmp <(measures $sums-1) <(measures $sums-$processes) || fail "sums=$sums: $processes processes measure something else"
    [ "$(wc -l <$sums-$processes/log.jsonl)" = 3 ] || fail "$processes processes wrote more than one log"
  done
done
nothing_left 'training'

# Sums of floats: dropout=0, because it is drawn anew for every share.
floats=(fedrec "${small[@]}" --set cohort=20 --set dropout=0 --set word_size=8 --set heads=2 --set head_size=4)
train "${floats[@]}" --out floats-1
train "${floats[@]}" --out floats-2 --processes 2
paste <(losses floats-1) <(losses floats-2) | awk '{ if (($1 - $2) ^ 2 > 1e-10 * $1 ^ 2) exit 1 }' ||
  fail "two processes have other losses: $(paste <(losses floats-1) <(losses floats-2))"

# As torchrun starts them.
port=$((20000 + RANDOM % 20000))
member() { RANK=$1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port "$sotto" --quiet --threads 1 train "${@:2}" </dev/null; }
member 1 "${private[@]}" --set sums=law --out torchrun >out1 2>err1 &
running=$!
member 0 "${private[@]}" --set sums=law --out torchrun >out 2>err || fail "rank 0: $(cat err)"
wait "$running" || fail "rank 1: $(cat err1)"
running=
[ ! -s out1 ] || fail "rank 1 speaks: $(head -n 3 out1)"
same_parameters law-1 torchrun
nothing_left 'torchrun'

refused() { # TEXT ARGUMENTS...: exit code 2, the text, and no folder
  local text=$1 code=0
  shift
  "$sotto" train "$@" --out refused >out 2>err </dev/null || code=$?
  [ $code = 2 ] || fail "sotto train $* ended with $code: $(tail -n 2 err)"
  grep -qF -- "$text" err || fail "sotto train $* does not say '$text': $(cat err)"
  [ ! -e refused ] || fail "a refusal left a folder: $*"
  nothing_left "a refusal"
}
refused 'leave out --processes' central "${small[@]}" --processes 2
refused 'sums=law' "${private[@]}" --set sums=masked --processes 2
WORLD_SIZE=2 RANK=0 refused 'MASTER_ADDR' "${private[@]}"
WORLD_SIZE=2 RANK=2 refused 'RANK' "${private[@]}"
WORLD_SIZE=2 RANK=0 MASTER_ADDR=127.0.0.1 MASTER_PORT=1 refused 'leave out --processes' "${private[@]}" --processes 2

# Lost by a kill, and by silence alone.
long=(sotto --data news --test-impressions 20 --epsilon 200 --set vector_size=4 --set cohort=20
  --set personal_steps=0 --set checkpoint_every=1 --out lost)
lines() { if [ -f lost/log.jsonl ]; then wc -l <lost/log.jsonl; else echo 0; fi; }
child() { cat "/proc/$running/task/$running/children"; }
lose() { # SIGNAL ARGUMENTS...: rank 1 gets it once there are more rounds; rank 0 must end within 30 s, and say who it was
  local signal=$1 before code=0
  shift
  before=$(lines)
  "$sotto" --quiet --threads 1 train "${long[@]}" --rounds 100000 --processes 2 "$@" >out 2>err </dev/null &
  running=$!
  for _ in $(seq 6000); do
    [ "$(lines)" -gt "$((before + 2))" ] && break
    [ -d "/proc/$running" ] || fail "the training ended by itself: $(tail -n 3 err)"
    sleep 0.01
  done
  local lost
  lost=$(child)
  [ -n "$lost" ] || fail 'no second process'
  # shellcheck disable=SC2086 # one or several
  kill "-$signal" $lost
  timeout 30 tail -s 0.1 --pid="$running" -f /dev/null || fail "$signal: rank 0 goes on without rank 1 for 30 s"
  wait "$running" || code=$?
  running=
  [ $code = 1 ] || fail "$signal: ended with $code: $(cat err)"
  grep -qF 'rank 1 of 2' err || fail "$signal: does not say who was lost: $(cat err)"
  grep -qF -- '--resume' err || fail "$signal: does not say how to go on: $(cat err)"
  for process in $lost; do [ ! -d "/proc/$process" ] || grep -q '^State:.*Z' "/proc/$process/status" || fail "$signal: rank 1 lives on"; done
  nothing_left "$signal"
}
lose KILL
lose STOP --resume
done_before=$(lines)
train "${long[@]}" --processes 2 --rounds $((done_before + 3)) --resume
[ "$(lines)" = $((done_before + 3)) ] || fail "resumed, it has $(lines) rounds instead of $((done_before + 3))"
grep -oE '"round":[0-9]+' lost/log.jsonl | cut -d: -f2 | cmp -s - <(seq "$((done_before + 3))") || fail 'rounds are missing or there twice'
