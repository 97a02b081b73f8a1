#!/usr/bin/env bash
# sotto play: everything starts, the page and its numbers are served, rounds are counted, and Ctrl-C ends every process
# and leaves nothing behind.
# Usage: play_test.sh SOTTO GRAFANA_JSON
set -euo pipefail
sotto=$(realpath "$1")
grafana=$(realpath "$2")
work=$(mktemp -d)
running=
end() {
  [ -z "$running" ] || kill -KILL "$running" 2>/dev/null || true
  rm -rf "$work"
}
trap end EXIT
cd "$work"
fail() {
  echo "play_test: $*" >&2
  exit 1
}

code=0
"$sotto" play --devices 20 --cohort 30 >out 2>err || code=$?
[ "$code" = 2 ] || fail "a cohort larger than the fleet ended with $code, not 2"
grep -q "cohort is 30, and there are 20 devices" err || fail "says not what is wrong: $(cat err)"

export TMPDIR=$work/tmp
mkdir "$TMPDIR"
"$sotto" --json play --devices 24 --cohort 20 --rounds 1 --news 200 >out 2>err &
running=$!
await() { # TEXT: until it was said; two minutes at most
  for _ in $(seq 1200); do
    grep -qF -- "$1" out && return 0
    [ -d "/proc/$running" ] || fail "ended before it said $1: $(tail -n 3 err)"
    sleep 0.1
  done
  fail "waited two minutes for $1: $(tail -n 3 out err)"
}
await '"event":"playing"'
# Now, for the fleet ends with its rounds.
children=$(cat "/proc/$running/task/$running/children")
[ "$(wc -w <<<"$children")" = 3 ] || fail "not three parts run: $children"
page=$(sed -n 's/.*"dashboard":"\([^"]*\)".*/\1/p' out)
get() { curl --silent --show-error --fail --noproxy '*' --max-time 20 "$@"; }
get --dump-header head --output page.html "$page"
grep -qi '^content-security-policy: .*default-src' head || fail "the page has no content security policy"
asset=$(grep -o '/assets/[^"]*\.js' page.html | head -n 1)
get "${page%/dashboard}$asset" >script
[ -s script ] || fail "$asset is empty"
reader=$(sed -n 's/.*"reader":"\([^"]*\)".*/\1/p' out | head -n 1)
get --dump-header head --output page.html "$reader"
grep -qi "^content-security-policy: .*default-src 'none'" head || fail "the reader's page has no content security policy"
for _ in $(seq 100); do # the first edition is published within a second or so
  get "${reader}v1/stories" >stories
  grep -q '"title":' stories && break
  sleep 0.1
done
grep -q '"title":' stories || fail "the edition has no story: $(head -c 300 stories)"
get "${reader}v1/reader" | grep -q '"service":' || fail "the page is not told whose it is"
get "${reader}v1/reader" | grep -q '"training":{' || fail "the page is not offered to train"
get "${reader}training/v1/campaign" >campaign
[ -s campaign ] || fail "the page does not reach the campaign"
await '"event":"finished"'
await '"event":"followed"' # the page recommends by what was trained
get "${page%/dashboard}/v1/rounds" >rounds
grep -q '"rounds":\[{' rounds || fail "no round is listed: $(cat rounds)"
grep -q '"evaluates":true' rounds || fail "no version was measured, or tried to be: $(cat rounds)"
# A run of other sizes than the campaign's is served as it is, and never by the campaign's numbers.
folder=$(sed -n 's/.*"folder":"\([^"]*\)".*/\1/p' out | head -n 1)
"$sotto" --quiet train sotto --data "${folder}newsroom" --out other --rounds 1 --epsilon 8 --set vector_size=8 >log 2>&1 ||
  fail "cannot train: $(tail -n 3 log)"
"$sotto" serve --run other --catalogue shelf --coordinator "${page%/dashboard}" --follow --follow-seconds 1 --port 0 >served 2>refusal &
other=$!
for _ in $(seq 600); do
  ! grep -qF 'differ in their sizes' refusal || break
  [ -d "/proc/$other" ] || fail "the server of another run ended: $(tail -n 3 refusal)"
  sleep 0.1
done
grep -qF 'differ in their sizes' refusal || fail "another run was served by the campaign: $(cat served refusal)"
[ -s shelf/followed/privacy.json ] || fail "what holds for the run's own numbers is gone"
cmp -s other/best.sotto shelf/followed/best.sotto || fail "the run's own numbers are gone"
kill -INT "$other"
wait "$other" || fail "the server of another run ended with $?: $(tail -n 3 refusal)"
# Every metric that the dashboard for Grafana draws is one of these servers'.
get "${page%/dashboard}/metrics" >metrics
get "${reader}metrics" >>metrics
drawn=$(grep -o '"expr": "[^"]*"' "$grafana" | grep -o 'sotto_[a-z_]*' | sort -u)
[ "$(wc -w <<<"$drawn")" -ge 15 ] || fail "the dashboard for Grafana draws only $drawn"
for name in $drawn; do
  grep -qE "^$name(\{| )" metrics || fail "Grafana would draw $name, and no server has it"
done
kill -INT "$running"
timeout 60 tail -s 0.1 --pid="$running" -f /dev/null || fail "runs on after Ctrl-C"
code=0
wait "$running" || code=$?
running=
[ "$code" = 0 ] || fail "ended with $code: $(tail -n 3 err)"
for child in $children; do
  [ ! -d "/proc/$child" ] || fail "process $child was left behind"
done
[ -z "$(ls -A "$TMPDIR")" ] || fail "left $(ls -A "$TMPDIR")"
echo "play_test: all well"
