#!/usr/bin/env bash
# What one coordinator carries on this machine: devices that wait, check-ins a second, a round of many large updates.
# Usage: tools/load_coordinator.sh [WAITING [ROUND_DEVICES [CHECK_INS_PER_SECOND]]]
# Without arguments 10,000 wait, 1,000 in groups of 200 sum 100,032 entries each, and 2,000 check in a second. Fails when
# somebody who waits is lost, the coordinator takes more than 2 GB, p99 of check-ins is 100 ms or more, or a device's bytes are
# not within 5 % of what simulated training through the same secure sum says.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release sotto load_rounds
echo "cores $(nproc), load $(cut -d' ' -f1-3 /proc/loadavg) before"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sotto=build/release/sotto
# One group of 200 that trains so many numbers, simulated: what it says of bytes is what the load is held against.
numbers=(--set heads=8 --set head_size=16 --set pooling_size=96 --set word_size=32)
{
  "$sotto" data generate newsroom --users 300 --news 300 --days 4 --out "$work/news"
  "$sotto" campaign new --recipe efficient-fedrec --data "$work/news" --cohort 200 --rounds 3 --participations 3 --epsilon 8 \
    --max-upload-bytes 1000000 "${numbers[@]}" --out "$work/campaign.toml"
  "$sotto" --json train efficient-fedrec --data "$work/news" --out "$work/run" --rounds 1 --epsilon 8 --set group=200 \
    --set participations=3 --set sums=masked "${numbers[@]}" --test-impressions 1 >"$work/simulated"
} >"$work/log" 2>&1 || { tail -5 "$work/log" >&2; exit 1; }
entries=$(sed -n 's/^dimension = //p' "$work/campaign.toml")
bytes=$(sed -n 's/.*"bytes_up":\([0-9]*\).*"event":"done".*/\1/p' "$work/simulated")
echo "simulated: $bytes bytes up for $entries entries"
build/release/tests/load_rounds "${1:-10000}" "${2:-1000}" "$entries" "${3:-2000}" "$bytes"
