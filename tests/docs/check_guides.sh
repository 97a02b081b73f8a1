#!/usr/bin/env bash
# Every ```cpp block of a guide stands, line for line, in a file of tests/, so that what readers copy is compiled and run.
# Usage: check_guides.sh SOURCE_DIR
set -euo pipefail
cd "$1"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0 blocks=0
for guide in docs/guides/*.md; do
  rm -f "$work"/*
  awk -v out="$work/block" '/^```cpp/ {file = out (++count); next} /^```/ {file = ""} file {print > file}' "$guide"
  for block in "$work"/block*; do
    if [ ! -f "$block" ]; then
      echo "$guide has no cpp block"
      wrong=1
      continue
    fi
    blocks=$((blocks + 1))
    found=0
    while IFS= read -r source; do
      if awk 'FNR == NR {block = block $0 "\n"; next} {text = text $0 "\n"} END {exit index("\n" text, "\n" block) == 0}' "$block" "$source"; then
        found=1
      fi
    done < <(grep -rlxF --include='*.cpp' --include='*.h' -e "$(head -n 1 "$block")" tests)
    if [ $found -eq 0 ]; then
      echo "$guide: no file of tests/ has the block that begins with: $(head -n 1 "$block")"
      wrong=1
    fi
  done
done
[ $wrong -ne 0 ] || echo "$blocks blocks of the guides are the source of tests"
exit $wrong
