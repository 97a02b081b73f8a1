#!/usr/bin/env bash
# check_sdist.sh SDIST PYTHON BUILD: the package can be built from its sdist alone. Configures it, asks ninja whether every file
# that it would compile is there, and looks for every header that the objects of BUILD were made from. Compiles one file.
set -euo pipefail
sdist=$1
python=$2
build=$3
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
tar -xzf "$sdist" -C "$unpacked" --strip-components=1
# ninja lists the headers of every object by absolute path.
root=$PWD
ninja -C "$build" -t deps | grep -o " $root/\(src\|bench\|python\)/.*" | sed "s#^ $root/##" | sort -u >"$unpacked/.needed"
while read -r file; do
  if ! grep -q "^[^/]*$" <<<"$file" && [ ! -e "$unpacked/$file" ] && [ -e "$file" ]; then
    echo "sdist: $file is missing" >&2
    exit 1
  fi
done <"$unpacked/.needed"
log=$unpacked/.log
cmake -S "$unpacked" -B "$unpacked/.build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSOTTO_PYTHON=ON -DSOTTO_TESTS=OFF \
  -DPython_EXECUTABLE="$python" -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" >"$log" 2>&1 || { tail -n 30 "$log" >&2; exit 1; }
ninja -C "$unpacked/.build" -n sotto_python >"$log" 2>&1 || { tail -n 5 "$log" >&2; exit 1; }
# The embedded pages are read by the assembler: their file compiles only if they are there.
ninja -C "$unpacked/.build" CMakeFiles/sotto_pages.dir/embedded_files.cpp.o >"$log" 2>&1 || { tail -n 20 "$log" >&2; exit 1; }
echo "python: the sdist holds all of $(wc -l <"$unpacked/.needed") sources and headers, and its pages"
