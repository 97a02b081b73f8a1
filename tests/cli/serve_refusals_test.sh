#!/usr/bin/env bash
# A server says what its run costs, and refuses other data and another shop's items before it changes a file; later data
# of the same shop is served, at the start and when it takes over.
# Usage: serve_refusals_test.sh SOTTO
set -euo pipefail
sotto=$(realpath "$1")
work=$(mktemp -d)
server=
end() {
  [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
cd "$work"
fail() { echo "serve_refusals_test: $1" >&2; exit 1; }
quietly() { "$sotto" --quiet "$@" >log 2>&1 </dev/null || fail "sotto $* fails: $(tail -n 5 log)"; }

# NAME WORD CLICKS: a log of clicks on products whose names begin with WORD. Both shops have the same ids, and the name
# that an import gives without asking.
shop() {
  mkdir "$1"
  awk -v word="$2" 'BEGIN {split("red blue green black white", c); split("small large round long flat heavy", s); split("one two three four five six seven", n)
    print "sku,name"; for (i = 0; i < 40; ++i) print "p" i "," word " " c[i % 5 + 1] " " s[i % 6 + 1] " " n[i % 7 + 1]}' >"$1/products.csv"
  awk -v clicks="$3" 'BEGIN {print "who,sku,at"; for (u = 0; u < 60; ++u) for (c = 0; c < clicks; ++c) print "c" u ",p" (7 * u + 5 * c * c + u % 5) % 40 "," 1000 + c}' >"$1/clicks.csv"
  printf '[interactions]\nfile = "clicks.csv"\nuser = "who"\nitem = "sku"\ntime = "at"\n[items]\nfile = "products.csv"\nid = "sku"\ntitle = "name"\n' >"$1/mapping.toml"
  quietly data import csv "$1" --out "$1-data" --view text --negatives 4
  quietly train sotto --data "$1-data" --out "$1-run" --rounds 1 --epsilon 8 --set vector_size=8
}
shop bakery loaf 6
shop cobbler boot 6
shop later loaf 7
quietly train fedrec --data bakery-data --out open-run --rounds 1 --set cohort=20 --set word_size=8 --set heads=2 --set head_size=4 --set pooling_size=4

# RUN MORE...: a server of it runs.
begin() {
  local run=$1
  shift
  "$sotto" serve --run "$run" --port 0 "$@" >out 2>err </dev/null &
  server=$!
  await 'serving ' out
}
await() { # TEXT FILE: until it was said there; a minute at most
  for _ in $(seq 600); do
    grep -qF -- "$1" "$2" && return 0
    [ -d "/proc/$server" ] || fail "the server ended before it said $1: $(tail -n 5 err)"
    sleep 0.1
  done
  fail "waited a minute for: $1, and there is: $(tail -n 5 out err)"
}
finish() {
  kill -TERM "$server"
  wait "$server" || fail "the server ends with $?: $(tail -n 5 err)"
  server=
}
files() { find pool -type f -exec sha256sum {} + | sort -k 2; }
refused() { # WORDS RUN MORE...: wrong use, in these words, and no file of the pool is another afterwards
  local words=$1 before code=0
  before=$(files)
  shift
  timeout 60 "$sotto" serve --port 0 --run "$@" >refused 2>&1 </dev/null || code=$?
  [ "$code" = 2 ] || fail "serve --run $* ends with $code: $(tail -n 5 refused)"
  grep -qF -- "$words" refused || fail "serve --run $* says not '$words': $(cat refused)"
  [ "$(files)" = "$before" ] || fail "the refused serve --run $* changed files: $(diff <(echo "$before") <(files))"
}

# What it costs.
begin open-run --catalogue open-pool
grep -q 'NO PRIVACY HOLDS for the readers this run was trained on: training: without differential privacy' err ||
  fail "a run without privacy is served without a warning: $(cat out err)"
finish
ln -s bakery-run current
begin current --catalogue pool
grep -q 'training: epsilon' out || fail "does not say what the training cost: $(cat out err)"
! grep -q 'NO PRIVACY HOLDS' err || fail "warns of a run with a budget: $(cat err)"

# One server per pool; another shop's run does not take over, a later one of the same shop does.
refused 'is in use' cobbler-run --catalogue pool
before=$(files)
ln -sfn cobbler-run current
await "was filled with the items of 'csv as impressions'" err
[ "$(files)" = "$before" ] || fail "a refused run changed the pool of a running server"
ln -sfn later-run current
for _ in $(seq 600); do
  [ "$(files)" != "$before" ] && [ "$(grep -c 'training: epsilon' out)" = 2 ] && break
  sleep 0.1
done
[ "$(grep -c 'training: epsilon' out)" = 2 ] || fail "a later run does not take over: $(tail -n 5 out err)"
finish

# Other data, other items.
refused 'knows 0 of 40 of them by the same id and words' cobbler-run --catalogue pool
refused 'name its address with --coordinator URL' bakery-run --catalogue pool --follow
refused 'to serve its versions (--follow)' bakery-run --catalogue pool --coordinator http://127.0.0.1:9
refused 'leave out one of them' bakery-run --catalogue pool --coordinator http://127.0.0.1:9 --follow --demand-epsilon 1
refused 'no line' bakery-run --catalogue pool --coordinator http://127.0.0.1:9 --reader --operator-key bakery-run/run.json
refused 'holds other data' later-run --data cobbler-data --catalogue pool
refused 'holds other data' later-run --data cobbler-data --catalogue new/pool
[ ! -e new ] || fail "a refused run leaves a folder for its items"
begin bakery-run --catalogue pool
finish
begin cobbler-run --catalogue pool --same-items
finish
echo "serve_refusals_test: passed"
