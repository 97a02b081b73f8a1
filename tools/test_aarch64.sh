#!/usr/bin/env bash
# The device library and what it stands on, compiled for 64-bit ARM, and their tests by qemu-user. Prints a line for each.
# Usage: tools/test_aarch64.sh [MODULE...]     (device local rounds secagg privacy)
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] && modules=("$@") || modules=(device local rounds secagg privacy)
# Left out, because an emulator takes minutes for each of what says nothing of a processor: searches for noise and tables of
# epsilon, which are the same arithmetic in doubles on every one, and sums of a thousand clients. Devices run little of it.
long=(
  'privacy:PaperTables*:OwnClaims*:TrainingExposure*:AccountProperties*'
  'secagg:RunSumAudit*:CalibratedPlan*:Union*:Hypergeometric*:FailureBounds*:*Thousand*'
)
tools/build.sh aarch64 "${modules[@]/#/test_}"
failed=0
for module in "${modules[@]}"; do
  filter='*'
  for pair in "${long[@]}"; do
    [ "${pair%%:*}" = "$module" ] && filter="-${pair#*:}"
  done
  program=build/aarch64/tests/test_$module
  case $(file -b "$program") in *aarch64*) ;; *) echo "test-aarch64: $program is not for 64-bit ARM" >&2; exit 1 ;; esac
  log=build/aarch64/test_$module.log
  begin=$(date +%s)
  if RC_PARAMS=seed=20240229 qemu-aarch64 "$program" --gtest_filter="$filter" --gtest_brief=1 >"$log" 2>&1; then
    echo "test-aarch64: $module: $(grep -aoE '[0-9]+ tests? from [0-9]+ test suites? ran' "$log"), all pass, $(($(date +%s) - begin)) s"
  else
    grep -aE '^\[  FAILED|Failure|error' "$log" | head -20 >&2
    tail -5 "$log" >&2
    echo "test-aarch64: $module fails: $log" >&2
    failed=1
  fi
done
exit $failed
