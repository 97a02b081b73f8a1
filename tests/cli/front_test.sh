#!/usr/bin/env bash
# The command as installed: what needs no libtorch does not load it, and what the trainer does looks like one command.
#   front_test.sh SOTTO [no-trainer]
set -euo pipefail
sotto=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "front_test: $1" >&2; exit 1; }

# Code, stdout and stderr of a command line.
run() {
  code=0
  "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
}
expect() { # CODE WORDS...: the exit code, and the words on stdout (0) or stderr
  [ "$code" -eq "$1" ] || fail "exit code $code instead of $1: $(cat "$work/err")"
  grep -qF -- "$2" "$work/$([ "$1" -eq 0 ] && echo out || echo err)" || fail "'$2' is missing in: $(cat "$work/out" "$work/err")"
}

libraries=$(ldd "$sotto")
if heavy=$(grep -E 'libtorch|libc10|blas|libgomp|lapack|gfortran|faiss|libprotobuf' <<<"$libraries"); then
  fail "the front loads $heavy"
fi
[ "$(wc -l <<<"$libraries")" -le 24 ] || fail "the front loads $(wc -l <<<"$libraries") libraries: $libraries"

run "$sotto" --version
expect 0 'sotto 0.'
run "$sotto" --help
expect 0 'Train a recipe on a data set'
run "$sotto" privacy --help
expect 0 'account'

# A token that others could read, or a file of settings that says what nobody knows, is refused before anything is made.
if grep -q serve < <("$sotto" --help); then
  echo 'a token of more than sixteen letters' >"$work/token"
  chmod 644 "$work/token"
  run "$sotto" serve --synthetic 3 --catalogue "$work/items" --operator-token-file "$work/token"
  expect 2 'mode 0644'
  echo 'max_conections = 7' >"$work/serve.toml"
  run "$sotto" serve --synthetic 3 --catalogue "$work/items" --settings "$work/serve.toml"
  expect 2 "did you mean 'max_connections'"
  [ ! -e "$work/items" ] || fail 'a refused serve left a folder behind'
  # A run's folder without its flag.
  mkdir "$work/run"
  echo '{}' >"$work/run/run.json"
  run "$sotto" serve "$work/run" --catalogue "$work/items"
  expect 2 "did you mean '--run $work/run'?"
  run "$sotto" serve nowhere --catalogue "$work/items"
  expect 2 "'sotto serve --help' lists them"
  # The file counts, and a flag wins over it.
  echo 'address = "nowhere"' >"$work/serve.toml"
  run "$sotto" serve --synthetic 3 --catalogue "$work/items" --settings "$work/serve.toml"
  expect 2 'nowhere'
  chmod 600 "$work/token"
  "$sotto" --json serve --synthetic 3 --catalogue "$work/items" --operator-token-file "$work/token" \
    --settings "$work/serve.toml" --address 127.0.0.1 >"$work/served" 2>"$work/err" &
  serving=$!
  for _ in $(seq 100); do
    [ -s "$work/served" ] && break
    sleep 0.1
  done
  grep -q '"event":"serving","items":3' "$work/served" || fail "serve did not start: $(cat "$work/err")"
  kill -TERM "$serving"
  code=0
  wait "$serving" || code=$?
  [ "$code" -eq 0 ] || fail "a stopped server ends with $code: $(cat "$work/err")"
fi

# Without the trainer the front says where it looked.
cp "$sotto" "$work/alone"
run "$work/alone" train fedrec
expect 1 "$work/libexec/sotto-trainer"
[ "${2:-}" = no-trainer ] && exit 0

# By a link, as in PATH; with the flags of all commands before and after the name.
ln -s "$(realpath "$sotto")" "$work/sotto"
run "$work/sotto" --quiet train --help
expect 0 '--resume'
run "$work/sotto" --json recipes
expect 0 '{"dp":'
run "$work/sotto" recipes --json
expect 0 '{"dp":'
run "$work/sotto" train
expect 2 'recipe is required'
run "$work/sotto" --threads many recipes
expect 2 'threads'
run "$work/sotto" recipes fedrek
expect 2 "did you mean 'fedrec'"
run "$work/sotto" bench --list
expect 0 'masks'
run "$work/sotto" bench
expect 2 'name a benchmark'

# Ctrl-C ends training between rounds; what was finished is there to go on with.
run "$sotto" --quiet data generate newsroom --users 40 --news 60 --days 3 --out "$work/deep/data"
[ "$code" -eq 0 ] || fail "--out must make the folders above it: $(cat "$work/err")"

# A trainer whose libraries are missing: the loader ends it with 127, and the front says what to install. One that is killed.
mkdir "$work/libexec"
printf '#!/bin/sh\nexit 127\n' >"$work/libexec/sotto-trainer"
chmod +x "$work/libexec/sotto-trainer"
new=("$work/alone" campaign new --recipe sotto --data "$work/deep/data" --cohort 40 --rounds 2 --participations 2 --epsilon 8 --out "$work/draft.toml")
run "${new[@]}"
expect 1 "libraries are missing: install the packages that 'dpkg -s sotto' names"
printf '#!/bin/sh\nkill -9 $$\n' >"$work/libexec/sotto-trainer"
run "${new[@]}"
expect 1 'the trainer was ended by signal 9'
[ ! -e "$work/draft.toml" ] || fail 'a campaign without a trainer'

# What a refusal advises is there: --replace of generated data, and a sentence that ends before the next one begins.
run "$sotto" data generate newsroom --users 40 --news 60 --days 3 --out "$work/deep/data"
expect 2 'say --replace'
run "$sotto" --quiet data generate newsroom --users 40 --news 60 --days 3 --out "$work/deep/data" --replace
[ "$code" -eq 0 ] || fail "generate --replace: $(cat "$work/err")"
run "$sotto" train sotto --replace
expect 2 "'sotto train --help' lists them. A setting of the recipe"
run "$sotto" trane
expect 2 "did you mean 'train'"
run "$sotto" train fedrec --outt x
expect 2 "did you mean '--out'? A setting"
run "$sotto" train fedrec --data "$work/deep/data" --out "$work/deep/data"
expect 2 'is a data set: name another folder'
for seed in -1 1.5 ten; do
  run "$sotto" train fedrec --data "$work/deep/data" --out "$work/none" --seed="$seed"
  expect 2 "--seed: '$seed' is not a whole number from 0 on"
  [ ! -e "$work/none" ] || fail "a run with seed '$seed'"
done
run "$sotto" train fedrec --data "$work/deep/data" --out "$work/none" --seed=
expect 2 '--seed: 1 required UINT missing'
for epsilon in 0 -1 nan inf 1e400 8,0; do
  run "$sotto" train sotto --data "$work/deep/data" --out "$work/none" --set vector_size=8 --epsilon "$epsilon"
  expect 2 "$([ "$epsilon" = 0 ] && echo 'a budget above 0' || echo "not '$epsilon'")"
  [ ! -e "$work/none" ] || fail "a run with epsilon $epsilon"
done
run "$sotto" data
expect 2 'name what to do, one of: generate, import'

# Whoever accounts for a run hears whether its noise was secret.
for kind in secret reproducible; do
  flag=$([ $kind = secret ] || echo --reproducible)
  # shellcheck disable=SC2086 # no flag is no word
  run "$sotto" --quiet train sotto --data "$work/deep/data" --out "$work/$kind" --rounds 1 --epsilon 8 --set vector_size=8 $flag
  [ "$code" -eq 0 ] || fail "train: $(cat "$work/err")"
  run "$sotto" privacy account "$work/$kind"
  expect 0 'user'
  if [ $kind = secret ] && grep -q 'no ε holds' "$work/out"; then fail 'secret noise is called a simulation'; fi
  if [ $kind = reproducible ]; then expect 0 'no ε holds'; fi
done

mkfifo "$work/rounds"
"$sotto" --json train fedrec --data "$work/deep/data" --out "$work/deeper/runs/a" --rounds 100000 --set cohort=4 \
  --set word_size=8 --set heads=2 --set head_size=4 --set pooling_size=4 >"$work/rounds" 2>"$work/err" &
training=$!
exec 3<"$work/rounds"
read -r first <&3 || fail "no round was trained: $(cat "$work/err")"
grep -q '"event":"round"' <<<"$first" || fail "the first line is $first"
kill -INT "$training"
last=$(tail -n 1 <&3)
code=0
wait "$training" || code=$?
[ "$code" -eq 1 ] || fail "an interrupted training ends with $code"
grep -q '"event":"interrupted"' <<<"$last" || fail "the last line is $last"
grep -q -- '--resume' "$work/err" || fail "it must say how to go on: $(cat "$work/err")"
[ -s "$work/deeper/runs/a/last.sotto" ] || fail 'the checkpoint is missing'
