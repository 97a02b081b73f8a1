#!/usr/bin/env bash
# A whole deployment beside its simulation: devices with folders, keys and ledgers of their own, a coordinator, HTTP between
# them, the flagship at epsilon = 8 with secret noise; and 'sotto train' on the same readers from the same first version.
# Usage: tools/deployment_learns.sh [READERS [DEVICES [COHORT [ROUNDS [SIMULATIONS]]]]]
# Without arguments 8,000 readers, 2,400 of them with devices, five rounds of one group of 2,000, three simulations. SOTTO: the
# command. Prints what was measured, how long it took, bytes and what the ledger of a device says. Fails where both are not
# tested on the same impressions, where the deployment has learned less than two standard errors, and where its AUC and the
# simulations' mean differ by more than two of theirs. LEARNS=no: for so few devices that nothing is learned, the first alone.
set -euo pipefail
cd "$(dirname "$0")/.."
readers=${1:-8000} devices=${2:-2400} cohort=${3:-2000} rounds=${4:-5} simulations=${5:-3}
sotto=${SOTTO:-}
if [ -z "$sotto" ]; then
  sotto=build/release/sotto
  tools/build.sh release sotto
fi
echo "cores $(nproc), load $(cut -d' ' -f1-3 /proc/loadavg) before"
work=$(mktemp -d)
coordinator=""
finish() {
  [ -z "$coordinator" ] || { kill "$coordinator" 2>/dev/null && wait "$coordinator"; } || true
  rm -rf "$work"
}
trap finish EXIT
fail() {
  echo "deployment_learns: $1" >&2
  tail -n 20 "$work"/*.log >&2
  exit 1
}

# Of 60 % who came during the recorded days the words of the catalogue say little: there is something to learn.
"$sotto" data generate newsroom --users "$readers" --news 1000 --cold-users 0.6 --out "$work/news" >"$work/news.log" 2>&1 ||
  fail "the newsroom was not made"
# NAME SETTINGS...: the last line of what it says. Devices of the fleet rank by the version alone, and so does this.
simulate() {
  "$sotto" --json train sotto --data "$work/news" --out "$work/$1" --seed 1 --set personal_steps=0 "${@:2}" 2>"$work/$1.log" | tail -n 1 >"$work/$1.json" ||
    fail "the simulation $1 failed"
}
for i in $(seq "$simulations"); do
  simulate "simulated$i" --rounds "$rounds" --epsilon 8 --set cohort="$cohort" --set participations="$rounds"
done

"$sotto" campaign new --recipe sotto --data "$work/news" --cohort "$cohort" --group "$cohort" --rounds "$rounds" \
  --participations "$rounds" --epsilon 8 --max-training-seconds $((devices / 120 + 1)) --shortest-phase-seconds $((devices / 240 + 1)) \
  --longest-phase-seconds 300 \
  --out "$work/campaign.toml" >"$work/campaign.log" 2>&1 || fail "the campaign was not drafted"
"$sotto" --json coordinator --campaign "$work/campaign.toml" --data "$work/news" --store "$work/store" --seed 1 \
  --listen 127.0.0.1:0 --max-connections 20000 --max-connections-per-address 0 >"$work/coordinator" 2>"$work/coordinator.log" &
coordinator=$!
for _ in $(seq 600); do
  grep -q '"listening"' "$work/coordinator" && break
  kill -0 "$coordinator" 2>/dev/null || fail "the coordinator did not start"
  sleep 0.2
done
url=$(sed -nE 's/.*"url":"([^"]+)".*/\1/p' "$work/coordinator")
"$sotto" --json fleet --devices "$devices" --data "$work/news" --server "$url" --rounds "$rounds" 2>"$work/fleet.log" |
  tail -n 1 >"$work/fleet.json" || fail "the fleet failed"
echo "load $(cut -d' ' -f1-3 /proc/loadavg) after"
LEARNS=${LEARNS:-yes} python3 - "$work" "$simulations" <<'PYTHON'
import json, math, os, statistics, sys
folder, simulations = sys.argv[1], int(sys.argv[2])
read = lambda name: json.load(open(f"{folder}/{name}.json"))
fleet = read("fleet")
runs = [read(f"simulated{i + 1}") for i in range(simulations)]
aucs = [run["auc"] for run in runs]
mean = statistics.mean(aucs)
spread = statistics.stdev(aucs) if simulations > 1 else 0.0
first = fleet["auc_before"]  # of the seed, as the simulations'
percent = lambda x: f"{100 * x:.2f}"
row = "{:12}{:>12}{:>16}{:>18}{:>14}".format
print(row("", "version 0", "last", "gain", "impressions"))
print(row("deployed", percent(first), f"{percent(fleet['auc'])} ± {percent(fleet['auc_error'])}",
          f"{100 * fleet['auc_gain']:+.2f} ± {percent(fleet['auc_gain_error'])}", fleet["test_impressions"]))
print(row("simulated", percent(first), f"{percent(mean)} ± {percent(spread)}",
          " ".join(f"{100 * (auc - first):+.2f}" for auc in aucs), runs[0]["impressions"]))
print(f"{fleet['rounds']} rounds with {fleet['devices']} devices in {fleet['seconds']:.0f} s: {fleet['participations']} participations, "
      f"{fleet['charged']} charged, {fleet['ended']} ended early, {fleet['refused']} refused")
for why, times in fleet["reasons"].items():
    print(f"  {times} times: {why}")
print(f"a participation: {fleet['bytes_up']:.0f} bytes up, {fleet['bytes_down']:.0f} down")
ledger = fleet["ledger"]
total, lifetime = ledger["total"], ledger["budgets"][0]
print(f"the ledger of the device that was charged most often, chain {ledger['chain']}: {total['charges']} charges, "
      f"epsilon {total['epsilon']:.4g} at delta {ledger['delta']:g} against the {ledger['adversary']} ({total['method']})")
print(f"  {lifetime['window']} budget {lifetime['epsilon']:g}, spent {lifetime['spent']:.4g} ({lifetime['method']}); "
      f"released: {'; '.join(ledger['releases'])}")
wrong = []
if fleet["test_impressions"] != runs[0]["impressions"]:
    wrong.append("both must be tested on the same impressions")
if os.environ["LEARNS"] == "yes":
    if fleet["auc_gain"] < 2 * fleet["auc_gain_error"]:
        wrong.append("the deployment has not learned: its gain is below two standard errors")
    error = math.hypot(fleet["auc_gain_error"], spread)
    print(f"deployed - simulated: {100 * (fleet['auc'] - mean):+.2f}, error {percent(error)}")
    if abs(fleet["auc"] - mean) > 2 * error:
        wrong.append("deployment and simulation differ by more than two standard errors")
for line in wrong:
    print("DOES NOT HOLD: " + line)
sys.exit(1 if wrong else 0)
PYTHON
