#!/usr/bin/env bash
# The allowed direction between the folders of src/, read off the #include lines, and torch only where it may be.
# Usage: tools/check_includes.sh [SOURCE_DIR]
set -euo pipefail
cd "${1:-$(dirname "$0")/..}/src"

# folder: the folders it may include from (itself always)
allowed() {
  case "$1" in
    base) echo "" ;;
    metrics | text | privacy) echo "base" ;;
    data) echo "base metrics" ;;
    secagg) echo "base privacy proto" ;;
    device) echo "base privacy secagg proto" ;;
    net) echo "base proto" ;;
    serving) echo "base metrics data text privacy secagg device net proto" ;;
    model) echo "base metrics data text privacy" ;;
    fl) echo "base metrics data text privacy secagg model" ;;
    recipes) echo "base metrics data text privacy secagg model fl" ;;
    eval) echo "base metrics data text privacy secagg model fl recipes" ;;
    cli) echo "base metrics data text privacy secagg device net serving model fl recipes eval" ;;
    *) return 1 ;;
  esac
}
torch_folders=" model fl recipes eval cli "

wrong=0
for folder in */; do
  folder=${folder%/}
  if ! may=$(allowed "$folder"); then
    echo "src/$folder is not in the table of tools/check_includes.sh"
    wrong=1
    continue
  fi
  while IFS=: read -r file line text; do
    target=$(sed -E 's/.*#include "([^"]+)".*/\1/' <<<"$text")
    from=${target%%/*}
    if [ "$from" = "$target" ]; then
      echo "src/$file:$line: write includes from src/ on: $target"
      wrong=1
    elif [ "$from" != "$folder" ] && [[ " $may " != *" $from "* ]]; then
      echo "src/$file:$line: $folder must not include $target"
      wrong=1
    fi
  done < <(grep -rnE '^\s*#include "' "$folder" || true)
  if [[ "$torch_folders" != *" $folder "* ]] && grep -rnE '#include <(torch|ATen|c10)/' "$folder"; then
    echo "src/$folder must not see torch"
    wrong=1
  fi
done
exit $wrong
