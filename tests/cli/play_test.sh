#!/usr/bin/env bash
# sotto play: everything starts, the page and its numbers are served, rounds are counted, and Ctrl-C ends every process
# and leaves nothing behind.
# Usage: play_test.sh SOTTO
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
await '"event":"finished"'
get "${page%/dashboard}/v1/rounds" >rounds
grep -q '"rounds":\[{' rounds || fail "no round is listed: $(cat rounds)"
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
