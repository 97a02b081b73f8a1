#!/usr/bin/env bash
# What each defence of compiler and linker costs: the objects in which bench/hardening spends its time are compiled anew
# without it, and linked with the rest of the release build. Prints, with against without, the ratio of the instructions
# of the work itself as valgrind counts them (which nothing else on the machine changes; those of starting are taken
# away) and that of the quickest runs in processor time, taken in turns. tools/measure_hardening.sh [RUNS [DEFENCE...]]
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-25}
defences=("${@:2}")
[ ${#defences[@]} -gt 0 ] || defences=(bounds stack-protector stack-clash fortify landing-places all)
# Where callgrind finds the instructions; a file that is compiled with others of its module is recognised in their list.
hot='src/base/|src/local/|src/privacy/noise/|src/secagg/shared/masks|src/secagg/vectors/modular_kernels|src/serving/index/|src/serving/http/bodies_json|bench/hardening/'
declare -A without=(
  [bounds]='s/-D_GLIBCXX_ASSERTIONS//'
  [stack-protector]='s/-fstack-protector-strong/-fno-stack-protector/'
  [stack-clash]='s/-fstack-clash-protection/-fno-stack-clash-protection/'
  [fortify]='s/-D_FORTIFY_SOURCE=2//'
  [landing-places]='s/-fcf-protection=full/-fcf-protection=none/'
)
without[all]=$(printf '%s;' "${without[@]}")
for defence in "${defences[@]}"; do
  [ -n "${without[$defence]:-}" ] || { echo "measure_hardening: '$defence' is none of ${!without[*]}" >&2; exit 2; }
done
tools/build.sh release hardening_work
root=$PWD
commands=$(ninja -C build/release -t commands hardening_work)

program() { # DEFENCE: linked with what was compiled without it
  local folder=$root/build/hardening/$1 command source listed objects=()
  mkdir -p "$folder"
  while read -r command; do
    source=${command##* -c }
    listed=$source
    [[ $source == */Unity/* ]] && listed=$(sed -n 's/^#include "\(.*\)"/\1/p' "$source")
    grep -qE "$hot" <<<"$listed" || continue
    objects+=("$folder/${#objects[@]}.o")
    # Precompiled headers are for the flags of the release: without them the compiler reads the header itself.
    command=$(sed -E "${without[$1]}; s/ -M[DTF]( [^ ]+\.o(\.d)?)?//g; s# -o [^ ]+ # -o ${objects[-1]} -Wno-invalid-pch #" <<<"$command")
    [ "${objects[-1]}" -nt "$source" ] || (cd build/release && eval "$command")
  done < <(grep -e ' -c ' <<<"$commands")
  command=$(tail -n 1 <<<"$commands" | sed -E "s/^: && | && :\$//g; s# -o [^ ]+ # -o $folder/program #; s#[^ ]+/work\.cpp\.o#${objects[*]}#")
  (cd build/release && eval "$command")
}
counted() { # PROGRAM WORK: instructions of twenty repeats more
  local repeats=() each
  for each in 4 24; do
    repeats+=("$(valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$2" "$each" 2>&1 | sed -n 's/.*Collected : *//p')")
  done
  echo $((repeats[1] - repeats[0]))
}
ratio() { awk -v a="$1" -v b="$2" 'BEGIN {printf "%.3f", a / b}'; }

printf 'without\twork\tinstructions\tprocessor time\n'
for defence in "${defences[@]}"; do
  program "$defence"
  while read -r work repeats; do
    declare -A best=([release]=1e9 [without]=1e9)
    for ((run = 0; run < runs; ++run)); do
      for kind in release without; do
        tool=build/release/bench/hardening_work
        [ "$kind" = without ] && tool=build/hardening/$defence/program
        best[$kind]=$(awk -v a="$("$tool" "$work" "$repeats")" -v b="${best[$kind]}" 'BEGIN {print (a < b) ? a : b}')
      done
    done
    printf '%s\t%s\t%s\t%s\n' "$defence" "$work" \
      "$(ratio "$(counted build/release/bench/hardening_work "$work")" "$(counted "build/hardening/$defence/program" "$work")")" \
      "$(ratio "${best[release]}" "${best[without]}")"
  done <<'WORK'
noise 100
masks 100
training 200
query 100
WORK
done
