#!/usr/bin/env bash
# The page that a privacy officer files: of a run with secret noise, of a simulation, of runs that have none, of a
# coordinator and of a device that asked a server; and the audit of a run's own questions.
# Usage: privacy_report_test.sh SOTTO
set -euo pipefail
sotto=$1
work=$(mktemp -d)
export XDG_STATE_HOME=$work/state # where anchors of devices are
running=
end() {
  [ -z "$running" ] || kill -KILL "$running" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
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
fingerprint=$(grep -oE '"fingerprint": ?"[^"]+' "$work/secret/run.json" | cut -d'"' -f4)
grep -qF "$fingerprint (a checksum: finds mistakes, not forgery)" "$work/pages/secret.html" || fail "the page does not say what a fingerprint is worth"
grep -qF SIMULATION "$work/pages/secret.html" && fail "a run with secret noise is called a simulation"

"$sotto" --json privacy report "$work/simulation" --out "$work/pages/simulation.html" 2>/dev/null | grep -q '"epsilon":null' ||
  fail "a simulation has an epsilon"
grep -qF SIMULATION "$work/pages/simulation.html" || fail "the page of a simulation does not say so"
head -n 1 "$work/simulation/privacy.txt" | grep -qF 'simulation: no ε holds' || fail "privacy.txt does not begin with the simulation"
head -n 1 "$work/secret/privacy.txt" | grep -qF 'no simulation, all noise was secret' || fail "privacy.txt does not begin with that it was none"

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

# PrivateRec's questions are audited with the run's own basis, clip and noise.
"$sotto" train privaterec --data "$work/news" --out "$work/mixture" --rounds 2 --epsilon 8 --set cohort=40 --set serving_epsilon=2 \
  --set basis_vectors=4 --set word_size=8 --set heads=2 --set head_size=4 --set pooling_size=4 >/dev/null 2>"$work/said" ||
  fail "privaterec does not train: $(cat "$work/said")"
"$sotto" --json privacy audit "$work/mixture" --samples 2000 >"$work/event" 2>/dev/null || fail "an audit refutes privaterec: $(cat "$work/event")"
grep -F '"name":"query"' "$work/event" | grep -qE '"claimed":2(\.0*)?[,0-9]' || fail "privaterec's query is not audited: $(cat "$work/event")"
"$sotto" privacy report "$work/mixture" --out "$work/pages/mixture.html" >/dev/null 2>&1
grep -qF 'weights of 4 basis vectors' "$work/pages/mixture.html" || fail "the page does not audit privaterec's query"

# Gaussian noise on a question spends delta too: that of the training and of every question until then.
"$sotto" train privaterec --data "$work/news" --out "$work/gaussian" --rounds 2 --epsilon 8 --set cohort=40 --set serving_epsilon=2 \
  --set noise=gaussian --set basis_vectors=4 --set word_size=8 --set heads=2 --set head_size=4 --set pooling_size=4 >/dev/null 2>"$work/said" ||
  fail "privaterec with Gaussian noise does not train: $(cat "$work/said")"
"$sotto" --json privacy report "$work/gaussian" --out "$work/pages/gaussian.html" --queries-per-day 3 >"$work/event" 2>/dev/null
exact() { grep -oE "\"$1\":[0-9.e+-]+" "$work/event" | head -n 1 | cut -d: -f2; }
awk -v one="$(exact delta_query)" 'BEGIN { exit !(one > 0) }' || fail "a question under Gaussian noise has no delta: $(cat "$work/event")"
for span in day:1 month:31 ten_years:3652; do
  awk -v all="$(exact "delta_${span%:*}")" -v training="$(exact delta)" -v one="$(exact delta_query)" -v days="${span#*:}" \
    'BEGIN { ratio = all / (training + 3 * one * days); exit !(ratio > 0.999999 && ratio < 1.000001) }' ||
    fail "delta over ${span%:*} leaves out questions: $(cat "$work/event")"
  grep -qF ">$(awk -v all="$(exact "delta_${span%:*}")" 'BEGIN { printf "%.4g", all }')<" "$work/pages/gaussian.html" ||
    fail "the page does not say delta over ${span%:*}"
done
"$sotto" --json privacy report "$work/gaussian" --out "$work/pages/gaussian.html" --replace --queries-per-day 1000 2>/dev/null |
  grep -qF '"epsilon_ten_years":null' || fail "an epsilon is said to hold at a delta above 1"

# So are the noisy vectors that dp-fedrec sends.
small=(--rounds 2 --epsilon 8 --set cohort=40 --set word_size=8 --set heads=2 --set head_size=4 --set pooling_size=4)
"$sotto" train dp-fedrec --data "$work/news" --out "$work/vectors" "${small[@]}" --set serving_epsilon=2 >/dev/null 2>"$work/said" ||
  fail "dp-fedrec does not train: $(cat "$work/said")"
"$sotto" --json privacy audit "$work/vectors" --samples 2000 >"$work/event" 2>/dev/null || fail "an audit refutes dp-fedrec: $(cat "$work/event")"
grep -F '"name":"query"' "$work/event" | grep -qE '"claimed":2(\.0*)?[,0-9]' || fail "dp-fedrec's query is not audited: $(cat "$work/event")"
"$sotto" privacy report "$work/vectors" --out "$work/pages/vectors.html" >/dev/null 2>&1
grep -qF 'a vector of 8 numbers, whole history' "$work/pages/vectors.html" || fail "the page does not audit dp-fedrec's query"
# Where the settings of questions are gone they cannot be audited, and the page says that.
cp -r "$work/vectors" "$work/earlier"
sed -i 's/^vector_clip = .*//' "$work/earlier/settings.toml"
"$sotto" privacy report "$work/earlier" --out "$work/pages/earlier.html" >/dev/null 2>&1
grep -qF 'Its questions were not audited' "$work/pages/earlier.html" || fail "the page hides that questions were not audited"

# Questions without noise: whatever the training cost, nothing holds for both together.
for recipe in dp-fedrec privaterec; do
  "$sotto" train "$recipe" --data "$work/news" --out "$work/open-$recipe" "${small[@]}" >/dev/null 2>"$work/said" ||
    fail "$recipe does not train: $(cat "$work/said")"
  "$sotto" --json privacy report "$work/open-$recipe" --out "$work/pages/open.html" --replace >"$work/event" 2>/dev/null
  grep -qE '"epsilon":[0-9]' "$work/event" || fail "$recipe's training has no epsilon: $(cat "$work/event")"
  for span in day month ten_years; do
    grep -qF "\"epsilon_$span\":null" "$work/event" || fail "$recipe's open questions cost nothing in a $span: $(cat "$work/event")"
  done
  grep -qF 'nothing holds for training and questions together' "$work/pages/open.html" || fail "the page of $recipe does not say that questions are open"
  [ "$(grep -o 'none holds' "$work/pages/open.html" | wc -l)" = 9 ] || fail "the page of $recipe adds open questions up"
  "$sotto" --json privacy report "$work/open-$recipe" --out "$work/pages/open.html" --replace --queries-per-day 0 2>/dev/null |
    grep -qE '"epsilon_day":[0-9]' || fail "without questions only the training of $recipe is charged"
  "$sotto" --json privacy report "$work/open-$recipe" --out "$work/pages/open.html" --replace --query-epsilon 3 2>/dev/null |
    grep -qE '"epsilon_day":[0-9]' || fail "questions of $recipe by prototypes are not added up"
done

# What cannot be written is refused before the audit.
refused 'is a folder: name the HTML file' "$sotto" privacy report "$work/secret" --out "$work/pages" --replace
refused 'is a folder: name the HTML file' "$sotto" privacy report "$work/secret" --out "$work/new/"

# A server of recommendations has nothing to report, and says who has; a device that asked it does.
start() { # TEXT COMMAND...: in the background, until it says TEXT; a minute at most
  local text=$1
  shift
  "$@" >"$work/out" 2>"$work/err" &
  running=$!
  for _ in $(seq 600); do
    grep -qF -- "$text" "$work/out" && return 0
    [ -d "/proc/$running" ] || fail "$* ended: $(cat "$work/err")"
    sleep 0.1
  done
  fail "$* does not say '$text' in a minute"
}
stop() {
  kill -TERM "$running"
  wait "$running" || true
  running=
}
if "$sotto" serve --help >/dev/null 2>&1; then
  start '"event":"serving"' "$sotto" --json serve --run "$work/secret" --catalogue "$work/pool" --epsilon 3 --port 0
  url=$(grep -F '"event":"serving"' "$work/out" | grep -oE 'http://[^"]+')
  refused 'serves recommendations' "$sotto" privacy report "$url" --out "$work/none.html"
  refused 'makes one that is recommended to' "$sotto" device --store "$work/reader" --server "$url" recommend
  refused 'rankin' "$sotto" device --store "$work/reader" new --set rankin=private
  [ ! -e "$work/reader" ] || fail "a refused device left a folder"
  "$sotto" device --store "$work/reader" new --set ranking=private --set epsilon=3 --set day_epsilon=6 >"$work/said" 2>&1
  grep -qF "its ledger's anchor is $work/state/sotto/anchors/" "$work/said" || fail "no word about the anchor: $(cat "$work/said")"
  "$sotto" device --store "$work/brief" new >/dev/null 2>&1
  rm -r "$work/brief"
  "$sotto" device --store "$work/brief" new >"$work/said" 2>&1
  grep -qF 'the budgets begin spent' "$work/said" || fail "a deleted device begins anew: $(cat "$work/said")"
  refused 'is a device already' "$sotto" device --store "$work/reader" new
  "$sotto" --json device --store "$work/reader" --server "$url" recommend --yes --count 5 >"$work/first" 2>"$work/said" ||
    fail "the device is recommended nothing: $(cat "$work/said")"
  clicked=$(grep -oE '"id":"[^"]+"' "$work/first" | head -n 2 | cut -d'"' -f4)
  clicks=()
  for item in $clicked; do clicks+=(--click "$item"); done
  "$sotto" --json device --store "$work/reader" --server "$url" recommend --count 5 "${clicks[@]}" >/dev/null
  stop
  "$sotto" --json privacy report "$work/reader" --out "$work/pages/device.html" >"$work/event" 2>/dev/null
  grep -qF '"of":"device"' "$work/event" || fail "not the report of a device: $(cat "$work/event")"
  awk -v told="$(number epsilon_queries)" 'BEGIN { exit !(told > 2.9 && told < 3.1) }' ||
    fail "the device's report has another price of its question: $(cat "$work/event")"
  for part in 'questions for recommendations' 'this day' 'lifetime' 'What is not protected' 'newest record'; do
    grep -qF "$part" "$work/pages/device.html" || fail "the page of a device does not say '$part'"
  done
  for item in $clicked; do
    grep -qF ">$item<" "$work/pages/device.html" && fail "the page of a device names what was clicked"
  done

  "$sotto" campaign new --recipe sotto --data "$work/news" --cohort 40 --rounds 2 --participations 2 --epsilon 8 \
    --purpose 'Better news' --out "$work/trial.toml" >/dev/null 2>&1
  coordinate() { "$sotto" coordinator --campaign "$work/trial.toml" --listen 127.0.0.1:0 "$@"; }
  refused 'is the folder of a run' coordinate --data "$work/secret" --store "$work/store"
  [ ! -e "$work/store" ] || fail "a refused coordinator left a store"
  refused 'has a dataset.sotto: name a folder of its own' coordinate --data "$work/news" --store "$work/news"
  refused 'trial.toml is a file' "$sotto" privacy report "$work/trial.toml" --out "$work/none.html"
  start coordinating "$sotto" coordinator --campaign "$work/trial.toml" --data "$work/news" --store "$work/store" --listen 127.0.0.1:0
  for _ in $(seq 600); do # until the first version is in the store
    "$sotto" --json privacy report "$work/store" --out "$work/pages/coordinator.html" >"$work/event" 2>"$work/said" && break
    grep -qF 'no version yet' "$work/said" || fail "no report of a coordinator: $(cat "$work/said")"
    sleep 0.1
  done
  url=$(grep -oE 'http://[^ ]+' "$work/out" | head -n 1)
  "$sotto" campaign tokens --key "$work/store/trial/operator.key" --count 1 --out "$work/token" >/dev/null 2>&1
  echo n | "$sotto" device --store "$work/shy" --server "$url" enrol --token "$work/token" --operator-key "$work/store/trial/operator.key.pub" >"$work/said" 2>&1
  grep -qF 'not enrolled: the campaign was fetched' "$work/said" || fail "not what a refusal did: $(cat "$work/said")"
  stop
  for part in '"of":"coordinator"' '"operator_signature":null' '"trial":true' '"rounds_done":0' '"refuted":false'; do
    grep -qF "$part" "$work/event" || fail "no $part in $(cat "$work/event")"
  done
  awk -v asked="$(number epsilon)" 'BEGIN { exit !(asked > 6 && asked <= 8) }' || fail "not the budget of the campaign: $(cat "$work/event")"
  for part in 'Better news' 'What is charged, against the server' 'as many as one device may, at most' 'What the server sees' \
    'What is not protected' 'not refuted' 'head of the log' 'TRIAL' 'not verified\|by a key that lies beside the store'; do
    grep -q "$part" "$work/pages/coordinator.html" || fail "the page of a coordinator does not say '$part'"
  done
  refused 'for the report of a run' "$sotto" privacy report "$work/store" --out "$work/none.html" --query-epsilon 3
fi

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
