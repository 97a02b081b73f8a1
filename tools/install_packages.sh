#!/usr/bin/env bash
# Installs the Debian packages of the named sections of packages.txt that are missing; silent when none is. A second word on a
# line is a command that makes the package unnecessary: Node's own packages bring npm along and exclude Debian's.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup: this system has no apt: install the packages listed in packages.txt by hand, then use cmake directly (docs/building.md)" >&2
  exit 1
fi

wanted=()
section=""
while read -r line command; do
  case "$line" in
    "" | \#*) ;;
    \[*\]) section=${line:1:-1} ;;
    *)
      [ -n "$command" ] && command -v "$command" >/dev/null && continue
      for name in "$@"; do [ "$name" = "$section" ] && wanted+=("$line"); done
      ;;
  esac
done < packages.txt

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [ "${status:0:2}" = "ii" ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: missing packages (${missing[*]}) and no sudo: ask an administrator to apt-get install them" >&2
    exit 1
  fi
  as_root=(sudo)
fi

# Packages of another architecture, as libsodium-dev:arm64: dpkg must know of it before apt looks for them.
for package in "${missing[@]}"; do
  [[ $package == *:* ]] || continue
  architecture=${package##*:}
  [ "$architecture" = "$(dpkg --print-architecture)" ] && continue
  dpkg --print-foreign-architectures | grep -qxF "$architecture" || "${as_root[@]}" dpkg --add-architecture "$architecture"
done

echo "setup: installing ${#missing[@]} packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -qq &&
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "setup: apt-get could not install the packages above; fix apt (network, sources) and run make again" >&2
  exit 1
fi
