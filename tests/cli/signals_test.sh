#!/usr/bin/env bash
# SIGTERM and Ctrl-C in every phase of every long command: it ends, leaves nothing half-written, and the same command
# (a run: with --resume) then goes through. The signal is sent as soon as the program catches it, or when it has said
# what the test waits for.
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

catches_sigterm() { # PID: bit 15 of the signals it catches, once it is the program and no longer a copy of this shell
  local caught
  [[ $(readlink "/proc/$1/exe" 2>/dev/null) == */sotto* ]] || return 1
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
  [[ " $codes " == *" $code "* ]] || fail "sotto $* ended with $code after $signal, not with $codes: $(tail -n 3 out err)"
  left=$(find . -name '.*.sotto-*' | head -n 3)
  [ -z "$left" ] || fail "sotto $* left $left"
}
whole() { # COMMAND...: goes through
  "$sotto" --quiet "$@" >out 2>err </dev/null || fail "sotto $* fails afterwards: $(tail -n 3 err)"
}

# Data: a folder is there whole, or not at all.
stop TERM "0 1" "" data generate newsroom --users 4000 --news 800 --days 4 --out news
[ ! -e news ] || whole data info news
rm -rf news
whole data generate newsroom --users 300 --news 300 --days 4 --out news
mkdir log
awk 'BEGIN {print "u,i,t"; for (n = 0; n < 60000; ++n) print "u" n % 3000 ",i" (n * 7919 + 37 * int(n / 3000)) % 500 "," n}' >log/clicks.csv
awk 'BEGIN {print "i,name"; for (n = 0; n < 500; ++n) print "i" n ",thing number " n}' >log/items.csv
printf '[interactions]\nfile = "clicks.csv"\nuser = "u"\nitem = "i"\ntime = "t"\n[items]\nfile = "items.csv"\nid = "i"\ntitle = "name"\n' >log/mapping.toml
stop TERM "0 1" "" data import csv log --out clicks
[ ! -e clicks ] || whole data info clicks
whole data import csv log --out clicks --replace
stop INT "0 1" "" data view clicks --view text --out view
[ ! -e view ] || whole data info view
whole data view clicks --view text --out view --replace

# Training: while noise is calibrated, between rounds, while it is tested.
stop TERM "1" "" train sotto --data news --out run --rounds 2000000 --epsilon 8
[ ! -e run ] || rm -r run
stop INT "1" '"event":"round"' --json train fedrec --data news --out run --rounds 100000 --set cohort=5 --set word_size=8 --set heads=2 --set head_size=4 --set pooling_size=4
said '"event":"interrupted"' || fail "an interrupted training does not say so: $(tail -n 2 out)"
done_before=$(wc -l <run/log.jsonl)
stop TERM "1" '"event":"round"' --json train fedrec --data news --out run --resume
[ "$(wc -l <run/log.jsonl)" -gt "$done_before" ] || fail "the second part of a training lost rounds"
whole train fedrec --data news --out plain --rounds 1 --set cohort=5
stop TERM "0 1 143" "" eval plain --data news
stop TERM "0 1" "" train dp-svd --data clicks --out svd --epsilon 8 --set items=50
if [ -e svd ]; then whole train dp-svd --data clicks --out svd --resume; fi

# Experiments and sweeps go on with what was finished.
sweep=(sweep fedrec --grid "learning_rate=0.001,0.01" --seeds 2 --data news --out sweep --set rounds=2 --set cohort=5)
stop TERM "1" '"event":"row"' --json "${sweep[@]}"
rows=$(wc -l <sweep/rows.jsonl)
[ "$rows" -ge 1 ] || fail 'a stopped sweep lost its rows'
whole "${sweep[@]}"
[ "$(wc -l <sweep/rows.jsonl)" -gt "$rows" ] || fail 'the sweep did not go on'
experiment=(experiment fednewsrec-ablation --quick --data news --out experiment --set rounds=2 --set cohort=5)
stop INT "0 1" "" "${experiment[@]}"
whole "${experiment[@]}"

# Audit and report; what keeps nothing ends at once.
whole train sotto --data news --out small --rounds 2 --epsilon 8 --set vector_size=16
stop TERM "0 1" "" compare plain small --out compared
[ ! -e compared ] || [ -s compared/compare.html ] || fail 'half a comparison was written'
stop TERM "1" "" privacy audit
stop INT "1" "" privacy report small --out page.html
[ ! -e page.html ] || fail 'an interrupted report was written'
whole privacy report small --out page.html
stop TERM "0 1 143" "" privacy claims
stop TERM "0 1 143" "" bench pld

# Servers: while they start, and when they run.
serve=(serve --run small --catalogue pool --epsilon 3 --port 0)
stop TERM "0 1" "" "${serve[@]}"
stop INT "0" 'serving ' "${serve[@]}"
"$sotto" campaign new --recipe sotto --data news --cohort 40 --rounds 2 --participations 2 --epsilon 8 --out trial.toml >/dev/null 2>&1
coordinator=(coordinator --campaign trial.toml --data news --store store --listen 127.0.0.1:0)
stop TERM "0 1" "" "${coordinator[@]}"
stop TERM "0" 'coordinating' "${coordinator[@]}"
echo "signals_test: passed"
