#!/usr/bin/env bash
# No jump and no address on a device's way to a ciphertext depends on the user vector (asking.cpp).
#   check.sh VALGRIND PROGRAM
set -euo pipefail
"$1" --quiet --error-exitcode=3 "$2"
if "$1" --quiet --error-exitcode=3 "$2" branch >/dev/null 2>&1; then
  echo "a branch on the user vector was not noticed" >&2
  exit 1
fi
