#!/usr/bin/env bash
# Loads a server of made-up items with wrk on the same machine and prints recommendations per second and latencies
# for several numbers of connections: by prototypes, by coefficients (exact), and by coefficients at half that load
# while articles are put at 1,000 per second.
# Usage: [NETWORK_THREADS=N] tools/load_serving.sh [ITEMS] [SECONDS] [CONNECTIONS...]
set -euo pipefail
cd "$(dirname "$0")/.."
items=${1:-1000000} seconds=${2:-10}
[ $# -gt 2 ] && connections=("${@:3}") || connections=(4 8 16)
sotto=${SOTTO:-build/release/sotto} threads=${NETWORK_THREADS:-2}
command -v wrk >/dev/null || { echo "wrk is missing: tools/install_packages.sh load" >&2; exit 1; }

folder=$(mktemp -d)
server="" writer=""
finish() {
  [ -z "$writer" ] || kill "$writer" 2>/dev/null || true
  [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server"; } || true
  rm -rf "$folder"
}
trap finish EXIT
(umask 077 && echo "a-token-for-load-tests" >"$folder/token")
: >"$folder/log"
"$sotto" serve --synthetic "$items" --catalogue "$folder/catalogue" --pack-seconds 0 --survive-process-only \
  --network-threads "$threads" --operator-token-file "$folder/token" --json >"$folder/log" &
server=$!
for _ in $(seq 1200); do
  grep -q '"serving"' "$folder/log" && break
  kill -0 "$server" 2>/dev/null || { echo "the server did not start" >&2; exit 1; }
  sleep 0.25
done
url=$(sed -nE 's/.*"url":"([^"]+)".*/\1/p' "$folder/log")
model=$(sed -nE 's/.*"model":"([^"]+)".*/\1/p' "$folder/log")

# Each request asks something else, as devices do. DELAY: mean milliseconds that a connection rests between requests.
common='wrk.method = "POST"; wrk.headers["Content-Type"] = "application/json"; math.randomseed(20240229)
local rest = tonumber(os.getenv("DELAY") or "0")
if rest > 0 then delay = function() return math.floor(rest + math.random()) end end'
cat >"$folder/prototypes.lua" <<LUA
$common
request = function()
  return wrk.format(nil, nil, nil, string.format('{"model":"$model","prototypes":[%d]}', math.random(0, 63)))
end
LUA
cat >"$folder/coefficients.lua" <<LUA
$common
request = function()
  local weights, sum = {}, 0
  for i = 1, 5 do weights[i] = -math.log(1 - math.random()); sum = sum + weights[i] end
  for i = 1, 5 do weights[i] = string.format("%.7f", weights[i] / sum) end
  return wrk.format(nil, nil, nil, '{"model":"$model","coefficients":[' .. table.concat(weights, ",") .. ']}')
end
LUA

rate=0
load() { # name script connections
  wrk -t1 -c"$3" -d"${seconds}s" --latency -s "$folder/$2.lua" "$url/v1/recommend" >"$folder/wrk"
  rate=$(awk '/^Requests\/sec/ { print int($2) }' "$folder/wrk")
  awk -v name="$1" -v n="$3" -v rate="$rate" '
    $1 == "50%" { median = $2 } $1 == "99%" { tail = $2 } /Non-2xx/ { failed = $NF } /Socket errors/ { failed = $0 }
    END { printf "| %s | %d | %d | %s | %s | %s |\n", name, n, rate, median, tail, failed ? failed : 0 }' "$folder/wrk"
}

# 100 articles every tenth of a second, with vectors of 64 numbers; written beforehand, so that making them costs nothing.
articles_batch() {
  awk -v batch="$1" -v model="$model" 'BEGIN {
    srand(batch); printf "{\"items\":["
    for (i = 1; i <= 100; i++) {
      printf "%s{\"id\":\"new-%s-%d\",\"title\":\"New\",\"published\":1700000000,\"encoded_by\":\"%s\",\"vector\":[", (i > 1 ? "," : ""), batch, i, model
      for (j = 1; j <= 64; j++) printf "%s%.4f", (j > 1 ? "," : ""), rand() / 4
      printf "]}"
    }
    printf "]}" }' >"$folder/batch-$1.json"
}
put_articles() {
  local start now number=0
  start=$(date +%s%N)
  for batch in "$folder"/batch-*.json; do
    curl -sS -o /dev/null -w '%{http_code} %{time_total}\n' -X PUT -H "Authorization: Bearer a-token-for-load-tests" \
      -H 'Content-Type: application/json' --data-binary "@$batch" "$url/v1/items" >>"$folder/puts"
    number=$((number + 1))
    now=$(date +%s%N)
    sleep "$(awk -v n="$number" -v t=$((now - start)) 'BEGIN { d = n / 10 - t / 1e9; print (d > 0 ? d : 0) }')"
  done
}

echo "$items items, $threads network threads, wrk on the same $(nproc) cores, $seconds s each"
echo "| by | connections | per second | median | 99 % | failed |"
echo "|---|---|---|---|---|---|"
for count in "${connections[@]}"; do
  load "prototypes" prototypes "$count"
  load "coefficients, exact" coefficients "$count"
  full=$rate
  rm -f "$folder"/batch-*.json "$folder/puts"
  for i in $(seq 100 $((100 + seconds * 10))); do articles_batch "$count-$i"; done
  put_articles &
  writer=$!
  DELAY=$(awk -v n="$count" -v r="$full" 'BEGIN { print (r > 0 ? 1000 * n / r : 0) }') \
    load "the same at half load, 1,000 articles/s put" coefficients "$count"
  kill "$writer" 2>/dev/null || true
  wait "$writer" 2>/dev/null || true
  writer=""
  echo "  articles put in $seconds s: $(($(grep -c '^200' "$folder/puts") * 100)), refused batches: $(grep -vc '^200' "$folder/puts" || true), slowest answer: $(awk '{ if ($2 > m) m = $2 } END { print m }' "$folder/puts") s"
done
