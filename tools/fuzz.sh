#!/usr/bin/env bash
# Builds every fuzz target and runs each for SECONDS_EACH (default 30) seconds; stops at the first finding.
# EXECUTIONS=n: then goes on until all together have run n inputs. What is missing is spread evenly over the faster
# half of the targets: the slow ones would take days. The table goes to stdout and to build/fuzz/table.tsv.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${SECONDS_EACH:-30}
wanted=${EXECUTIONS:-0}
tools/build.sh fuzz fuzz_targets
work=build/fuzz/corpus
mkdir -p "$work"
declare -A executed spent edges
targets=()
for target in build/fuzz/fuzz/fuzz_*; do
  [ -x "$target" ] || continue
  name=$(basename "$target")
  targets+=("$name")
  executed[$name]=0
  spent[$name]=0
done

run() { # NAME LIMIT: -max_total_time=s or -runs=n
  local name=$1 corpus=$work/$1 begun=$SECONDS count seeds=()
  mkdir -p "$corpus"
  [ -d "fuzz/corpus/$name" ] && seeds=("fuzz/corpus/$name") # what once broke something
  if ! "build/fuzz/fuzz/$name" "$2" -rss_limit_mb=3000 -timeout=20 -print_final_stats=1 \
    -artifact_prefix="$corpus-" "$corpus" "${seeds[@]}" >"$corpus.log" 2>&1; then
    tail -n 40 "$corpus.log" >&2
    echo "fuzz: $name failed; the input is beside $corpus" >&2
    exit 1
  fi
  count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus.log")
  executed[$name]=$((executed[$name] + count))
  spent[$name]=$((spent[$name] + SECONDS - begun))
  edges[$name]=$(grep -oE ' cov: [0-9]+' "$corpus.log" | tail -n 1 | tr -dc 0-9)
  echo "fuzz: $name: $count inputs in $((SECONDS - begun)) s, ${edges[$name]:-0} edges" >&2
}
total() {
  local sum=0 name
  for name in "${targets[@]}"; do sum=$((sum + executed[$name])); done
  echo "$sum"
}

for name in "${targets[@]}"; do run "$name" "-max_total_time=$seconds"; done
missing=$((wanted - $(total)))
if [ "$missing" -gt 0 ]; then
  half=$(((${#targets[@]} + 1) / 2))
  mapfile -t fast < <(for name in "${targets[@]}"; do echo "${executed[$name]} $name"; done |
    sort -rn | head -n "$half" | cut -d' ' -f2)
  for name in "${fast[@]}"; do run "$name" "-runs=$((missing / half + 1))"; done
fi
{
  printf 'target\tinputs\tseconds\tedges\n'
  for name in "${targets[@]}"; do
    printf '%s\t%s\t%s\t%s\n' "${name#fuzz_}" "${executed[$name]}" "${spent[$name]}" "${edges[$name]:-0}"
  done
  printf 'all\t%s\t%s\t\n' "$(total)" "$SECONDS"
} | tee build/fuzz/table.tsv
