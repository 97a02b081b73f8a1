#!/usr/bin/env bash
# Installs a package in a new Debian, starts its server as its unit does, asks it, upgrades and removes it.
#   tools/package/test_in_chroot.sh PACKAGE.deb     (as root; fetches Debian's packages; minutes)
set -euo pipefail
package=$(realpath "$1")
[ "$(id -u)" -eq 0 ] || { echo "package-test: run it as root: a chroot needs that" >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo "package-test: mmdebstrap is missing: install the section [package] of packages.txt" >&2; exit 1; }
work=$(mktemp -d /var/tmp/sotto-chroot-XXXXXX)
root=$work/root
server=
clean() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
  rm -rf "$work"
}
trap clean EXIT
fail() { echo "package-test: $1" >&2; exit 1; }
enter=(chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive)
inside() { "${enter[@]}" "$@"; }

echo "package-test: a new Debian in $root"
debian=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
mmdebstrap --variant=apt --quiet --include=ca-certificates "$debian" "$root"
mount -t proc none "$root/proc"
cp "$package" "$root/tmp/sotto.deb"
inside apt-get update -qq
# Without what is recommended: the servers must run without the libraries of the trainer.
inside apt-get install -y -qq --no-install-recommends /tmp/sotto.deb >"$work/apt.log" 2>&1 || { tail -20 "$work/apt.log" >&2; fail 'it does not install'; }
inside getent passwd sotto | grep -q ':/var/lib/sotto:' || fail 'there is no user sotto'
[ "$(stat -c '%U:%a' "$root/etc/sotto")" = root:750 ] || fail '/etc/sotto is open to others'
inside sotto --version

# The unit's own words, made-up items in place of a run; as its user, in its folders.
unit=$root/lib/systemd/system/sotto-serve.service
line=$(sed -n 's/^ExecStart=//p' "$unit")
line=${line/\$SOTTO_SERVES/--synthetic 1000}
user=$(sed -n 's/^User=//p' "$unit")
inside install -d -o "$user" -g "$user" -m 700 /var/lib/sotto /var/lib/sotto/serve
# Not by the function: the number of the process must be the server's own.
"${enter[@]}" setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --bounding-set=-all sh -c "umask 077; exec $line" >"$work/said" 2>"$work/log" &
server=$!
url=
for _ in $(seq 300); do
  url=$(sed -n 's/.*"event":"serving".*"url":"\([^"]*\)".*/\1/p' "$work/said")
  [ -n "$url" ] && break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
[ -n "$url" ] || { cat "$work/said" "$work/log" >&2; fail 'the server does not start'; }
for path in /healthz /metrics /v1/popular; do
  curl -sf --max-time 10 "$url$path" >"$work/answer" || fail "nobody answers at $url$path"
  echo "package-test: $path: $(stat -c %s "$work/answer") bytes"
done
kill -TERM "$server"
wait "$server" || fail 'the server does not end by SIGTERM with 0'
server=
[ "$(stat -c '%U' "$root/var/lib/sotto/serve/catalogue")" != root ] || fail 'the catalogue belongs to root'

# An upgrade keeps what the operator changed; a removal keeps what was learned.
echo '# changed by the operator' >>"$root/etc/sotto/serve.toml"
inside apt-get install -y -qq --no-install-recommends --reinstall /tmp/sotto.deb >"$work/apt.log" 2>&1 || { tail -20 "$work/apt.log" >&2; fail 'it does not upgrade'; }
tail -1 "$root/etc/sotto/serve.toml" | grep -q 'changed by the operator' || fail 'an upgrade has overwritten the settings'
inside apt-get purge -y -qq sotto >"$work/apt.log" 2>&1 || { tail -20 "$work/apt.log" >&2; fail 'it cannot be removed'; }
[ -d "$root/var/lib/sotto/serve/catalogue" ] || fail 'a removal has taken the data'
[ ! -e "$root/usr/bin/sotto" ] || fail 'a removal leaves the command'
echo "package-test: installed, started, asked, upgraded and removed in a new Debian ($debian)"
