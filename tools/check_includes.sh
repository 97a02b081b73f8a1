#!/usr/bin/env bash
# The allowed direction between the folders of src/ and bench/, read off the #include lines, torch only where it may be,
# and in every folder its own namespace.
# Usage: tools/check_includes.sh [SOURCE_DIR]
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

# folder: the folders it may include from (itself always)
allowed() {
  case "$1" in
    base) echo "" ;;
    metrics | text | privacy | report) echo "base" ;;
    data) echo "base metrics" ;;
    secagg) echo "base privacy proto" ;;
    device) echo "base privacy secagg proto" ;;
    net) echo "base proto" ;;
    serving) echo "base metrics data text privacy secagg device net proto" ;;
    model) echo "base metrics data text privacy" ;;
    fl) echo "base metrics data text privacy secagg model" ;;
    bench) echo "base metrics data text privacy secagg device serving model fl" ;;
    recipes) echo "base metrics data text privacy secagg model fl" ;;
    publish) echo "base metrics data text privacy secagg device serving model fl recipes" ;;
    eval) echo "base report metrics data text privacy secagg model fl recipes publish bench" ;;
    cli) echo "base report metrics data text privacy secagg device net serving" ;;
    trainer) echo "base metrics data text privacy secagg device net serving model fl recipes publish eval bench cli" ;;
    *) return 1 ;;
  esac
}
torch_folders=" model fl recipes publish eval bench trainer "

wrong=0
for path in src/*/ bench/; do
  path=${path%/}
  folder=${path#src/}
  if ! may=$(allowed "$folder"); then
    echo "$path is not in the table of tools/check_includes.sh"
    wrong=1
    continue
  fi
  while IFS=: read -r file line text; do
    target=$(sed -E 's/.*#include "([^"]+)".*/\1/' <<<"$text")
    from=${target%%/*}
    if [ "$from" = "$target" ]; then
      echo "$file:$line: write the include with its folder: $target"
      wrong=1
    elif [ "$from" != "$folder" ] && [[ " $may " != *" $from "* ]]; then
      echo "$file:$line: $folder must not include $target"
      wrong=1
    fi
  done < <(grep -rnE '^\s*#include "' "$path" || true)
  if [ "$folder" != base ] && grep -rL --include='*.h' --include='*.cpp' "^namespace sotto::$folder\b" "$path" | grep .; then
    echo "files of $path belong in namespace sotto::$folder"
    wrong=1
  fi
  if [[ "$torch_folders" != *" $folder "* ]] && grep -rnE '#include <(torch|ATen|c10)/' "$path"; then
    echo "$path must not see torch"
    wrong=1
  fi
done
# What ships never includes an experiment: experiments measure what ships. The command that runs them may.
if grep -rnE '^\s*#include "eval/experiments/' src | grep -vE '^src/(eval/experiments/|[a-z]+/experiment_command\.cpp:)'; then
  echo "only experiments and their command may include an experiment"
  wrong=1
fi
exit $wrong
