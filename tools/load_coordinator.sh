#!/usr/bin/env bash
# What one coordinator carries on this machine: devices that wait, check-ins a second, a round of many large updates.
# Usage: tools/load_coordinator.sh [WAITING [ROUND_DEVICES [ENTRIES [CHECK_INS_PER_SECOND]]]]
# Without arguments 10,000 wait, 1,000 sum 100,000 entries each, and 2,000 check in a second.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release load_rounds
echo "cores $(nproc), load $(cut -d' ' -f1-3 /proc/loadavg) before"
exec build/release/tests/load_rounds "$@"
