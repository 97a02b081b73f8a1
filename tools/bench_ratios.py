#!/usr/bin/env python3
"""Makes one JSON of what tools/bench.sh measured, and compares its ratios with the committed ones.

    bench_ratios.py LINES --out FILE [--device NAME] [--compare RATIOS | --commit RATIOS]

LINES: what 'sotto --json bench' printed, with the benchmark's name and the number of the repeat in each line. A ratio is
a clear loss when the best of at least three repeats is more than 25 % worse than the committed one: a busy machine makes
single repeats slow, and more rarely all of them. Which direction is worse each row says itself.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

CLEAR_LOSS = 1.25
REPEATS_TO_JUDGE = 3


def machine(device: str) -> dict:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    with open("/proc/meminfo", encoding="utf-8") as file:
        memory = next((int(line.split()[1]) // 1024 for line in file if line.startswith("MemTotal")), 0)
    described = {
        "processor": models[0] if models else "unknown",
        "cores": len(os.sched_getaffinity(0)),
        "memory_mb": memory,
        "load": os.getloadavg()[0],
    }
    if device == "cuda":
        answer = subprocess.run(
            ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, check=False
        )
        described["card"] = answer.stdout.strip() or "unknown"
    return described


def rows_of(lines: list[dict]) -> list[dict]:
    """One row per name, in the order they came, with every repeat's ratio."""
    rows: dict[tuple[str, str], dict] = {}
    for line in lines:
        if "ratio" not in line:
            continue
        row = rows.setdefault(
            (line["bench"], line["name"]),
            {key: line.get(key, "") for key in ("bench", "name", "unit", "against", "goal", "better")} | {"ratios": []},
        )
        row["ratios"].append(line["ratio"])
        row.setdefault("ours", []).append(line["ours"])
        row.setdefault("baseline", []).append(line["baseline"])
        if line.get("note"):
            row["note"] = line["note"]
    for row in rows.values():
        smaller = row["better"] == "smaller"
        row["best"] = min(row["ratios"]) if smaller else max(row["ratios"])
        row["median"] = statistics.median(row["ratios"])
        row["spread"] = (max(row["ratios"]) - min(row["ratios"])) / row["median"] if row["median"] else 0
    return list(rows.values())


def losses(rows: list[dict], committed: dict) -> list[str]:
    found = []
    for row in rows:
        before = committed.get(row["bench"], {}).get(row["name"])
        if before is None or len(row["ratios"]) < REPEATS_TO_JUDGE:
            continue
        smaller = row["better"] == "smaller"
        worse = row["best"] / before if smaller else before / row["best"] if row["best"] > 0 else float("inf")
        if worse > CLEAR_LOSS:
            found.append(
                f"{row['bench']}: {row['name']}: {row['best']:.3g} at best of {len(row['ratios'])}, "
                f"{before:.3g} committed ({row['better']} is better)"
            )
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines")
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", default="cpu")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--compare")
    choice.add_argument("--commit")
    arguments = parser.parse_args()
    with open(arguments.lines, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file if line.strip()]
    rows = rows_of(lines)
    if not rows:
        print("bench: nothing was measured", file=sys.stderr)
        return 1
    peaks: dict[str, float] = {}
    for line in lines:
        if "peak_bytes" in line:
            peaks[line["bench"]] = max(peaks.get(line["bench"], 0), line["peak_bytes"])
    report = {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "device": arguments.device,
        "machine": machine(arguments.device),
        "limits": [row for row in rows if row["bench"] == "limits"],
        "rows": [row for row in rows if row["bench"] != "limits"],
        "peak_bytes": peaks,
    }
    os.makedirs(os.path.dirname(arguments.out) or ".", exist_ok=True)
    with open(arguments.out, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
    for row in rows:
        print(f"{row['bench']:<8} {row['name']:<72} {row['median']:>9.4g}  ± {100 * row['spread']:.0f} %  {row['against']}")
    print(f"written: {arguments.out}")
    if arguments.commit:
        committed: dict[str, dict[str, float]] = {}
        if os.path.exists(arguments.commit):
            with open(arguments.commit, encoding="utf-8") as file:
                committed = json.load(file)
        for row in report["rows"]:
            committed.setdefault(row["bench"], {})[row["name"]] = float(f"{row['median']:.3g}")
        with open(arguments.commit, "w", encoding="utf-8") as file:
            json.dump(committed, file, indent=1, sort_keys=True)
            file.write("\n")
        return 0
    if not arguments.compare:
        return 0
    with open(arguments.compare, encoding="utf-8") as file:
        found = losses(rows, json.load(file))
    for loss in found:
        print(f"bench: a clear loss: {loss}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
