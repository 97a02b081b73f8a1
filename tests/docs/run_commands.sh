#!/usr/bin/env bash
# Runs every command of the ```sh blocks of a document, in order, in an empty folder where build/release/sotto is the
# binary under test, data/ holds sources to import and examples/ those of the source. Of several documents, a path that
# somebody walks, every one runs in the folder that those before it left, with no data but what they make themselves.
# 'make TARGET' lines are only checked to be real targets: they would run this test again; 'make install' installs what
# is built. Ports 8443 and 8080 are two that are free, and a process whose number is in runs/NAME.pid ends with the test.
# A line that ends with a backslash goes on in the next. ```sh long blocks take minutes to hours: they run on small data, with one round.
# Usage: run_commands.sh SOURCE_DIR SOTTO DOCUMENT...
set -euo pipefail
source_dir=$(realpath "$1")
sotto=$(realpath "$2")
shift 2

work=$(mktemp -d)
export XDG_STATE_HOME=$work/state # where anchors of devices are
end() {
  for file in "$work"/runs/*.pid; do
    [ -e "$file" ] && kill "$(cat "$file")" 2>/dev/null
  done
  rm -rf "$work"
}
trap end EXIT
cd "$work"
port=$((20000 + RANDOM % 30000))
taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
while taken $port || taken $((port + 1)); do port=$((port + 2)); done
mkdir -p build/release runs data
ln -s "$sotto" build/release/sotto
ln -s "$source_dir/examples" examples
[ $# -gt 1 ] || "$source_dir/tests/docs/make_sources.sh" "$sotto" data

commands=$(cd "$source_dir" && awk -v port="$port" '
  {gsub(/8443/, port); gsub(/8080/, port + 1)}
  /^```sh$/ {inside = 1; next}
  /^```sh long$/ {inside = 2; next}
  /^```/ {inside = 0}
  inside == 2 {
    gsub(/--rounds [0-9]+/, "--rounds 1"); gsub(/ rounds=[0-9]+/, " rounds=1"); gsub(/--seeds [0-9]+/, "--seeds 1"); gsub(/--users [0-9]+/, "--users 300"); gsub(/--news [0-9]+/, "--news 300")
    gsub(/cohort=[0-9]+/, "cohort=5"); gsub(/validation_impressions=[0-9]+/, "validation_impressions=20"); gsub(/--device cuda/, ""); gsub(/--jobs [0-9]+/, "--jobs 2")
  }
  inside && sub(/\\$/, "") {printf "%s", $0; next}
  inside' "$@")
[ -n "$commands" ] || { echo "$* has no sh block"; exit 1; }

count=0
while IFS= read -r line; do
  line=${line%%  #*}
  [ -n "${line// /}" ] || continue
  echo "+ $line"
  if [[ $line =~ ^make\ ([a-z]+) ]]; then
    make -C "$source_dir" -n "${BASH_REMATCH[1]}" >/dev/null
    if [[ $line =~ ^make\ install\ PREFIX=([^/].*) ]]; then
      cmake --install "$(dirname "$sotto")" --prefix "$work/${BASH_REMATCH[1]}" >/dev/null
    fi
  else
    bash -euo pipefail -c "$line" </dev/null >output 2>&1 || { cat output; echo "failed: $line"; exit 1; }
  fi
  count=$((count + 1))
done <<<"$commands"
echo "$count commands of $* ran"
