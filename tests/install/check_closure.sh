#!/usr/bin/env bash
# What a program that uses the device library alone is made of: libraries it may load, and its size without symbols.
#   check_closure.sh PROGRAM [HEADER]      with HEADER the program must have every function that it declares
set -euo pipefail
program=$1 header=${2:-}
most_bytes=3000000
allowed='^(linux-vdso|libsodium|liblzma|libzstd|libz|libfmt|libspdlog|libstdc\+\+|libm|libgcc_s|libc|ld-linux[^.]*)\.'
loaded=$(ldd "$program" | awk '{print $1}' | sed 's|.*/||')
if extra=$(grep -vE "$allowed" <<<"$loaded"); then
  echo "the program loads what a device does not need: $extra" >&2
  exit 1
fi
if named=$(nm -C "$program" 2>/dev/null | grep -oE '\b(boost|torch|at|c10|sqlite3_[a-z]+|PQ[a-z]+)::?' | sort -u) && [ -n "$named" ]; then
  echo "the program has symbols of $named" >&2
  exit 1
fi
if [ -n "$header" ]; then
  declared=$(grep -oE '\bsotto_(device|talk|text)_[a-z_]+\(' "$header" | tr -d '(' | sort -u)
  [ -n "$declared" ] || { echo "$header declares nothing" >&2; exit 1; }
  # They have C's names, so that what C++ says does not matter.
  if missing=$(grep -vxFf <(nm "$program" | awk '$2 ~ /^[Tt]$/ && $3 ~ /^sotto_/ {print $3}') <<<"$declared"); then
    echo "the program was linked without $(tr '\n' ' ' <<<"$missing")" >&2
    exit 1
  fi
fi
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$program"
bytes=$(stat -c %s "$stripped")
echo "device: $bytes bytes without symbols${declared:+, $(wc -l <<<"${declared:-}") functions}, loads $(tr '\n' ' ' <<<"$loaded")"
if [ "$bytes" -gt "$most_bytes" ]; then
  echo "the program has $bytes bytes without symbols, more than $most_bytes" >&2
  exit 1
fi
