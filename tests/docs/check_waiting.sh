#!/usr/bin/env bash
# The lines of the path that wait for a server end at once when it has ended, and show what it said.
# Usage: check_waiting.sh SOURCE_DIR
set -euo pipefail
source_dir=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir runs
echo 'error: refused, and why' >runs/server.log
bash -c 'exit 0' &
echo $! >runs/server.pid
wait
waits=0
while IFS= read -r line; do
  waits=$((waits + 1))
  begun=$SECONDS
  if said=$(bash -c "${line//8443/1}" 2>/dev/null); then echo "the wait succeeds without a server: $line"; exit 1; fi
  [ $((SECONDS - begun)) -lt 20 ] || { echo "waits for a server that has ended: $line"; exit 1; }
  grep -q 'refused, and why' <<<"$said" || { echo "does not show what the server said: $line"; exit 1; }
done < <(sed 's/8080/1/g' "$source_dir"/docs/start/*.md | grep -h 'until curl.*runs/server.pid\|until curl.*v1/pack')
[ "$waits" -eq 3 ] || { echo "found $waits lines that wait instead of 3"; exit 1; }
echo "$waits lines that wait show why they end"
