#!/usr/bin/env bash
# sotto coordinator --begin-with: a campaign's first version is the model of a run, or the last version of another coordinator,
# which its own public log then begins with; what does not fit is refused and nothing is written.
#   begin_with_test.sh SOTTO
set -euo pipefail
sotto=$(realpath "$1")
work=$(mktemp -d)
coordinator=
stop() {
  if [ -n "$coordinator" ]; then kill "$coordinator" 2>/dev/null || true; wait "$coordinator" || true; fi
  coordinator=
}
trap 'stop; rm -rf "$work"' EXIT
cd "$work"
fail() { echo "begin_with_test: $1" >&2; cat ./*.log >&2; exit 1; }
ok() { "$sotto" "$@" >out.log 2>&1 </dev/null || fail "$* ends with $?"; }

ok data generate newsroom --users 40 --news 300 --days 3 --seed 3 --out news
rounds=(--cohort 20 --rounds 2 --participations 2 --epsilon 8 --max-training-seconds 1 --shortest-phase-seconds 2)
ok campaign new --recipe sotto --data news "${rounds[@]}" --out draft.toml
ok --json train sotto --data news --out run --rounds 3 --epsilon 8 --set participations=3 --set personal_steps=0 --seed 1
auc_of_run=$(sed -n 's/.*"auc":\([0-9.]*\).*"event":"done".*/\1/p' out.log)
ok train sotto --data news --out other --rounds 1 --epsilon 8 --set participations=1 --set vector_size=8

# STORE FLAGS...: a coordinator with keys of its own; $url and $version are where it is and the first version it has.
start() {
  local store=$1
  shift
  : >said.log # of the one before
  "$sotto" --json coordinator --campaign draft.toml --store "$store" --listen 127.0.0.1:0 "$@" >said.log 2>coordinator.log &
  coordinator=$!
  url=
  for _ in $(seq 600); do
    kill -0 "$coordinator" 2>/dev/null || fail "the coordinator on $store has ended"
    [ -n "$url" ] || url=$(sed -n 's/.*"event":"listening".*"url":"\([^"]*\)".*/\1/p' said.log)
    if [ -n "$url" ] && version_of "$url"; then return; fi
    sleep 0.2
  done
  fail "the coordinator on $store has no version"
}
version_of() {
  version=$(curl -s --max-time 10 "$1/v1/status" | sed -n 's/.*"version":"\([0-9a-f]\{64\}\)".*/\1/p')
  [ -n "$version" ]
}

start seed
seeds=$version
stop
start first --begin-with run
of_run=$version
[ "$of_run" != "$seeds" ] || fail 'the run has changed nothing'
stop
start again --begin-with run
[ "$version" = "$of_run" ] || fail 'the same run gives another first version'
stop

# What it began with is in the store: neither the flag nor the run is needed again.
mv run gone
start first
[ "$version" = "$of_run" ] || fail 'after a restart it has another version'
ok --json fleet --devices 24 --data news --server "$url" --rounds 1
[ -n "$auc_of_run" ] || fail "the run has no AUC"
# Simulation and fleet test the same version on the same pages: the sum of them may differ in its last digits.
auc_of_fleet=$(sed -n 's/.*"auc_before":\([0-9.]*\).*"event":"done".*/\1/p' out.log)
[ "${auc_of_run:0:8}" = "${auc_of_fleet:0:8}" ] ||
  fail "the run's AUC is $auc_of_run, and the fleet measures $auc_of_fleet of the same version"
version_of "$url"
last=$version
[ "$last" != "$of_run" ] || fail 'the round has changed nothing'
stop

# The next coordinator, with another key, log and store, begins where this one ended. Versions have the same name in both logs.
start next --begin-with first
[ "$version" = "$last" ] || fail "the new log begins with $version, and the old one ends with $last"
stop
start next --begin-with nowhere
grep -q 'goes on from it' coordinator.log || fail 'nothing is said of a flag that is passed over'
stop

# Signed, so that a refusal has nothing to write.
ok campaign keys --out operator.key
ok campaign keys --out coordinator.key
ok campaign new --recipe sotto --data news "${rounds[@]}" --coordinator-key coordinator.key.pub --out signed.toml
ok campaign sign signed.toml --key operator.key --out signed.sotto
refused() { # WORDS FROM FLAGS...
  local code=0
  timeout 60 "$sotto" coordinator --campaign signed.sotto --key coordinator.key --operator-key operator.key.pub --data news \
    --store refused --listen 127.0.0.1:0 --begin-with "${@:2}" >said.log 2>refused.log </dev/null || code=$?
  [ "$code" -eq 2 ] || fail "--begin-with $2 ends with $code instead of 2"
  grep -qF -- "$1" refused.log || fail "'$1' is missing"
  [ ! -e refused ] || fail "--begin-with $2 was refused and wrote a store"
}
refused 'begin with a model of the recipe' other
refused 'neither a run of' nowhere
refused 'there is no version to begin with' seed
mv gone run
refused 'start the coordinator with --seed 1' run --seed 2
# What only the trainer can say, the coordinator ends with too.
code=0
timeout 60 "$sotto" coordinator --campaign draft.toml --store elsewhere --listen 127.0.0.1:0 --begin-with first --seed 2 \
  >said.log 2>refused.log </dev/null || code=$?
[ "$code" -eq 2 ] || fail "items of another seed end with $code instead of 2"
grep -qF 'of the coordinator that made it' refused.log || fail 'nothing is said of other items'
