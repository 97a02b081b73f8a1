#!/usr/bin/env bash
# Every ```cpp block of a guide stands, line for line, in one of the files that the guide links to, so that what readers
# copy is what the tests compile and run.
# Usage: check_guides.sh SOURCE_DIR
set -euo pipefail
cd "$1/docs/guides"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0 blocks=0
for guide in *.md; do
  rm -f "$work"/*
  awk -v out="$work/block" '/^```cpp/ {file = out (++count); next} /^```/ {file = ""} file {print > file}' "$guide"
  mapfile -t sources < <(grep -oE '\]\([^)#]*\.(cpp|h)\)' "$guide" | sed -E 's/^\]\((.*)\)$/\1/' | sort -u)
  for block in "$work"/block*; do
    if [ ! -f "$block" ]; then
      echo "docs/guides/$guide has no cpp block"
      wrong=1
      continue
    fi
    blocks=$((blocks + 1))
    found=0
    for source in "${sources[@]}"; do
      if awk 'FNR == NR {block = block $0 "\n"; next} {text = text $0 "\n"} END {exit index("\n" text, "\n" block) == 0}' "$block" "$source"; then
        found=1
      fi
    done
    if [ $found -eq 0 ]; then
      echo "docs/guides/$guide: no file that it links to has the block that begins with: $(head -n 1 "$block")"
      wrong=1
    fi
  done
done
[ $wrong -ne 0 ] || echo "$blocks blocks are the source of tests"
exit $wrong
