#!/usr/bin/env bash
# An ordinary click log reaches every kind of recipe: by views at import and later, with advice that can be followed.
#   click_log_test.sh SOTTO [no-trainer]
set -euo pipefail
sotto=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "click_log_test: $1" >&2; exit 1; }

# Code, stdout and stderr of a command line.
run() {
  code=0
  "$@" >out 2>err </dev/null || code=$?
}
expect() { # CODE WORDS...: the exit code, and the words on stdout (0) or stderr
  [ "$code" -eq "$1" ] || fail "exit code $code instead of $1: $(cat out err)"
  grep -qF -- "$2" "$([ "$1" -eq 0 ] && echo out || echo err)" || fail "'$2' is missing in: $(cat out err)"
}

mkdir shop
awk 'BEGIN {split("bread tea soap lamp boot", k); split("red blue green black white grey brown", c); split("small large round long flat heavy", s)
  print "sku,name"; for (i = 0; i < 60; ++i) print "p" i "," s[i % 6 + 1] " " c[i % 7 + 1] " " k[i % 5 + 1]}' >shop/products.csv
awk 'BEGIN {print "who,sku,at"; for (u = 0; u < 120; ++u) for (c = 0; c < 8; ++c) print "c" u ",p" (7 * u + 5 * c * c + u % 5) % 60 "," 1000 + c}' >shop/clicks.csv
printf '[interactions]\nfile = "clicks.csv"\nuser = "who"\nitem = "sku"\ntime = "at"\n[items]\nfile = "products.csv"\nid = "sku"\ntitle = "name"\n' >shop/mapping.toml

run "$sotto" --json data import csv shop --out clicks
expect 0 '"interactions":960'
# A bare switch, before or after other words, and with an answer.
run "$sotto" data import csv shop --out clicks
expect 2 'clicks'
run "$sotto" --json data import csv --replace shop --out clicks
expect 0 '"interactions":960'
run "$sotto" --json data import csv shop --out clicks --replace true
expect 0 '"interactions":960'
run "$sotto" data import csv shop --out clicks --replace false
expect 2 'clicks'
run "$sotto" data import csv shop --out clicks --replace=perhaps
expect 2 'perhaps'

# A log that was cut off behind its first line is no data set of articles alone.
mkdir cut
cp shop/products.csv shop/mapping.toml cut/
head -n 1 shop/clicks.csv >cut/clicks.csv
run "$sotto" data import csv cut --out nothing
expect 2 'not one row that says who clicked'
[ ! -e nothing ] || fail 'a refused import left a folder behind'

# At import and later the same.
run "$sotto" data import csv shop --out at-import --view text --negatives 4
expect 0 'csv as impressions: 120 users'
run "$sotto" --json data view clicks --view text --negatives 4 --out later
expect 0 '"event":"done"'
cmp at-import/dataset.sotto later/dataset.sotto || fail 'a view made later differs from the one made at import'
run "$sotto" data view clicks --view txt --out wrong
expect 2 "did you mean 'text'"
run "$sotto" data view clicks --view interactions --out wrong
expect 2 'has interactions already'
[ ! -e wrong ] || fail 'a refused view left a folder behind'
run "$sotto" data view later --view interactions --out back
expect 0 'as interactions'
[ "${2:-}" = no-trainer ] && exit 0

# What a recipe refuses, it advises with words that work.
run "$sotto" train sotto --data clicks --out runs/refused --rounds 1 --epsilon 8
expect 2 "sotto data view DATA --view text --out DIR"
run "$sotto" train dp-svd --data later --out runs/refused-too --epsilon 8
expect 2 "sotto data view DATA --view interactions --out DIR"
run "$sotto" --quiet train sotto --data later --out runs/model --rounds 1 --epsilon 8 --set vector_size=8
[ "$code" -eq 0 ] || fail "the flagship does not train on a click log: $(cat err)"
run "$sotto" --quiet train dp-svd --data back --out runs/svd --epsilon 8 --set items=20
[ "$code" -eq 0 ] || fail "dp-svd does not train on clicks: $(cat err)"

# A run knows where its data lies, and says so when it has gone.
run "$sotto" --quiet --json eval runs/model
expect 0 '"auc"'
run "$sotto" eval runs/model --other-data
expect 2 'name the data set'
run "$sotto" eval --baselines
expect 2 'name the data set'
mv later moved
run "$sotto" eval runs/model
expect 2 'name another place with --data DIR'
run "$sotto" --quiet --json eval runs/model --data moved
expect 0 '"auc"'

# What is refused is told with the flag that mends it, and leaves nothing.
run "$sotto" train fcf --data clicks --out runs/few --rounds 1 --set cohort=5000
expect 2 'give --set cohort='
run "$sotto" train fcf --data clicks --out runs/few --rounds 1 --epsilon 8
expect 2 "without '(no DP)'"
[ ! -e runs/few ] || fail 'a refused training left a folder behind'
