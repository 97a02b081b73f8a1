#!/usr/bin/env bash
# The owner of a device sets its ledger's clock: ledger_clock_test.sh SOTTO
set -euo pipefail
sotto=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "ledger_clock_test: $1" >&2; exit 1; }
says() { # WORDS: of the ledger as it is now
  "$sotto" --json privacy ledger reader >now 2>err || fail "the ledger is not read: $(cat err)"
  grep -qF -- "$1" now || fail "'$1' is missing in: $(cat now)"
}

"$sotto" device --store reader new --set ranking=private --set epsilon=3 --set day_epsilon=6 >/dev/null 2>&1
says '"records":1'
says '"closed":false'
day() { grep -oE '"budgets":\[[^]]*\]' now | grep -oE '\{[^}]*"window":"day"\}'; }
day | grep -qF '"left":6.0' || fail "a new device has spent something: $(day)"

# Looking changes nothing; what the owner states is a record, after which this day and the next count as spent.
says '"records":1'
"$sotto" privacy ledger reader --mend-clock >page 2>err || fail "the clock is not mended: $(cat err)"
grep -qE '^ +day +0 .* 6 +0 ' page || fail "the page does not say that the day is spent: $(cat page)"
says '"records":2'
day | grep -qF '"closed":true' || fail "the day is still open: $(day)"
day | grep -qF '"left":0.0' || fail "mending the clock brought budget: $(day)"
field() { day | grep -oE "\"$1\":\"[0-9-]+" | cut -d'"' -f4; }
[ $((($(date -d "$(field frees_up)" +%s) - $(date -d "$(field from)" +%s) + 43200) / 86400)) -eq 2 ] ||
  fail "the next day is not spent too: $(day)"
grep -oE '\{[^}]*"window":"lifetime"\}' now | grep -qF '"closed":false' || fail 'the lifetime was spent as well'

if "$sotto" privacy ledger nobody --mend-clock >out 2>err; then fail 'the clock of no device was mended'; fi
grep -qF 'nobody' err || fail "not said which ledger is missing: $(cat err)"
[ ! -e nobody ] || fail 'mending made a ledger'
