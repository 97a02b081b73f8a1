#!/usr/bin/env bash
# test_sdist.sh SDIST: 'pip install .' as whoever has the sources alone does it: the sdist in an empty folder, a virtual
# environment that has nothing yet, everything compiled (half an hour on two cores); then the tests of the core.
set -euo pipefail
cd "$(dirname "$0")/.."
sdist=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/source" "$work/empty"
tar -xzf "$sdist" -C "$work/source" --strip-components=1
/usr/bin/python3 -m venv --system-site-packages "$work/venv"
python=$work/venv/bin/python
echo "python: installing from the sdist alone"
"$python" -m pip install --quiet --disable-pip-version-check "$work/source" >"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }
"$python" -m pip install --quiet --disable-pip-version-check -r python/requirements.txt
tests=$PWD/python/tests
cd "$work/empty"
"$python" -m pytest -q -x --rootdir "$tests/.." -p no:cacheprovider "$tests"/test_{privacy,metrics,values,secagg,data}.py
