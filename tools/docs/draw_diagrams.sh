#!/usr/bin/env bash
# Draws docs/diagrams/*.svg from the .diagram files beside them, and the map of src/ from the table of
# tools/check_includes.sh. With --check nothing is written: a picture that differs from its source is an error.
# Usage: tools/docs/draw_diagrams.sh [--check]
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp docs/diagrams/*.diagram "$work"
awk -f tools/docs/folder_map.awk docs/diagrams/folders.txt tools/check_includes.sh >"$work/folders.diagram"

stale=0
for source in "$work"/*.diagram; do
  name=$(basename "$source" .diagram)
  awk -f tools/docs/draw.awk "$source" >"$work/$name.svg"
  if [ "${1:-}" != --check ]; then
    cp "$work/$name.svg" docs/diagrams/
  elif ! cmp -s "$work/$name.svg" "docs/diagrams/$name.svg"; then
    echo "docs/diagrams/$name.svg is not what its source draws: run tools/docs/draw_diagrams.sh and look at it"
    stale=1
  fi
done
for picture in docs/diagrams/*.svg; do
  [ -f "$work/$(basename "$picture")" ] || { echo "$picture has no source"; stale=1; }
done
exit $stale
