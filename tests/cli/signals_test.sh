#!/usr/bin/env bash
# SIGTERM and Ctrl-C in every phase of every long command: it ends at once and says so, leaves nothing half-written, and
# the same command (a run: with --resume) then goes through. The signal is sent when the program has said what the test
# waits for: with a bar of its own, on a terminal, or as text.
# Usage: signals_test.sh SOTTO
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
fail() {
  echo "signals_test: $*" >&2
  exit 1
}

is_program() { [[ $(readlink "/proc/$1/exe" 2>/dev/null) == */sotto* ]]; } # and no longer a copy of this shell
catches_sigterm() { # PID: bit 15 of the signals it catches
  local caught
  is_program "$1" || return 1
  caught=$(awk '$1 == "SigCgt:" {print $2}' "/proc/$1/status" 2>/dev/null) || return 1
  [ $((0x${caught: -8} >> 14 & 1)) = 1 ]
}
await() { # WORDS...: until the command succeeds; a minute at most
  for _ in $(seq 600); do
    "$@" && return 0
    [ -d "/proc/$running" ] || return 0
    sleep 0.1
  done
  fail "waited a minute for: $*"
}
said() { grep -qF -- "$1" out err; }

ended_as_told() { # CODE CODES TEXT COMMAND...: not by itself, and not without a word where it lived on to say one
  local code=$1 codes=$2 text=$3
  shift 3
  [[ " $codes " == *" $code "* ]] || fail "sotto $* ended with $code after '$text', not with $codes: $(tail -n 3 out err)"
  [ "$code" != 1 ] || grep -qE 'stopped|interrupted' out err || fail "sotto $* stops without a word at '$text': $(tail -n 3 err)"
  left=$(find . -name '.*.sotto-*' | head -n 3)
  [ -z "$left" ] || fail "sotto $* left $left"
}
# SIGNAL CODES TEXT COMMAND...: signals the command once it has said TEXT (empty: once it catches signals).
stop() {
  local signal=$1 codes=$2 text=$3 code=0
  shift 3
  : >out
  : >err
  "$sotto" "$@" >>out 2>>err </dev/null &
  running=$!
  # Ctrl-C is ignored in background processes of a shell unless they catch it, which they must.
  if [ -n "$text" ]; then await said "$text"; else await catches_sigterm "$running"; fi
  kill "-$signal" "$running" 2>/dev/null || true
  timeout 60 tail -s 0.1 --pid="$running" -f /dev/null || fail "sotto $* runs on after $signal: $(tail -n 3 err)"
  wait "$running" || code=$?
  running=
  ended_as_told "$code" "$codes" "$text" "$@"
}
# SIGNAL CODES BAR COMMAND...: on a terminal, which is drawn on at once, and signalled while the bar of that name is shown.
# A command that was through before it could be is run again, eight times at most; UNDO is run before.
UNDO=:
stop_in() {
  local signal=$1 codes=$2 bar=$3 code attempt program line
  shift 3
  printf -v line '%q ' "$sotto" "$@"
  for attempt in 1 2 3 4 5 6 7 8; do
    $UNDO
    : >out
    : >err
    script -qefc "exec $line >>out" /dev/null >>err </dev/null &
    running=$!
    for _ in $(seq 6000); do
      grep -qF -- "$bar" err && break
      [ -d "/proc/$running" ] || break
      sleep 0.01
    done
    program=$(cat "/proc/$running/task/$running/children" 2>/dev/null || true)
    # shellcheck disable=SC2086  # one number and a space behind it, or nothing
    if [ -n "$program" ] && kill "-$signal" $program 2>/dev/null; then
      timeout 60 tail -s 0.05 --pid=${program% } -f /dev/null || fail "sotto $* runs on after $signal at '$bar': $(tail -n 3 err)"
    fi
    code=0
    wait "$running" || code=$?
    running=
    grep -qF -- "$bar" err || fail "sotto $* has no bar '$bar': $(tail -n 3 err)"
    [ "$code" = 0 ] || break
  done
  [ "$attempt" = 1 ] || echo "signals_test: '$bar' of sotto $1 took $attempt attempts"
  ended_as_told "$code" "$codes" "$bar" "$@"
}
whole() { # COMMAND...: goes through
  "$sotto" --quiet "$@" >out 2>err </dev/null || fail "sotto $* fails afterwards: $(tail -n 3 err)"
}

# Data: a folder is there whole, or not at all.
for phase in 'TERM readers' 'INT writing'; do
  UNDO='rm -rf large'
  stop_in "${phase% *}" 1 "${phase#* }" data generate newsroom --users 60000 --news 800 --days 4 --out large
  [ ! -e large ] || fail "data generate left a folder, stopped at ${phase#* }"
done
whole data generate newsroom --users 10000 --news 800 --days 4 --out large
whole data generate newsroom --users 300 --news 300 --days 4 --out news
mkdir log
awk 'BEGIN {print "u,i,t"; for (n = 0; n < 800000; ++n) print "u" n % 20000 ",i" (n * 7919 + 37 * int(n / 20000)) % 500 "," n}' >log/clicks.csv
awk 'BEGIN {print "i,name"; for (n = 0; n < 500; ++n) print "i" n ",thing number " n}' >log/items.csv
printf '[interactions]\nfile = "clicks.csv"\nuser = "u"\nitem = "i"\ntime = "t"\n[items]\nfile = "items.csv"\nid = "i"\ntitle = "name"\n' >log/mapping.toml
UNDO='rm -rf clicks'
stop_in TERM 1 'reading clicks.csv' data import csv log --out clicks
[ ! -e clicks ] || fail 'half an import was kept'
whole data import csv log --out clicks
UNDO='rm -rf view'
stop_in INT 1 'view of impressions' data view clicks --view impressions --out view
[ ! -e view ] || fail 'half a view was kept'
whole data view clicks --view text --out view

# Training: while word vectors are read, noise is calibrated, between rounds, while it is tested.
awk 'BEGIN {for (n = 0; n < 200000; ++n) print "w" n, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8; print "the", 1, 1, 1, 1, 1, 1, 1, 1}' >glove.txt
small=(--set word_size=8 --set heads=2 --set head_size=4 --set pooling_size=4)
UNDO='rm -rf run'
stop_in INT 1 'reading glove.txt' train fedrec --data news --out run --rounds 1 --set cohort=5 "${small[@]}" --set glove=glove.txt
# On a machine that is busy the signal may come after the reading: then there is a round to go on from.
[ ! -e run ] || [ -e run/last.sotto ] || fail "a training that did not begin left a folder: $(ls run)"
stop_in TERM 1 calibrating train sotto --data news --out run --rounds 2000000 --epsilon 8
[ ! -e run ] || fail 'a training that was not calibrated left a folder'
stop INT "1" '"event":"round"' --json train fedrec --data news --out run --rounds 100000 --set cohort=5 "${small[@]}"
said '"event":"interrupted"' || fail "an interrupted training does not say so: $(tail -n 2 out)"
done_before=$(wc -l <run/log.jsonl)
stop TERM "1" '"event":"round"' --json train fedrec --data news --out run --resume
[ "$(wc -l <run/log.jsonl)" -gt "$done_before" ] || fail "the second part of a training lost rounds"
UNDO='rm -rf tested'
stop_in TERM 1 testing train fedrec --data large --out tested --rounds 1 --set cohort=5 --set validation_impressions=0
[ ! -e tested/result.json ] || fail 'metrics of half a test were written'
whole train fedrec --data large --out tested --resume --test-impressions 50
UNDO=:
stop_in TERM 1 testing eval tested --data large
[ ! -s out ] || fail "half a test was printed: $(cat out)"
for rate in 0.001 0.002; do whole train fedrec --data large --out "rate$rate" --rounds 1 --set cohort=5 "${small[@]}" --set "learning_rate=$rate"; done
UNDO='rm -rf compared'
stop_in INT 1 testing compare rate0.001 rate0.002 --out compared
[ ! -e compared ] || fail 'half a comparison was written'
whole compare rate0.001 rate0.002 --out compared
UNDO='rm -rf exported'
stop_in TERM 1 'encoding items' export tested --to npz --out exported
[ ! -e exported ] || fail 'half a model was exported'
whole export tested --to npz --out exported
UNDO='rm -rf svd'
stop_in TERM 1 'counting pairs of items' train dp-svd --data clicks --out svd --epsilon 8 --set items=200
[ ! -e svd/result.json ] || fail 'half a sum was trained on'
UNDO=:

# Experiments and sweeps go on with what was finished.
sweep=(sweep fedrec --grid "learning_rate=0.001,0.01" --seeds 2 --data news --out sweep --set rounds=2 --set cohort=5)
stop TERM "1" '"event":"row"' --json "${sweep[@]}"
rows=$(wc -l <sweep/rows.jsonl)
[ "$rows" -ge 1 ] || fail 'a stopped sweep lost its rows'
whole "${sweep[@]}"
[ "$(wc -l <sweep/rows.jsonl)" -gt "$rows" ] || fail 'the sweep did not go on'
experiment=(experiment fednewsrec-ablation --quick --data news --out experiment --set rounds=2)
UNDO='rm -rf experiment'
stop_in INT 1 fednewsrec-ablation "${experiment[@]}"
said 'INCOMPLETE: stopped before' || fail "a stopped experiment does not say so: $(tail -n 3 out)"
whole "${experiment[@]}"
UNDO=:

# The demo starts over when it is run again.
stop_in TERM 1 'readers' demo --out shown
[ ! -e shown/report.html ] || fail 'a stopped demo has a report'

# Audit and report; what keeps nothing ends at once.
whole train sotto --data news --out small --rounds 2 --epsilon 8 --set vector_size=16
stop_in TERM 1 drawing privacy audit
stop_in INT 1 drawing privacy report small --out page.html
[ ! -e page.html ] || fail 'an interrupted report was written'
whole privacy report small --out page.html
for computes in 'privacy claims' 'privacy tables' 'bench pld'; do
  # shellcheck disable=SC2086  # words of a command
  "$sotto" $computes >out 2>err </dev/null &
  running=$!
  await is_program "$running"
  kill -TERM "$running"
  code=0
  wait "$running" || code=$?
  running=
  [ "$code" = 143 ] || fail "sotto $computes ended with $code after TERM, not by it"
done

# Servers: while they start, and when they run. Ended when asked to, that is no failure.
serve=(serve --run small --catalogue pool --epsilon 3 --port 0)
stop TERM "0 1" "" "${serve[@]}"
stop INT "0" 'serving ' "${serve[@]}"
draft=(campaign new --recipe sotto --data news --cohort 40 --rounds 2 --participations 2 --epsilon 8 --out draft.toml)
UNDO='rm -f draft.toml'
stop_in TERM 1 calibrating "${draft[@]}"
[ ! -e draft.toml ] || fail 'a draft was written that was not calibrated'
UNDO=:
whole "${draft[@]}"
"$sotto" campaign new --recipe sotto --data news --cohort 40 --rounds 2 --participations 2 --epsilon 8 --out trial.toml >/dev/null 2>&1
coordinator=(coordinator --campaign trial.toml --data news --store store --listen 127.0.0.1:0)
stop TERM "0 1" "" "${coordinator[@]}"
stop TERM "0" 'coordinating' "${coordinator[@]}"
echo "signals_test: passed"
