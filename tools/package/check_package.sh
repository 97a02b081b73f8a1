#!/usr/bin/env bash
# What a package must have, read off the file; nothing is installed: tools/package/check_package.sh PACKAGE.deb
# With BUILD_DIR instead of a package it is built of that first.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
server=
stop() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap stop EXIT
wrong=0
lacks() { echo "package: $1" >&2; wrong=1; }

package=$1
if [ -d "$package" ]; then
  "$here/build_package.sh" "$package" "$work/out" >/dev/null
  package=$(echo "$work"/out/*.deb)
  "$here/build_package.sh" "$1" "$work/again" >/dev/null
  cmp -s "$package" "$work/again/$(basename "$package")" || lacks 'the same build gives another package each time'
fi

# Names and rights.
dpkg-deb -c "$package" >"$work/list"
awk '{print $6}' "$work/list" >"$work/names"
for path in ./usr/bin/sotto ./lib/systemd/system/sotto-serve.service ./lib/systemd/system/sotto-coordinator.service \
  ./usr/lib/sysusers.d/sotto.conf ./etc/sotto/serve.toml ./etc/sotto/coordinator.toml ./usr/share/man/man1/sotto.1.gz \
  ./usr/share/bash-completion/completions/sotto ./usr/share/doc/sotto/copyright ./usr/share/doc/sotto/changelog.gz \
  ./usr/share/doc/sotto/sotto.spdx.json ./usr/share/doc/sotto/licences/libsodium23 ./usr/include/sotto/device/device.h ./usr/include/sotto_device.h; do
  grep -qxF "$path" "$work/names" || lacks "$path is missing"
done
awk '$2 != "root/root" {print}' "$work/list" | grep . && lacks 'the files above do not belong to root'
awk '$1 ~ /^[^l].......w./ {print}' "$work/list" | grep . && lacks 'anybody may write the files above'
awk '$1 ~ /^-..[sS]|^-.....[sS]/ {print}' "$work/list" | grep . && lacks 'the files above run with the rights of their owner'
grep -E '^\./(usr/local|home|tmp|opt|var)/' "$work/names" && lacks 'packages have nothing in the folders above'

dpkg-deb -R "$package" "$work/root"
root=$work/root
(cd "$root" && md5sum --quiet -c DEBIAN/md5sums) || lacks 'md5sums are not those of the files'
grep -q '^/etc/sotto/serve.toml$' "$root/DEBIAN/conffiles" || lacks 'settings would be overwritten by an upgrade'
for field in Package Version Architecture Maintainer Depends Description; do
  grep -q "^$field: ." "$root/DEBIAN/control" || lacks "control has no $field"
done
grep -q '^Depends:.*libsodium23' "$root/DEBIAN/control" || lacks 'Depends does not name what the command loads'
for script in postinst prerm postrm; do
  sh -n "$root/DEBIAN/$script" || lacks "$script is not a script"
done

# Programs: stripped, hardened, and nothing of the place they were built in that a reader of the package would see.
for program in "$root/usr/bin/sotto" "$root/usr/libexec/sotto-trainer"; do
  [ -e "$program" ] || continue
  grep -q '\.debug_info' <<<"$(readelf -SW "$program")" && lacks "$program is not stripped"
  "$here/../check_hardening.sh" "$program" || wrong=1
done
grep -rlI "$(cd "$here/../.." && pwd)" "$root/etc" "$root/lib" "$root/usr/share" "$root/usr/include" "$root/DEBIAN" && lacks 'the files above name the folder of the build'

# Manual and completion.
manual=$(gzip -dc "$root/usr/share/man/man1/sotto.1.gz" | LC_ALL=C.UTF-8 groff -man -Tutf8 -P-cbou -ww 2>"$work/groff.log") || lacks 'the manual cannot be read'
[ ! -s "$work/groff.log" ] || { cat "$work/groff.log" >&2; lacks 'the manual has mistakes'; }
for words in 'sotto serve' 'sotto coordinator' 'catalogue'; do
  grep -q "$words" <<<"$manual" || lacks "the manual does not say '$words'"
done
completed=$(bash -c 'source "$1"; COMP_WORDS=(sotto ser); COMP_CWORD=1; _sotto; echo "${COMPREPLY[*]}"; COMP_WORDS=(sotto serve --cata); COMP_CWORD=2; _sotto; echo "${COMPREPLY[*]}"' - "$root/usr/share/bash-completion/completions/sotto")
[ "$completed" = $'serve\n--catalogue' ] || lacks "the completion completes to '$completed'"

# The bill of materials names every library that the loader finds, with its licence beside it.
python3 - "$root" <<'PYTHON' || wrong=1
import json, os, re, subprocess, sys
root = sys.argv[1]
with open(f"{root}/usr/share/doc/sotto/sotto.spdx.json") as file:
    bill = json.load(file)
assert bill["spdxVersion"] == "SPDX-2.3" and bill["dataLicense"] == "CC0-1.0"
identities = [part["SPDXID"] for part in bill["packages"] + bill["files"]]
assert len(set(identities)) == len(identities), "an SPDXID stands twice"
assert all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", identity) for identity in identities)
known = set(identities) | {"SPDXRef-DOCUMENT"}
for relation in bill["relationships"]:
    assert relation["spdxElementId"] in known and relation["relatedSpdxElement"] in known, relation
names = {part["name"] for part in bill["packages"]}
needed = {"libsodium23", "libssl3", "libsqlite3-0", "libpq5", "libboost1.74-dev", "libcli11-dev", "nlohmann-json3-dev"}
assert needed <= names, f"not in the bill of materials: {needed - names}"
missing = [name for name in names - {"sotto"} if not os.path.getsize(f"{root}/usr/share/doc/sotto/licences/{name}")]
assert not missing, f"without a licence: {missing}"
PYTHON

# Units: known to systemd, confined, and the commands they start read their settings.
if command -v systemd-analyze >/dev/null; then
  for unit in sotto-serve sotto-coordinator; do
    file=$root/lib/systemd/system/$unit.service
    # Of this machine is only the path of the program.
    sed "s|^ExecStart=/usr/bin/sotto|ExecStart=$root/usr/bin/sotto|; s|^Documentation=.*||" "$file" >"$work/$unit.service"
    said=$(SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$work/$unit.service" 2>&1 | grep -F "$unit" || true)
    [ -z "$said" ] || { echo "$said" >&2; lacks "$unit.service is not as systemd wants it"; }
    systemd-analyze security --offline=true --threshold=25 "$work/$unit.service" >"$work/security" 2>&1 || { cat "$work/security" >&2; lacks "$unit.service is not confined enough"; }
  done
fi
for line in NoNewPrivileges=yes ProtectSystem=strict User=sotto CapabilityBoundingSet=; do
  for unit in sotto-serve sotto-coordinator; do
    grep -qx "$line" "$root/lib/systemd/system/$unit.service" || lacks "$unit.service lacks $line"
  done
done
# With every default written out, so that a wrong one is seen; at any free port.
sed -E 's/^# ([a-z_]+ = )/\1/; s/^port = .*/port = 0/' "$root/etc/sotto/serve.toml" >"$work/serve.toml"
: >"$work/said" # there before the server has begun
"$root/usr/bin/sotto" --json serve --settings "$work/serve.toml" --catalogue "$work/catalogue" --synthetic 100 >"$work/said" 2>"$work/log" &
server=$!
url=
for _ in $(seq 100); do
  url=$(sed -n 's/.*"event":"serving".*"url":"\([^"]*\)".*/\1/p' "$work/said")
  [ -n "$url" ] && break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
if [ -z "$url" ]; then
  cat "$work/log" >&2
  lacks 'sotto serve does not start with the settings of the package'
else
  curl -sf "$url/healthz" >/dev/null || lacks "nobody answers at $url/healthz"
fi
sed -E 's/^# ([a-z_]+ = )/\1/' "$root/etc/sotto/coordinator.toml" >"$work/coordinator.toml"
said=$("$root/usr/bin/sotto" coordinator --config "$work/coordinator.toml" 2>&1) && lacks 'a coordinator without a store has started'
grep -q -- '--store' <<<"$said" || lacks "sotto coordinator does not take the settings of the package: $said"
# The coordinator's line gets as far as to look for its data and its campaign.
line=$(sed -n 's/^ExecStart=//p' "$root/lib/systemd/system/sotto-coordinator.service")
line=${line//\/etc\/sotto/$work/etc}
line=${line//\/var\/lib\/sotto/$work/var}
mkdir -p "$work/etc"
sed 's/^port = .*/port = 0/' "$root/etc/sotto/coordinator.toml" >"$work/etc/coordinator.toml"
said=$(env CREDENTIALS_DIRECTORY="$work" SOTTO_STORE="$work/store" SOTTO_MORE= sh -c "$root$line" 2>&1) && lacks 'a coordinator without a campaign has started'
grep -qE 'dataset.sotto|campaign.sotto' <<<"$said" || lacks "the coordinator's unit has flags that the command does not take: $said"

[ $wrong -eq 0 ] || exit 1
echo "package: $(basename "$package") is as it should be"
