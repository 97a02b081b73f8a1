#!/usr/bin/env bash
# The allowed direction between the folders of src/ and bench/, read off the #include lines, torch only where it may be,
# and in every folder its own namespace.
# Usage: tools/check_includes.sh [SOURCE_DIR]
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

# folder: the folders it may include from (itself always). What nobody uses is an error as well, so that the table says
# what is.
allowed() {
  case "$1" in
    base) echo "" ;;
    metrics | text | privacy | report | formats | local) echo "base" ;;
    data) echo "base metrics" ;;
    secagg) echo "base privacy proto" ;;
    rounds) echo "base privacy secagg" ;;
    blind) echo "base proto" ;;
    device) echo "base local privacy secagg rounds blind proto" ;;
    coordinator) echo "base secagg rounds net pages" ;;
    net) echo "base proto" ;;
    pages) echo "base net" ;;
    transport) echo "rounds device net" ;;
    fleet) echo "base local metrics data privacy secagg rounds device net transport" ;;
    serving) echo "base privacy rounds blind device net pages" ;;
    model) echo "base data text privacy" ;;
    fl) echo "base metrics data privacy secagg local model" ;;
    bench) echo "base data text local privacy secagg blind device net serving model fl recipes" ;;
    recipes) echo "base metrics data text privacy model fl" ;;
    publish) echo "base data text formats privacy device serving model fl recipes" ;;
    eval) echo "base report formats metrics data privacy secagg blind device serving model fl recipes publish bench" ;;
    cli) echo "base local report data privacy secagg rounds device transport fleet coordinator serving" ;;
    trainer) echo "base data device rounds model fl recipes publish eval bench cli" ;;
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
  used=" "
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
    used+="$from "
  done < <(grep -rnE '^\s*#include "' "$path" || true)
  for from in $may; do
    if [[ "$used" != *" $from "* ]]; then
      echo "$folder may include from $from and does not: take it out of tools/check_includes.sh"
      wrong=1
    fi
  done
  # But for the header that is C.
  if [ "$folder" != base ] && grep -rL --include='*.h' --include='*.cpp' --exclude=sotto_device.h "^namespace sotto::$folder\b" "$path" | grep .; then
    echo "files of $path belong in namespace sotto::$folder"
    wrong=1
  fi
  if [[ "$torch_folders" != *" $folder "* ]] && grep -rnE '#include <(torch|ATen|c10)/' "$path"; then
    echo "$path must not see torch"
    wrong=1
  fi
done
# The programs start their commands and know nothing else.
if grep -nE '^\s*#include "' src/*.cpp | grep -vE '^src/(main\.cpp:[0-9]+:#include "cli/|trainer_main\.cpp:[0-9]+:#include "trainer/)'; then
  echo "src/main.cpp includes from cli, src/trainer_main.cpp from trainer"
  wrong=1
fi
# What ships never includes an experiment: experiments measure what ships. The command that runs them may.
if grep -rnE '^\s*#include "eval/experiments/' src | grep -vE '^src/(eval/experiments/|[a-z]+/experiment_command\.cpp:)'; then
  echo "only experiments and their command may include an experiment"
  wrong=1
fi
exit $wrong
