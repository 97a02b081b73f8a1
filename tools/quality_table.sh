#!/usr/bin/env bash
# Trains every central model on a data set, each with the same tuning budget, over several seeds, and prints a
# markdown table of test metrics: mean and standard error, best AUC first, popularity and random beside them.
#
# Tuning: with the first seed a model is trained at every learning rate of the list; the rate with the best
# validation AUC is kept for all seeds. The test set chooses nothing.
#
# One JSON line per finished run is appended to --results; runs that stand there (same data and settings) are
# skipped, so that the script can be stopped and started again.
set -euo pipefail

usage() {
  cat >&2 <<'TEXT'
tools/quality_table.sh --data DIR --results FILE.jsonl [options]
  --runs DIR            where run folders are made (default: FILE.jsonl.runs); a finished one is removed
  --keep                keep the folders of finished runs
  --models "A B"        models of 'sotto train central' (default: all)
  --seeds "1 2 3"       (default: 1 2 3 4 5)
  --rates "A B"         learning rates to choose from (default: 0.0003 0.001 0.003)
  --rounds N            steps at most (default: 3000)
  --evaluate-every N    steps between two looks at validation (default: 100)
  --patience N          looks without a better AUC before a run stops (default: 10)
  --device cpu|cuda     (default: cpu)
  --bert DIR            checkpoint for plm-nr
  --set key=value       for all models that have this setting; may be repeated
  --sotto FILE          the command (default: build/release/sotto)
  --table               print the table of what is finished, train nothing
TEXT
  exit 2
}

data='' results='' runs='' keep=false models='' seeds='1 2 3 4 5' rates='0.0003 0.001 0.003' rounds=3000
every=100 patience=10 device=cpu bert='' sotto=build/release/sotto table_only=false
common=()
while [ $# -gt 0 ]; do
  case $1 in
    --keep) keep=true; shift; continue ;;
    --table) table_only=true; shift; continue ;;
    --help) usage ;;
  esac
  [ $# -ge 2 ] || usage
  case $1 in
    --data) data=$2 ;;
    --results) results=$2 ;;
    --runs) runs=$2 ;;
    --models) models=$2 ;;
    --seeds) seeds=$2 ;;
    --rates) rates=$2 ;;
    --rounds) rounds=$2 ;;
    --evaluate-every) every=$2 ;;
    --patience) patience=$2 ;;
    --device) device=$2 ;;
    --bert) bert=$2 ;;
    --set) common+=("$2") ;;
    --sotto) sotto=$2 ;;
    *) echo "quality_table: unknown option $1" >&2; usage ;;
  esac
  shift 2
done
if [ -z "$data" ] || [ -z "$results" ]; then usage; fi
[ -x "$sotto" ] || { echo "quality_table: $sotto is not there: build it, or give --sotto FILE" >&2; exit 2; }
runs=${runs:-$results.runs}
touch "$results"

# The number behind a key in the JSON line on stdin.
number() { sed -n "s/.*\"$1\":\(-\{0,1\}[0-9][0-9.eE+-]*\).*/\1/p"; }

if [ -z "$models" ]; then
  models=$("$sotto" recipes central | awk -F '|' '$2 ~ /model/ && !found++ { gsub(/,/, ""); print $5 }')
fi

# What all runs of a model share, one key=value per line.
declare -A settings
for model in $models; do
  known=$("$sotto" recipes central --set "model=$model" --json) || exit 2
  settings[$model]=$(printf 'evaluate_every=%s\npatience=%s\nvalidation=latest' "$every" "$patience")
  if [ "$model" = plm-nr ] && [ -n "$bert" ]; then settings[$model]+=$'\n'bert=$bert; fi
  for setting in "${common[@]}"; do
    case $known in *"\"${setting%%=*}\":"*) settings[$model]+=$'\n'$setting ;; esac
  done
done

# A finished run is known by this part of its line.
identity() { # MODEL SEED RATE
  printf '"model":"%s","seed":%s,"learning_rate":%s,"plan":"%s rounds=%s device=%s %s"' "$1" "$2" "$3" "$data" "$rounds" \
    "$device" "${settings[$1]//$'\n'/ }"
}

failures=0
run_once() { # MODEL SEED RATE: trains unless it is finished
  local id folder output assignments=() setting
  id=$(identity "$1" "$2" "$3")
  if grep -qF -- "$id" "$results"; then return 0; fi
  folder=$runs/$1-$2-$3
  while read -r setting; do assignments+=(--set "$setting"); done <<<"${settings[$1]}"
  mkdir -p "$runs"
  # What an interrupted call has left is trained anew: its settings may have been others.
  rm -rf "$folder"
  echo "quality_table: $1, seed $2, learning rate $3" >&2
  if ! output=$("$sotto" train central --set "model=$1" --data "$data" --out "$folder" --rounds "$rounds" --seed "$2" --device "$device" \
    --set "learning_rate=$3" "${assignments[@]}" --json --quiet); then
    echo "quality_table: $1 with seed $2 failed and is left out" >&2
    failures=$((failures + 1))
    return 1
  fi
  local validation done_line metrics key
  validation=$(grep '"event":"round"' <<<"$output" | number auc | sort -g | tail -n 1)
  done_line=$(grep '"event":"done"' <<<"$output" || true)
  if [ -z "$done_line" ]; then
    echo 'quality_table: stopped' >&2
    exit 1
  fi
  metrics=''
  for key in auc mrr ndcg5 ndcg10 seconds rounds best_round parameters; do
    metrics+=",\"$key\":$(number "$key" <<<"$done_line")"
  done
  printf '{%s,"validation_auc":%s%s}\n' "$id" "${validation:-0}" "$metrics" >>"$results"
  if ! $keep; then rm -rf "$folder"; fi
}

best_rate() { # MODEL: by validation AUC of the first seed
  local rate
  for rate in $rates; do
    grep -F -- "$(identity "$1" "${seeds%% *}" "$rate")" "$results" | head -n 1 | number validation_auc | sed "s/\$/ $rate/"
  done | sort -g | tail -n 1 | cut -d ' ' -f 2
}

if ! $table_only; then
  for model in $models; do
    for rate in $rates; do run_once "$model" "${seeds%% *}" "$rate" || true; done
    chosen=$(best_rate "$model")
    [ -n "$chosen" ] || continue
    for seed in $seeds; do run_once "$model" "$seed" "$chosen" || true; done
  done
fi

# Rows "auc|line" of the table, to be sorted.
rows() {
  local model seed chosen
  "$sotto" eval --baselines --data "$data" --json | while read -r line; do
    printf '%s|| %s | %s | %s | %s | %s | | |\n' "$(number auc <<<"$line")" "$(sed -n 's/.*"name":"\([^"]*\)".*/\1/p' <<<"$line")" \
      "$(number auc <<<"$line" | awk '{printf "%.2f", 100 * $1}')" "$(number mrr <<<"$line" | awk '{printf "%.2f", 100 * $1}')" \
      "$(number ndcg5 <<<"$line" | awk '{printf "%.2f", 100 * $1}')" "$(number ndcg10 <<<"$line" | awk '{printf "%.2f", 100 * $1}')"
  done
  for model in $models; do
    chosen=$(best_rate "$model")
    [ -n "$chosen" ] || continue
    for seed in $seeds; do
      grep -F -- "$(identity "$model" "$seed" "$chosen")" "$results" | head -n 1 | while read -r line; do
        for key in auc mrr ndcg5 ndcg10; do printf '%s ' "$(number "$key" <<<"$line")"; done
        echo
      done
    done | awk -v model="$model" -v rate="$chosen" '
      { n++; for (i = 1; i <= 4; i++) { sum[i] += 100 * $i; squares[i] += 10000 * $i * $i } }
      END {
        if (n == 0) exit
        row = "| " model " |"
        for (i = 1; i <= 4; i++) {
          mean = sum[i] / n
          variance = n > 1 ? (squares[i] - n * mean * mean) / (n - 1) : 0
          if (variance < 0) variance = 0
          row = row (n > 1 ? sprintf(" %.2f ± %.2f |", mean, sqrt(variance / n)) : sprintf(" %.2f |", mean))
        }
        printf "%.6f|%s %s | %d |\n", sum[1] / n / 100, row, rate, n
      }'
  done
}

echo '| model | AUC % | MRR % | nDCG@5 % | nDCG@10 % | learning rate | seeds |'
echo '|---|---|---|---|---|---|---|'
rows | sort -t '|' -k1,1gr | cut -d '|' -f 2-
[ "$failures" -eq 0 ] || { echo "quality_table: $failures runs failed" >&2; exit 1; }
