#!/usr/bin/env bash
# The documents as a static site with search in build/site; nothing in it is fetched from elsewhere, and every link and
# picture of it leads to a file of it.
set -euo pipefail
cd "$(dirname "$0")/../.."

tools/docs/draw_diagrams.sh --check
tests/docs/check_links.sh .
work=build/docs
/usr/bin/python3 tools/docs/stage_pages.py "$work"
/usr/bin/mkdocs build --quiet --config-file "$work/mkdocs.yml"
/usr/bin/python3 tools/docs/search_from_disk.py "$work/site"

# What a browser would load or follow, by page: pages name things as src="..." or href="...".
cd "$work/site"
wrong=0
while IFS=: read -r page reference; do
  target=${reference#*=\"}
  target=${target%\"}
  case "$target" in
    "" | \#* | data:* | mailto:*) continue ;;
    http://* | https://* | //*)
      # A link that a reader may follow is one thing, what a page loads by itself another.
      if [[ $reference == src=* || $target =~ \.(css|js|woff2?)($|\?) ]]; then
        echo "$page loads $target from elsewhere"
        wrong=1
      fi
      continue
      ;;
  esac
  path=${target%%[?#]*}
  if [ -n "$path" ] && [ ! -e "$(dirname "$page")/$path" ]; then
    echo "$page: $target is not there"
    wrong=1
  fi
done < <(grep -roE --include='*.html' --exclude=404.html '(src|href)="[^"]*"' . | sort -u)
if grep -rlE --include='*.css' '(@import|url\()["'"'"' ]*(https?:)?//' .; then
  echo "the style sheets above load something from elsewhere"
  wrong=1
fi
[ $wrong -eq 0 ] || exit 1

cd ../../..
rm -rf build/site
mv "$work/site" build/site
echo "docs: build/site/index.html ($(find build/site -name '*.html' | wc -l) pages)"
