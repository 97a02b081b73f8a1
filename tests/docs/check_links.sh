#!/usr/bin/env bash
# Every link of the documents leads to a file that is there and, after a #, to a heading of it; every page below docs/ is
# linked from another one. Every name.h and name.cpp that a document or a comment of the source speaks of is there, and every
# script of tools/ that a document names. Addresses on the web are not visited.
# Usage: check_links.sh SOURCE_DIR
set -euo pipefail
cd "$1"
mapfile -t documents < <({ ls ./*.md src/README.md; find docs -name '*.md'; } | sed 's|^\./||' | sort)

# Lines "L<TAB>document<TAB>line<TAB>target" for links and "H<TAB>document<TAB>anchor" for headings, as GitHub and the
# site form them: lower case, punctuation away, a hyphen for each space.
facts=$(awk '
  FNR == 1 {fence = 0; split("", seen)}
  /^```/ {fence = !fence; next}
  fence {next}
  /^#+ / {
    anchor = tolower($0); sub(/^#+ +/, "", anchor)
    gsub(/\]\([^)]*\)/, "", anchor); gsub(/[][`*:;,.()\/"'"'"'!?&+=<>|^{}$%@#~\\]/, "", anchor); gsub(/ /, "-", anchor)
    print "H\t" FILENAME "\t" anchor (seen[anchor]++ ? "-" seen[anchor] - 1 : "")
  }
  {
    line = $0
    gsub(/`[^`]*`/, "", line)
    while (match(line, /\]\([^) ]+\)/)) {
      print "L\t" FILENAME "\t" FNR "\t" substr(line, RSTART + 2, RLENGTH - 3)
      line = substr(line, RSTART + RLENGTH)
    }
  }' "${documents[@]}")

declare -A headings linked
while IFS=$'\t' read -r kind document anchor; do
  [ "$kind" = H ] && headings["$document#$anchor"]=1
done <<<"$facts"

wrong=0 links=0
while IFS=$'\t' read -r kind document line target; do
  [ "$kind" = L ] || continue
  case "$target" in http://* | https://* | mailto:*) continue ;; esac
  links=$((links + 1))
  path=${target%%#*}
  if [ -n "$path" ]; then
    path=$(realpath -m --relative-to=. "$(dirname "$document")/$path")
    [ -d "$path" ] && [ -f "$path/README.md" ] && path=$path/README.md
  else
    path=$document
  fi
  if [ ! -e "$path" ]; then
    echo "$document:$line: $target is not there"
    wrong=1
  elif [[ $target == *#* && $path == *.md ]] && [ -z "${headings["$path#${target#*#}"]:-}" ]; then
    echo "$document:$line: $path has no heading '${target#*#}'"
    wrong=1
  fi
  [ "$path" = "$document" ] || linked[$path]=1
done <<<"$facts"

for document in "${documents[@]}"; do
  if [[ $document == docs/* ]] && [ -z "${linked[$document]:-}" ]; then
    echo "$document: no page links here"
    wrong=1
  fi
done
# The guides are left out: they name files that their reader is about to write.
sources=$(find src bench tests proto cmake fuzz examples -name '*.h' -o -name '*.cpp' | sort)
named=$({
  grep -rnE --include='*.h' --include='*.cpp' '//.*\.(h|cpp)\b' src bench | sed -E 's|^([^:]+:[0-9]+):.*//|\1\t|'
  grep -nE '\.(h|cpp)\b' "${documents[@]}" | grep -v '^docs/guides/' | sed -E 's/^([^:]+:[0-9]+):/\1\t/'
} | awk -F'\t' '{
    line = " " $2
    while (match(line, /[^A-Za-z0-9_.<*\/-][A-Za-z0-9_\/-]+\.(h|cpp)($|[^A-Za-z0-9_])/)) {
      name = substr(line, RSTART + 1, RLENGTH - 1); sub(/[^A-Za-z0-9_]$/, "", name)
      print $1 "\t" name
      line = substr(line, RSTART + RLENGTH - 1)
    }
  }')
while IFS=$'\t' read -r place name; do
  grep -qE "(^|/)${name//./\\.}$" <<<"$sources" || { echo "$place: there is no $name"; wrong=1; }
done <<<"$named"

while IFS=: read -r document line name; do
  [ -f "$name" ] || { echo "$document:$line: there is no script $name"; wrong=1; }
done < <(grep -noE '\btools/[A-Za-z0-9_/-]+\.(sh|py)\b' "${documents[@]}" /dev/null)

[ "$links" -gt 0 ] || { echo "found no link at all"; wrong=1; }
[ $wrong -ne 0 ] || echo "$links links of ${#documents[@]} documents lead somewhere"
exit $wrong
