#!/usr/bin/env bash
# The Python package in a fresh virtual environment: sdist and wheel, tests with hostile input, type stubs, notebooks.
# Links the libraries of build/release, so that nothing is compiled twice. Needs PyPI for what python/requirements.txt pins.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/python
rm -rf "$work/venv" "$work/dist"
mkdir -p "$work"
# Debian's own Python: its torch is the one that libtorch-dev is of.
/usr/bin/python3 -m venv --system-site-packages "$work/venv"
python=$work/venv/bin/python
echo "python: installing what python/requirements.txt pins"
"$python" -m pip install --quiet --disable-pip-version-check -r python/requirements.txt

echo "python: building sdist and wheel"
log=$work/build.log
"$python" -m build --no-isolation --sdist --outdir "$work/dist" . >"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
"$python" -m build --no-isolation --wheel --outdir "$work/dist" -C cmake.source-dir=python \
  -C "cmake.define.SOTTO_BUILD_TREE=$PWD/build/release" . >"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
wheel=$(ls "$work"/dist/sotto-*-cp311-cp311-linux_x86_64.whl)
tools/check_sdist.sh "$work"/dist/sotto-*.tar.gz "$python" build/release
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"

echo "python: tests"
# From an empty folder: what is tested is what was installed.
mkdir -p "$work/empty" && cd "$work/empty"
export SOTTO_COMMAND=$work/../release/sotto
"$python" -m pytest -q -x -rs --durations=10 --rootdir "$OLDPWD/python" -p no:cacheprovider "$OLDPWD/python/tests" "$@"
echo "python: types"
"$python" -m mypy --strict --config-file "$OLDPWD/python/mypy.ini" -p sotto
"$python" "$OLDPWD/tools/docs/python_reference.py" --check "$OLDPWD/docs/python/reference.md"
