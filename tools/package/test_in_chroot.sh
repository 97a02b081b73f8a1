#!/usr/bin/env bash
# Installs a package in a new Debian, starts its server and its coordinator as their units do, asks them, upgrades and removes
# it. The coordinator has a campaign that is drafted, signed and trained there.
#   tools/package/test_in_chroot.sh PACKAGE.deb     (as root; fetches Debian's packages; minutes)
set -euo pipefail
package=$(realpath "$1")
[ "$(id -u)" -eq 0 ] || { echo "package-test: run it as root: a chroot needs that" >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo "package-test: mmdebstrap is missing: install the section [package] of packages.txt" >&2; exit 1; }
work=$(mktemp -d /var/tmp/sotto-chroot-XXXXXX)
root=$work/root
server=
fleet=
clean() {
  for process in $server $fleet; do kill "$process" 2>/dev/null || true; wait "$process" 2>/dev/null || true; done
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

line_of() { sed -n 's/^ExecStart=//p' "$root/lib/systemd/system/$1.service"; }
user=$(sed -n 's/^User=//p' "$root/lib/systemd/system/sotto-serve.service")
as_user=(setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --bounding-set=-all)
# EVENT LINE: the unit's own words, as its user; $url is what it says of itself in that event.
start() {
  # Not by the function 'inside': the number of the process must be the server's own. The file is there before it has begun.
  : >"$work/said"
  "${enter[@]}" "${as_user[@]}" sh -c "umask 077; exec $2" >"$work/said" 2>"$work/log" &
  server=$!
  url=
  for _ in $(seq 600); do
    url=$(grep "\"event\":\"$1\"" "$work/said" | sed -n 's/.*"url":"\([^"]*\)".*/\1/p' || true)
    [ -n "$url" ] && break
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  [ -n "$url" ] || { cat "$work/said" "$work/log" >&2; fail "it does not start: $2"; }
}
ask() { # PATH...
  local path
  for path in "$@"; do
    curl -sf --max-time 10 "$url$path" >"$work/answer" || { cat "$work/log" >&2; fail "nobody answers at $url$path"; }
    echo "package-test: $path: $(stat -c %s "$work/answer") bytes"
  done
}
stop() {
  kill -TERM "$server"
  wait "$server" || fail 'a server does not end by SIGTERM with 0'
  server=
}

# Made-up items in place of a run.
inside install -d -o "$user" -g "$user" -m 700 /var/lib/sotto /var/lib/sotto/serve
line=$(line_of sotto-serve)
start serving "${line/\$SOTTO_SERVES/--synthetic 1000}"
ask /healthz /metrics /v1/popular
stop
[ "$(stat -c '%U' "$root/var/lib/sotto/serve/catalogue")" != root ] || fail 'the catalogue belongs to root'

# The coordinator, which trains: with what is recommended, of each the first choice and nothing that these recommend. Its key is
# handed over as systemd would.
if inside sotto recipes >"$work/command.log" 2>&1; then fail 'the trainer runs before its libraries are there'; fi
# shellcheck disable=SC2016 # dpkg's field, no variable
read -ra recommended < <(inside dpkg-query -W -f '${Recommends}\n' sotto | sed -E 's/ *\|[^,]*//g; s/\([^)]*\)//g; s/,/ /g')
inside apt-get install -y -qq --no-install-recommends "${recommended[@]}" >"$work/apt.log" 2>&1 || { tail -20 "$work/apt.log" >&2; fail 'the libraries of the trainer do not install'; }
inside install -d -o "$user" -g "$user" -m 700 /var/lib/sotto/coordinator /run/sotto-credentials
said() { "$@" >"$work/command.log" 2>&1 || { cat "$work/command.log" >&2; fail "$*"; }; }
keys=/root/keys
inside mkdir $keys
said inside sotto campaign keys --out $keys/operator.key
said inside sotto campaign keys --out $keys/coordinator.key
said inside "${as_user[@]}" sotto data generate newsroom --users 60 --news 300 --days 4 --out /var/lib/sotto/coordinator/data
said inside sotto campaign new --recipe sotto --data /var/lib/sotto/coordinator/data --cohort 40 --rounds 2 --participations 2 \
  --epsilon 8 --max-training-seconds 1 --shortest-phase-seconds 2 --coordinator-key $keys/coordinator.key.pub --out $keys/draft.toml
said inside sotto campaign sign $keys/draft.toml --key $keys/operator.key --out $keys/campaign.sotto
inside install -m 644 $keys/campaign.sotto /etc/sotto/campaign.sotto
inside install -m 644 $keys/operator.key.pub /etc/sotto/operator.pub
inside install -o "$user" -m 400 $keys/coordinator.key /run/sotto-credentials/coordinator.key
store=$(sed -n 's/^Environment=.*SOTTO_STORE=\([^ ]*\).*/\1/p' "$root/lib/systemd/system/sotto-coordinator.service")
line=$(line_of sotto-coordinator)
line=${line/\$\{CREDENTIALS_DIRECTORY\}//run/sotto-credentials}
line=${line/\$\{SOTTO_STORE\}/$store}
start listening "${line/\$SOTTO_MORE/}"
for _ in $(seq 600); do # until the trainer has made the first version
  curl -s --max-time 10 "$url/v1/status" >"$work/status"
  grep -q '"version":"[0-9a-f]\{64\}"' "$work/status" && break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.2
done
grep -q '"version":"[0-9a-f]\{64\}"' "$work/status" || { cat "$work/log" "$work/said" >&2; fail 'the coordinator has no version'; }
ask /readyz /healthz /v1/order
# A cohort is forty devices: thirty-nine by the fleet, and a person's, with the keys and tokens of a real campaign.
said inside sotto campaign tokens --key $keys/operator.key --count 39 --out $keys/tokens
said inside sotto campaign tokens --key $keys/operator.key --count 1 --out $keys/token
device=(inside env HOME=/root sotto device --store /root/mine --server "$url")
said "${device[@]}" enrol --token $keys/token --operator-key $keys/operator.key.pub --yes
said "${device[@]}" import --data /var/lib/sotto/coordinator/data --user 7
inside timeout 300 sotto fleet --devices 39 --data /var/lib/sotto/coordinator/data --server "$url" --rounds 2 \
  --operator-key $keys/operator.key.pub --tokens $keys/tokens >"$work/fleet.log" 2>&1 &
fleet=$!
said "${device[@]}" train
grep -q 'took part' "$work/command.log" || { cat "$work/command.log" "$work/log" >&2; fail 'the device did not take part'; }
for _ in $(seq 300); do
  curl -s --max-time 10 "$url/v1/status" >"$work/status"
  grep -q '"rounds_done":[1-9]' "$work/status" && break
  sleep 0.2
done
grep -q '"rounds_done":[1-9]' "$work/status" || { cat "$work/status" "$work/log" >&2; fail 'no version was made of what the devices sent'; }
said "${device[@]}" ledger
grep -q 'training' "$work/command.log" || { cat "$work/command.log" >&2; fail 'the ledger does not know of the training'; }
said "${device[@]}" forget
kill "$fleet" 2>/dev/null || true
wait "$fleet" 2>/dev/null || true
fleet=
stop
[ -e "$root$store/store.sqlite" ] || fail "the coordinator's store is not in $store"

# An upgrade keeps what the operator changed; a removal keeps what was learned.
echo '# changed by the operator' >>"$root/etc/sotto/serve.toml"
inside apt-get install -y -qq --no-install-recommends --reinstall /tmp/sotto.deb >"$work/apt.log" 2>&1 || { tail -20 "$work/apt.log" >&2; fail 'it does not upgrade'; }
tail -1 "$root/etc/sotto/serve.toml" | grep -q 'changed by the operator' || fail 'an upgrade has overwritten the settings'
inside apt-get purge -y -qq sotto >"$work/apt.log" 2>&1 || { tail -20 "$work/apt.log" >&2; fail 'it cannot be removed'; }
[ -d "$root/var/lib/sotto/serve/catalogue" ] || fail 'a removal has taken the data'
[ ! -e "$root/usr/bin/sotto" ] || fail 'a removal leaves the command'
echo "package-test: installed, both servers started and asked, upgraded and removed in a new Debian ($debian)"
