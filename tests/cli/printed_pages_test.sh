#!/usr/bin/env bash
# The pages of 'sotto privacy report' for a run, a coordinator and a device print on two pages each. Skipped, saying so,
# where there is no Chromium to print with.
# Usage: printed_pages_test.sh SOTTO
set -euo pipefail
sotto=$(realpath "$1")
chromium=${CHROMIUM:-/usr/bin/chromium}
if [ ! -x "$chromium" ]; then
  echo "printed_pages_test: skipped, there is no $chromium (set CHROMIUM)"
  exit 77
fi
work=$(mktemp -d)
export XDG_STATE_HOME=$work/state # where anchors of devices are
running=
end() {
  [ -z "$running" ] || kill -KILL "$running" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
cd "$work"
fail() {
  echo "printed_pages_test: $*" >&2
  exit 1
}
# Skia writes page objects uncompressed; the tree that holds them is of type /Pages.
pages_of() { grep -aoE '/Type ?/Page([^s]|$)' "$1" | wc -l; }
prints_on_two() { # PAGE
  timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --no-pdf-header-footer \
    --print-to-pdf="$work/$1.pdf" "file://$work/$1.html" >/dev/null 2>chromium.log || fail "cannot print $1: $(tail -n 3 chromium.log)"
  local pages
  pages=$(pages_of "$1.pdf")
  [ "$pages" = 2 ] || fail "the page of a $1 prints on $pages pages, not 2"
}

"$sotto" data generate newsroom --users 200 --news 150 --days 3 --out news >/dev/null 2>&1
"$sotto" train sotto --data news --out run-folder --rounds 3 --epsilon 8 --set vector_size=16 --set serving_epsilon=2 >/dev/null 2>&1
"$sotto" privacy report run-folder --out run.html >/dev/null 2>&1
prints_on_two run
small=(--rounds 3 --epsilon 8 --set cohort=40 --set word_size=8 --set heads=2 --set head_size=4 --set pooling_size=4)
"$sotto" train privaterec --data news --out privaterec-folder "${small[@]}" --set serving_epsilon=2 >/dev/null 2>&1
"$sotto" train dp-fedrec --data news --out dp-fedrec-folder "${small[@]}" >/dev/null 2>&1
mkdir log
awk 'BEGIN {print "u,i,t"; for (n = 0; n < 6000; ++n) print "u" n % 300 ",i" (n * 7919 + 37 * int(n / 300)) % 90 "," n}' >log/clicks.csv
awk 'BEGIN {print "i"; for (n = 0; n < 90; ++n) print "i" n}' >log/items.csv
printf '[interactions]\nfile = "clicks.csv"\nuser = "u"\nitem = "i"\ntime = "t"\n[items]\nfile = "items.csv"\nid = "i"\n' >log/mapping.toml
"$sotto" data import csv log --out clicks >/dev/null 2>&1
"$sotto" train dp-svd --data clicks --out dp-svd-folder --epsilon 8 --set items=50 >/dev/null 2>&1
for recipe in privaterec dp-fedrec dp-svd; do
  "$sotto" privacy report "$recipe-folder" --out "$recipe.html" >/dev/null 2>err || fail "no report of $recipe: $(tail -n 3 err)"
  prints_on_two "$recipe"
done

"$sotto" campaign new --recipe sotto --data news --cohort 40 --rounds 2 --participations 2 --epsilon 8 --out trial.toml >/dev/null 2>&1
"$sotto" coordinator --campaign trial.toml --data news --store store --listen 127.0.0.1:0 >out 2>err &
running=$!
for _ in $(seq 600); do
  grep -qF coordinating out && break
  [ -d "/proc/$running" ] || fail "no coordinator: $(tail -n 3 err)"
  sleep 0.1
done
for _ in $(seq 600); do # until the first version is in the store
  "$sotto" privacy report store --out coordinator.html >/dev/null 2>err && break
  grep -qF 'no version yet' err || fail "no report of a coordinator: $(cat err)"
  sleep 0.1
done
kill -TERM "$running"
wait "$running" || true
running=
prints_on_two coordinator

"$sotto" device --store reader new --set ranking=private --set epsilon=3 --set day_epsilon=6 >/dev/null 2>&1
"$sotto" privacy report reader --out device.html >/dev/null 2>&1
prints_on_two device
echo "printed_pages_test: passed"
