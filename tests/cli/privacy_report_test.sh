#!/usr/bin/env bash
# The page that a privacy officer files: of a run with secret noise, of a simulation, and of runs that have none.
# Usage: privacy_report_test.sh SOTTO
set -euo pipefail
sotto=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
  echo "privacy_report_test: $*" >&2
  exit 1
}
refused() { # TEXT COMMAND...: exits with 2 and says so
  local text=$1 code=0
  shift
  "$@" >"$work/said" 2>&1 || code=$?
  [ "$code" = 2 ] || fail "$* exits with $code: $(cat "$work/said")"
  grep -qF -- "$text" "$work/said" || fail "$* does not say '$text': $(cat "$work/said")"
}

"$sotto" data generate newsroom --users 200 --news 150 --days 3 --out "$work/news" >/dev/null 2>&1
train() { # RUN FLAGS...: a small private run
  local run=$1
  shift
  "$sotto" train sotto --data "$work/news" --out "$work/$run" --rounds 3 --epsilon 8 --set serving_epsilon=2 "$@" >/dev/null 2>&1
}
train secret
train simulation --reproducible

"$sotto" --json privacy report "$work/secret" --out "$work/pages/secret.html" >"$work/event" 2>/dev/null
epsilon=$(grep -oE '"epsilon":[0-9.]+' "$work/secret/privacy.json" | head -n 1)
grep -qF "$epsilon," "$work/event" || fail "the page has another epsilon than the run: $(cat "$work/event")"
for part in '"simulation":false' '"name":"sum of updates"' '"name":"query"' '"claimed":2.0'; do
  grep -qF "$part" "$work/event" || fail "no $part in $(cat "$work/event")"
done
grep -qF '"refuted":true' "$work/event" && fail "an audit refutes the run: $(cat "$work/event")"
for part in 'What holds, against whom' 'in a month' 'What is not protected' 'not refuted' 'BLAKE2b-256' 'right about which is true at most'; do
  grep -qF "$part" "$work/pages/secret.html" || fail "the page does not say '$part'"
done
grep -qF SIMULATION "$work/pages/secret.html" && fail "a run with secret noise is called a simulation"

"$sotto" --json privacy report "$work/simulation" --out "$work/pages/simulation.html" 2>/dev/null | grep -q '"epsilon":null' ||
  fail "a simulation has an epsilon"
grep -qF SIMULATION "$work/pages/simulation.html" || fail "the page of a simulation does not say so"
head -n 1 "$work/simulation/privacy.txt" | grep -qF simulation || fail "privacy.txt does not begin with the simulation"

# Demand that was released for serving adds to what is published.
cp -r "$work/secret" "$work/served"
echo '{"epsilon":0.5}' >"$work/served/demand-charges.jsonl"
"$sotto" privacy report "$work/served" --out "$work/pages/served.html" >/dev/null 2>&1
grep -qF 'demand included' "$work/pages/served.html" || fail "the page leaves out the demand"

# Another page is not overwritten, unless asked.
before=$(cat "$work/pages/secret.html")
refused '--replace' "$sotto" privacy report "$work/simulation" --out "$work/pages/secret.html"
[ "$before" = "$(cat "$work/pages/secret.html")" ] || fail "a refusal changed the page"
"$sotto" privacy report "$work/simulation" --out "$work/pages/secret.html" --replace >/dev/null 2>&1

# Questions as the server is set: charged, added up and audited in place of the run's own.
"$sotto" --json privacy report "$work/secret" --out "$work/pages/asked.html" --query-epsilon 3 --queries-per-day 2 >"$work/event" 2>/dev/null
grep -qF '"claimed":3.0' "$work/event" || fail "the question as it is served is not audited: $(cat "$work/event")"
number() { grep -oE "\"$1\":[0-9.]+" "$work/event" | head -n 1 | cut -d: -f2; }
for span in day:1 month:31 ten_years:3652; do
  awk -v all="$(number "epsilon_${span%:*}")" -v training="$(number epsilon)" -v days="${span#*:}" \
    'BEGIN { rest = all - training - 2 * 3 * days; exit !(rest < 1e-6 && rest > -1e-6) }' ||
    fail "the sum over ${span%:*} leaves out questions: $(cat "$work/event")"
done
grep -qF 'told by randomised response, at epsilon 3' "$work/pages/asked.html" || fail "the page does not say how questions are asked"
refused '--query-epsilon' "$sotto" privacy report "$work/secret" --out "$work/none.html" --query-epsilon 0

# What cannot be written is refused before the audit.
refused 'is a folder: name the HTML file' "$sotto" privacy report "$work/secret" --out "$work/pages" --replace
refused 'is a folder: name the HTML file' "$sotto" privacy report "$work/secret" --out "$work/new/"

# Runs without privacy, and no runs at all.
"$sotto" train fedrec --data "$work/news" --out "$work/plain" --rounds 1 --set cohort=10 >/dev/null 2>&1
refused 'no differential privacy' "$sotto" privacy report "$work/plain" --out "$work/none.html"
refused 'no differential privacy' "$sotto" privacy audit "$work/plain"
refused 'run.json' "$sotto" privacy report "$work/news" --out "$work/none.html"
# A page that was made to promise more, and parts that are gone.
cp -r "$work/secret" "$work/forged"
sed -i 's/"epsilon":[0-9.]*/"epsilon":1.0/' "$work/forged/privacy.json"
refused 'promises more than the plan' "$sotto" privacy report "$work/forged" --out "$work/none.html"
cp -r "$work/secret" "$work/parts"
rm "$work/parts/best.sotto"
refused 'best.sotto is gone' "$sotto" privacy report "$work/parts" --out "$work/none.html"
ended=$(grep -oE '"ended": ?"[^"]+' "$work/secret/result.json" | cut -d'"' -f4)
grep -qF "$ended" "$work/pages/served.html" || fail "the page has another end of the training than the run"
sed -i 's/"unit":"user"/"unit":"planet"/' "$work/secret/privacy.json"
refused planet "$sotto" privacy report "$work/secret" --out "$work/none.html"
[ ! -e "$work/none.html" ] || fail "a refusal wrote a page"
echo "privacy_report_test: passed"
