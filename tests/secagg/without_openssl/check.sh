#!/bin/sh
# Usage: check.sh PROGRAM LIBRARY...: the program runs a round, and neither it nor the libraries know OpenSSL.
set -eu
program=$1
shift
"$program"
if ldd "$program" | grep -E 'libcrypto|libssl'; then
  echo "$program loads OpenSSL" >&2
  exit 1
fi
for library in "$@"; do
  if nm -u "$library" 2>/dev/null | grep -E ' (EVP|OSSL|OPENSSL|SSL|CRYPTO|RAND|HMAC)_'; then
    echo "$library calls OpenSSL" >&2
    exit 1
  fi
done
