#!/usr/bin/env bash
# What people feel: commands that need no libtorch start in little time and memory; OpenMP's threads of the trainer do not spin
# while they wait, unless the user wants it so; and a training of 200 rounds takes no more memory at its end than after 50.
#   weight_test.sh SOTTO
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
fail() { echo "weight_test: $*" >&2; exit 1; }

# Loading libtorch alone takes half a second of processor and 170 MB. Best of five, for the sake of busy machines.
TIMEFORMAT='%U %S'
for words in --version --help 'privacy --help' 'data --help' 'privacy account nowhere'; do
  best=1000000
  for _ in 1 2 3 4 5; do
    # shellcheck disable=SC2086 # several words; the last of them is refused
    used=$({ time "$sotto" $words >out 2>&1 </dev/null || true; } 2>&1)
    best=$(awk -v best="$best" -v used="$used" 'BEGIN {split(used, part, " "); ms = 1000 * (part[1] + part[2]); print (ms < best) ? ms : best}')
  done
  awk -v ms="$best" 'BEGIN {exit ms > 150}' || fail "'sotto $words' takes $best ms of processor before it says anything"
  # shellcheck disable=SC2086
  (ulimit -d 100000 && "$sotto" $words >out 2>&1 </dev/null) || [ $? -eq 2 ] || fail "'sotto $words' needs more than 100 MB of its own: $(tail -n 2 out)"
done

# What the trainer is started with: something in its place tells.
cp "$sotto" "$work/sotto"
mkdir libexec
# shellcheck disable=SC2016 # it expands them
printf '#!/bin/sh\necho "spin=${GOMP_SPINCOUNT:-unset} policy=${OMP_WAIT_POLICY:-unset}"\n' >libexec/sotto-trainer
chmod +x libexec/sotto-trainer
told() { # EXPECTED COMMAND...
  local expected=$1
  shift
  [ "$("$@")" = "$expected" ] || fail "the trainer gets '$("$@")' instead of '$expected'"
}
unset GOMP_SPINCOUNT OMP_WAIT_POLICY
told 'spin=2000 policy=unset' ./sotto recipes
told 'spin=77 policy=unset' env GOMP_SPINCOUNT=77 ./sotto recipes
told 'spin=unset policy=ACTIVE' env OMP_WAIT_POLICY=ACTIVE ./sotto recipes

# Anonymous memory alone: what the kernel keeps of files is not ours.
"$sotto" --quiet data generate newsroom --users 200 --news 200 --days 3 --out news >out 2>err || fail "no data: $(cat err)"
"$sotto" --quiet --threads 2 train sotto --data news --out run --rounds 100000 --epsilon 200 --test-impressions 20 \
  --set vector_size=8 --set cohort=30 --set sums=law --set personal_steps=0 --set learning_rate=0.001 --set checkpoint_every=1 >out 2>err </dev/null &
running=$!
at_round() { # ROUND: kilobytes once so many are done
  for _ in $(seq 12000); do
    [ -d "/proc/$running" ] || fail "the training ended by itself: $(tail -n 3 err)"
    if [ -f run/log.jsonl ] && [ "$(wc -l <run/log.jsonl)" -ge "$1" ]; then
      awk '$1 == "RssAnon:" {print $2}' "/proc/$running/status"
      return
    fi
    sleep 0.01
  done
  fail "two minutes were too short for $1 rounds"
}
early=$(at_round 50)
late=$(at_round 250)
kill -KILL "$running"
wait "$running" 2>/dev/null || true
running=
[ "$late" -le $((early + early / 20 + 4096)) ] || fail "after 200 more rounds it has $late kB instead of $early kB"
echo "light commands are light; $early kB after 50 rounds, $late kB after 250"
