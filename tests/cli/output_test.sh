#!/usr/bin/env bash
# What commands print for people stays within 100 columns, and --quiet leaves stderr empty where all goes well.
# Usage: output_test.sh SOTTO
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
export LC_ALL=C.UTF-8
fail() {
  echo "output_test: $*" >&2
  exit 1
}
fits() { # COMMAND...: exits with 0, no line of stdout has more than 100 characters, and stderr is empty
  "$sotto" --quiet "$@" >out 2>err </dev/null || fail "sotto $* fails: $(tail -n 3 err)"
  # That other work holds the cores is true where tests run side by side.
  grep -v "matrix products run at" err >said && fail "sotto --quiet $* says: $(head -n 3 said)"
  local wide
  wide=$(grep -E -m 1 '^.{101,}' out || true)
  [ -z "$wide" ] || fail "sotto $*: a line of ${#wide} columns: $wide"
}

fits data generate newsroom --users 300 --news 200 --days 4 --out news
fits data info news
small=(--set cohort=10 --set word_size=8 --set heads=2 --set head_size=4 --set pooling_size=4)
fits train fedrec --data news --out one --rounds 2 "${small[@]}"
fits train fedrec --data news --out two --rounds 2 "${small[@]}" --set learning_rate=0.0123 --set max_history=17
fits train sotto --data news --out private --rounds 2 --epsilon 8 --set vector_size=16
grep -qF 'epsilon' out || fail "a private training does not say what holds: $(cat out)"
fits eval one --data news
fits eval one --data news --both --test-impressions 50
grep -qF 'among all items' out || fail "both families are not told: $(cat out)"
fits eval --baselines --data news
fits compare one two private
fits compare one two --both --out compared
grep -qF 'Hits@10 % all' out || fail "no column of the other family: $(cat out)"
[ -s compared/compare.html ] || fail 'no page of the comparison'
fits sweep fedrec --grid learning_rate=0.001,0.01 --seeds 1 --data news --out swept --set rounds=2 "${small[@]}"
grep -qF '±' swept/report.html || fail 'one seed has no error although its tests could be paired'
fits experiment fednewsrec-ablation --quick --data news --out experiment --set rounds=2 --set cohort=5
grep -qF 'depend on the machine' out || fail "a quick run does not say that its clock depends on the machine: $(cat out)"
fits experiment serving-epsilon --quick --run one --data news --out serving --set impressions=40 --set pool_queries=5 --set readers=200 --set groups=8
grep -qF 'AUC, %' serving/report.html || fail "the page of served mechanisms does not say in what its metrics are"
fits privacy audit --samples 1000 laplace attention-laplace-paper history-from-attention
fits privacy account private
fits privacy claims
fits privacy tables
fits privacy audit private
fits privacy report private --out private.html
fits recipes
fits experiment --list
fits bench --list

# The help of every command there is.
helps() { # COMMAND...: its own and that of all commands below it
  local below
  fits "$@" --help
  # shellcheck disable=SC2013  # one word each
  for below in $(awk '/^Subcommands:/ {on = 1; next} on && /^  [a-z]/ {print $1}' out); do helps "$@" "$below"; done
  helped=$((helped + 1))
}
helped=0
helps
[ "$helped" -ge 40 ] || fail "only $helped commands have been asked for help"

# A configuration to begin with is a file as text and one object as JSON; both hold the same.
for command in 'recipes fedrec' coordinator; do
  # shellcheck disable=SC2086  # words of a command
  "$sotto" $command --sample-config >sample.toml 2>/dev/null || continue # built without the network
  # shellcheck disable=SC2086
  "$sotto" --json $command --sample-config >sample.json
  [ "$(wc -l <sample.json)" = 1 ] || fail "$command --sample-config --json is not one line: $(cat sample.json)"
  printf '%b' "$(sed -E 's/.*"sample_config":"(.*)"[,}].*/\1/; s/\\"/"/g' sample.json)" >said
  [ -s sample.toml ] || fail "$command --sample-config says nothing"
  diff <(grep -v '^$' sample.toml) <(grep -v '^$' said) >differs ||
    fail "$command --sample-config says something else with --json: $(head -n 5 differs)"
done

# Items of all users: test users follow from the seed, and what cannot be paired is said in full sentences.
mkdir log
awk 'BEGIN {print "u,i,t"; for (n = 0; n < 6000; ++n) print "u" n % 300 ",i" (n * 7919 + 37 * int(n / 300)) % 90 "," n}' >log/clicks.csv
awk 'BEGIN {print "i"; for (n = 0; n < 90; ++n) print "i" n}' >log/items.csv
printf '[interactions]\nfile = "clicks.csv"\nuser = "u"\nitem = "i"\ntime = "t"\n[items]\nfile = "items.csv"\nid = "i"\n' >log/mapping.toml
fits data import csv log --out clicks
fits data view clicks --view impressions --out view
fits train dp-svd --data clicks --out svd --epsilon 8 --set items=50
fits train fcf --data clicks --out factors --rounds 2 --set cohort=20 --seed 7
fits compare svd factors
grep -qF 'is not held against the first' out || fail "compared across test users: $(cat out)"
fits eval svd --data clicks --both

# A device's ledger, and rounds over the network.
if "$sotto" coordinator --help >/dev/null 2>&1; then
  fits device --store reader new --set ranking=private --set epsilon=3 --set day_epsilon=6
  fits privacy ledger reader
  fits device --store reader ledger
  fits device --store reader status
  fits privacy report reader --out reader.html
  fits data generate newsroom --users 60 --news 300 --days 4 --out paper
  fits campaign new --recipe sotto --data paper --cohort 40 --rounds 1 --participations 1 --epsilon 8 \
    --max-training-seconds 1 --shortest-phase-seconds 2 --out trial.toml
  fits campaign show trial.toml
  "$sotto" --quiet coordinator --campaign trial.toml --data paper --store store --listen 127.0.0.1:0 >coordinates 2>err &
  running=$!
  for _ in $(seq 600); do
    grep -qE 'http://[0-9.:]+' coordinates && break
    [ -d "/proc/$running" ] || fail "no coordinator: $(tail -n 3 err)"
    sleep 0.1
  done
  fits fleet --devices 50 --data paper --server "$(grep -oE 'http://[0-9.:]+' coordinates | head -n 1)" --rounds 1
  kill -TERM "$running"
  wait "$running" || true
  running=
  wide=$(grep -E -m 1 '^.{101,}' coordinates || true)
  [ -z "$wide" ] || fail "sotto coordinator: a line of ${#wide} columns: $wide"
fi
echo "output_test: passed"
