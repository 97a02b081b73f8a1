#!/usr/bin/env bash
# What a program that uses the device library alone is made of: libraries it may load, and its size without symbols.
#   check_closure.sh PROGRAM
set -euo pipefail
program=$1
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
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$program"
bytes=$(stat -c %s "$stripped")
echo "device: $bytes bytes without symbols, loads $(tr '\n' ' ' <<<"$loaded")"
if [ "$bytes" -gt "$most_bytes" ]; then
  echo "the program has $bytes bytes without symbols, more than $most_bytes" >&2
  exit 1
fi
