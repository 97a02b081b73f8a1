#!/usr/bin/env bash
# Builds every fuzz target and runs each for SECONDS_EACH (default 30) seconds. A finding does not stop the others: its
# input and its log stay beside the target's corpus, and the script fails at the end. JOBS=n: n targets at once.
# EXECUTIONS=n: then goes on until all together have run n inputs. What is missing is made up by the faster half of the
# targets in equal time: the slow ones would take days. ONLY="NAME NAME": these targets and no others, built alone too.
# The table goes to stdout and, after every run, to build/fuzz/table.tsv.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${SECONDS_EACH:-30}
wanted=${EXECUTIONS:-0}
jobs=${JOBS:-1}
read -ra only <<<"${ONLY:-}"
wanted_targets=("${only[@]/#/fuzz_}")
[ ${#only[@]} -gt 0 ] || wanted_targets=(fuzz_targets)
tools/build.sh fuzz "${wanted_targets[@]}"
work=build/fuzz/corpus
mkdir -p "$work"
rm -f "$work"/*.result
begun_all=$SECONDS
declare -A executed spent edges findings
targets=()
for target in build/fuzz/fuzz/fuzz_*; do
  [ -x "$target" ] || continue
  name=$(basename "$target")
  [ ${#only[@]} -eq 0 ] || [[ " ${only[*]} " == *" ${name#fuzz_} "* ]] || continue
  targets+=("$name")
  executed[$name]=0
  spent[$name]=0
  findings[$name]=0
done

total() { # executed | findings
  local -n column=$1
  local sum=0 name
  for name in "${targets[@]}"; do sum=$((sum + ${column[$name]})); done
  echo "$sum"
}
table() {
  local name
  printf 'target\tinputs\tseconds\tedges\tfindings\n'
  for name in "${targets[@]}"; do
    printf '%s\t%s\t%s\t%s\t%s\n' "${name#fuzz_}" "${executed[$name]}" "${spent[$name]}" "${edges[$name]:-0}" "${findings[$name]}"
  done
  printf 'all\t%s\t%s\t\t%s\n' "$(total executed)" "$((SECONDS - begun_all))" "$(total findings)"
}
run() { # NAME SECONDS; what came of it is left in NAME.result
  local name=$1 corpus=$work/$1 begun=$SECONDS count edges failed=0 seeds=()
  mkdir -p "$corpus"
  [ -d "fuzz/corpus/$name" ] && seeds=("fuzz/corpus/$name") # what once broke something
  if ! "build/fuzz/fuzz/$name" "-max_total_time=$2" -rss_limit_mb=3000 -timeout=20 -print_final_stats=1 \
    -artifact_prefix="$corpus-" "$corpus" "${seeds[@]}" >"$corpus.log" 2>&1; then
    cp "$corpus.log" "$corpus.finding.log"
    tail -n 40 "$corpus.log" >&2
    echo "fuzz: $name failed; the input is beside $corpus, the log is $corpus.finding.log" >&2
    failed=1
  fi
  count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$corpus.log")
  edges=$(grep -oE ' cov: [0-9]+' "$corpus.log" | tail -n 1 | tr -dc 0-9 || true)
  echo "${count:-0} $((SECONDS - begun)) ${edges:-0} $failed" >"$corpus.result.part" && mv "$corpus.result.part" "$corpus.result"
  echo "fuzz: $name: ${count:-0} inputs in $((SECONDS - begun)) s, ${edges:-0} edges" >&2
}
take_results() {
  local name count took found failed
  for name in "${targets[@]}"; do
    [ -f "$work/$name.result" ] || continue
    read -r count took found failed <"$work/$name.result"
    rm "$work/$name.result"
    executed[$name]=$((executed[$name] + count))
    spent[$name]=$((spent[$name] + took))
    edges[$name]=$found
    findings[$name]=$((findings[$name] + failed))
  done
  table >build/fuzz/table.tsv.part && mv build/fuzz/table.tsv.part build/fuzz/table.tsv
}
run_all() { # SECONDS NAME...: so many at once
  local each=$1 name
  shift
  for name in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
    take_results
    run "$name" "$each" &
  done
  wait
  take_results
}

run_all "$seconds" "${targets[@]}"
mapfile -t fast < <(for name in "${targets[@]}"; do
  [ "${findings[$name]}" -gt 0 ] || echo "$((executed[$name] / (spent[$name] + 1))) $name"
done | sort -rn | head -n $(((${#targets[@]} + 1) / 2)))
per_second=0
for line in "${fast[@]}"; do per_second=$((per_second + ${line%% *})); done
while [ "$per_second" -gt 0 ] && [ "$(total executed)" -lt "$wanted" ]; do
  each=$(((wanted - $(total executed)) / per_second + 1))
  run_all "$each" "${fast[@]#* }"
done
cat build/fuzz/table.tsv
[ "$(total findings)" -eq 0 ] || { echo "fuzz: $(total findings) findings" >&2; exit 1; }
