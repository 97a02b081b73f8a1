#!/usr/bin/env bash
# Loads a server of made-up items with wrk and prints recommendations per second and latencies: by prototypes, by
# coefficients (exact), and by coefficients while articles are being put at 1,000 per second.
# Usage: tools/load_serving.sh [ITEMS] [SECONDS] [CONNECTIONS]
set -euo pipefail
cd "$(dirname "$0")/.."
items=${1:-1000000} seconds=${2:-10} connections=${3:-16}
sotto=${SOTTO:-build/release/sotto}
command -v wrk >/dev/null || { echo "wrk is missing: tools/install_packages.sh load" >&2; exit 1; }

folder=$(mktemp -d)
server="" writer=""
finish() {
  [ -z "$writer" ] || kill "$writer" 2>/dev/null || true
  [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server"; } || true
  rm -rf "$folder"
}
trap finish EXIT
echo "a-token-for-load-tests" >"$folder/token"
: >"$folder/log"
"$sotto" serve --synthetic "$items" --catalogue "$folder/catalogue" --pack-seconds 0 --survive-process-only \
  --operator-token-file "$folder/token" --json >"$folder/log" &
server=$!
for _ in $(seq 1200); do
  grep -q '"serving"' "$folder/log" && break
  kill -0 "$server" 2>/dev/null || { echo "the server did not start" >&2; exit 1; }
  sleep 0.25
done
url=$(sed -nE 's/.*"url":"([^"]+)".*/\1/p' "$folder/log")
model=$(sed -nE 's/.*"model":"([^"]+)".*/\1/p' "$folder/log")

# Each request asks something else, as devices do.
common='wrk.method = "POST"; wrk.headers["Content-Type"] = "application/json"; math.randomseed(20240229)'
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
load() { # name script
  echo "== $1, $items items, $connections connections, $seconds s"
  wrk -t1 -c"$connections" -d"${seconds}s" --latency -s "$folder/$2.lua" "$url/v1/recommend" |
    grep -E '^ +(50|99)%|Requests/sec|Non-2xx|Socket errors' || true
}
load "prototypes" prototypes
load "coefficients, exact" coefficients

# 100 articles every tenth of a second, with vectors of 64 numbers.
put_articles() {
  local vector batch=0 start now
  vector=$(printf '0.01,%.0s' $(seq 63))0.02
  start=$(date +%s%N)
  while true; do
    {
      printf '{"items":['
      for i in $(seq 100); do
        [ "$i" = 1 ] || printf ','
        printf '{"id":"new-%d-%d","title":"New","published":1700000000,"encoded_by":"%s","vector":[%s]}' \
          "$batch" "$i" "$model" "$vector"
      done
      printf ']}'
    } >"$folder/batch.json"
    curl -sS -o /dev/null -w '%{http_code}\n' -X PUT -H "Authorization: Bearer a-token-for-load-tests" \
      -H 'Content-Type: application/json' --data-binary "@$folder/batch.json" "$url/v1/items" >>"$folder/puts"
    batch=$((batch + 1))
    now=$(date +%s%N)
    sleep "$(awk -v n="$batch" -v t=$((now - start)) 'BEGIN { d = n / 10 - t / 1e9; print (d > 0 ? d : 0) }')"
  done
}
put_articles &
writer=$!
load "coefficients, exact, while articles are put" coefficients
kill "$writer" && writer=""
echo "articles put: $(($(grep -c '^200$' "$folder/puts") * 100)) in $seconds s, refused batches: $(grep -vc '^200$' "$folder/puts" || true)"
