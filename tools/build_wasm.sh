#!/usr/bin/env bash
# The device library as WebAssembly, into web/wasm/built: sotto_device.wasm, and the module that loads it. Needs emscripten
# (packages.txt, [wasm]) and the source package of libsodium, the version that the native library links.
# Usage: tools/build_wasm.sh [TARGET]   sotto_wasm (default), or same_bytes for its test under node
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-sotto_wasm}
work=$PWD/build/wasm
mkdir -p "$work/headers/proto" "$work/sodium" web/wasm/built

# Debian's source package, by apt, which checks its signature. The machine's own lists stay as they are.
sodium=$work/sodium/source
if [ ! -d "$sodium" ]; then
  apt=$work/sodium/apt
  mkdir -p "$apt/sources" "$apt/lists" "$apt/cache"
  sed 's/^Types: deb$/Types: deb-src/' /etc/apt/sources.list.d/debian.sources >"$apt/sources/source.sources"
  options=(-qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/sources" -o "Dir::State::lists=$apt/lists"
    -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update
  # Of this machine: where ARM's library is installed too (make test-aarch64), the bare name is two packages.
  version=$(dpkg-query -W -f='${Version}' "libsodium-dev:$(dpkg --print-architecture)")
  (cd "$work/sodium" && apt-get "${options[@]}" source --download-only "libsodium=$version")
  dpkg-source -x "$work/sodium/"libsodium_*.dsc "$sodium.part" >/dev/null 2>&1
  mv "$sodium.part" "$sodium"
fi

# Headers that are their own library, without the rest of /usr/include: emscripten has a C library of its own.
for header in fmt tl nlohmann flatbuffers eigen3 xxhash.h; do
  ln -sfn "/usr/include/$header" "$work/headers/$header"
done
for schema in proto/*.fbs; do
  made=$work/headers/proto/$(basename "$schema" .fbs)_generated.h
  [ "$made" -nt "$schema" ] || flatc --cpp --cpp-std c++17 --scoped-enums --gen-object-api -o "$work/headers/proto" "$schema"
done

export NODE_PATH=/usr/share/nodejs # where Debian's emscripten finds what its tools need
cmake=$work/cmake
emcmake cmake -G Ninja -S web/wasm -B "$cmake" -DSOTTO_SODIUM_SOURCE="$sodium" -DSOTTO_HEADERS="$work/headers" >"$work/configure.log" 2>&1 ||
  { cat "$work/configure.log" >&2; exit 1; }
ninja -C "$cmake" ${JOBS:+-j "$JOBS"} "$target" >"$work/build.log" 2>&1 || { tail -n 40 "$work/build.log" >&2; exit 1; }
if [ "$target" = sotto_wasm ]; then
  cp "$cmake/bin/sotto_device.mjs" "$cmake/bin/sotto_device.wasm" web/wasm/built/
  echo "wasm: $(stat -c %s web/wasm/built/sotto_device.wasm) bytes, $(gzip -9c web/wasm/built/sotto_device.wasm | wc -c) with gzip"
fi
