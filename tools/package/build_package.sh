#!/usr/bin/env bash
# The Debian package of a release build: tools/package/build_package.sh BUILD_DIR OUT_DIR
# Command, trainer (where it was built), device library with headers, units, settings, manual, completion, licences, bill
# of materials. The same build gives the same bytes.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
fail() { echo "package: $1" >&2; exit 1; }
for tool in dpkg-deb dpkg-shlibdeps strip ninja; do
  command -v "$tool" >/dev/null || fail "$tool is missing: install the packages of the section [package] of packages.txt"
done
sotto=$build/sotto
[ -x "$sotto" ] || fail "$sotto is missing: build it first ('make build')"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
version=$("$sotto" --version | awk '{print $NF}')
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
umask 022

cmake --install "$build" --prefix "$root/usr" >/dev/null
documents=$root/usr/share/doc/sotto
mkdir -p "$documents" "$root/etc/sotto" "$root/lib/systemd/system" "$root/usr/lib/sysusers.d" \
  "$root/usr/share/man/man1" "$root/usr/share/bash-completion/completions" "$root/DEBIAN"
programs=("$root/usr/bin/sotto")
if [ -e "$root/usr/libexec/sotto-trainer" ]; then programs+=("$root/usr/libexec/sotto-trainer"); fi
strip --strip-unneeded "${programs[@]}"
find "$root/usr/lib" -name '*.a' -exec strip --strip-debug --enable-deterministic-archives {} +

for server in serve:8081 coordinator:8080; do
  command=${server%:*}
  # Whatever the units say is written once.
  sed -e "/@HARDENING@/{r $here/hardening.conf" -e 'd}' "$here/sotto-$command.service" >"$root/lib/systemd/system/sotto-$command.service"
  {
    echo "# Settings of 'sotto $command', which sotto-$command.service runs. Lines with a '#' in front have the default."
    python3 "$here/describe_command.py" "$sotto" settings "$command" "port=${server#*:}"
  } >"$root/etc/sotto/$command.toml"
done
install -m 644 "$here/sysusers.conf" "$root/usr/lib/sysusers.d/sotto.conf"
python3 "$here/describe_command.py" "$sotto" manual "$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)" | gzip -9n >"$root/usr/share/man/man1/sotto.1.gz"
python3 "$here/describe_command.py" "$sotto" completion >"$root/usr/share/bash-completion/completions/sotto"

# Headers that the compiler read for what is in the package: those of other packages are compiled in.
ninja -C "$build" -t deps | awk '/^[^ ]/ {ours = $1 !~ /^(tests|fuzz)\//} ours && $1 ~ /^\/usr\/include\// {print $1}' | sort -u >"$work/headers"
[ -s "$work/headers" ] || fail "ninja knows no headers of $build: build it with ninja"
python3 "$here/make_sbom.py" sotto "$version" "$documents/sotto.spdx.json" "$documents/licences" "$work/headers" "${programs[@]}"
{
  printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: sotto\n\n'
  printf 'Files: *\nCopyright: the authors of Sotto\nLicense: Apache-2.0\n On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\n'
  printf ' What is linked to and compiled in has its own licences: /usr/share/doc/sotto/licences.\n'
} >"$documents/copyright"
rm -f "$documents/LICENSE"  # it is among the common ones
gzip -9n <"$source/CHANGELOG.md" >"$documents/changelog.gz"

# The command needs its libraries; without those of the trainer a server runs that does not train.
mkdir -p "$work/debian"
printf 'Source: sotto\n\nPackage: sotto\nArchitecture: any\n' >"$work/debian/control"
arguments=(-dDepends "${programs[0]}")
if [ ${#programs[@]} -gt 1 ]; then arguments+=(-dRecommends "${programs[1]}"); fi
(cd "$work" && dpkg-shlibdeps -O "${arguments[@]}" 2>shlibdeps.log >needs) || { cat "$work/shlibdeps.log" >&2; fail 'dpkg-shlibdeps failed'; }
depends=$(sed -n 's/^shlibs:Depends=//p' "$work/needs")
recommends=$(sed -n 's/^shlibs:Recommends=//p' "$work/needs")
recommends="${recommends:+$recommends, }libpq5" # which a store in PostgreSQL loads
{
  echo "Package: sotto"
  echo "Version: $version"
  echo "Architecture: $architecture"
  echo "Maintainer: The maintainers of Sotto <sotto@localhost>"
  echo "Installed-Size: $(du -sk --apparent-size "$root" | cut -f1)"
  echo "Depends: $depends, systemd | systemd-standalone-sysusers"
  echo "Recommends: $recommends"
  echo "Suggests: libsodium-dev, libssl-dev, libeigen3-dev, libfmt-dev, libspdlog-dev, nlohmann-json3-dev, libexpected-dev, libboost-dev, postgresql"
  echo "Section: net"
  echo "Priority: optional"
  echo "Description: private federated recommendation"
  echo " Coordinator of training rounds with secure aggregation and differential privacy,"
  echo " private online recommendation, the trainer, and the library that devices link."
} >"$root/DEBIAN/control"
(cd "$root" && find etc -type f -printf '/%p\n' | sort) >"$root/DEBIAN/conffiles"
install -m 755 "$here/postinst" "$here/prerm" "$here/postrm" "$root/DEBIAN/"
(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +

package=$out/sotto_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zzstd -z6 --build "$root" "$package" >/dev/null
echo "package: $package ($(stat -c %s "$package") bytes)"
