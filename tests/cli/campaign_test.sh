#!/usr/bin/env bash
# An operator, a coordinator and a witness by their commands: keys, a campaign, the public log. What is refused ends with
# 2, says why and changes no file.
#   campaign_test.sh SOTTO
set -euo pipefail
sotto=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "campaign_test: $1" >&2; exit 1; }

files() { find . -type f ! -name out ! -name err -exec sha256sum {} + | sort; }
ok() {
  "$sotto" "$@" >out 2>err </dev/null || fail "$* ends with $?: $(cat err)"
}
said() { grep -qF -- "$1" out || fail "'$1' is missing in: $(cat out)"; }
refused() { # WORDS COMMAND...
  local words=$1 code=0 before
  shift
  before=$(files)
  "$sotto" "$@" >out 2>err </dev/null || code=$?
  [ "$code" -eq 2 ] || fail "$* ends with $code instead of 2: $(cat err)"
  grep -qF -- "$words" err || fail "'$words' is missing in: $(cat err)"
  [ "$before" = "$(files)" ] || fail "$* was refused and changed a file"
}

for name in operator coordinator witness stranger; do ok campaign keys --out $name.key; done
[ "$(stat -c %a operator.key)" = 600 ] || fail "a secret key has mode $(stat -c %a operator.key)"
refused 'is there already' campaign keys --out operator.key
refused "did you mean 'campaign keys'" campaign keis --out a.key

layout=$(printf 'w:215 ' | sha256sum | cut -d' ' -f1)
new() { # FLAGS...: a campaign for 10,000 readers, as far as the flags do not say otherwise
  echo campaign new --coordinator-key coordinator.key.pub --witness-key witness.key.pub --recipe sotto \
    --layout "$layout" --out "$@"
}
cat >campaign.toml <<'T'
purpose = "Better front pages"
dimension = 215
population = 10_000
cohort = 200
group = 100
participations = 4
epsilon = 8.0
delta = 1e-6
witnesses_needed = 1
T
# shellcheck disable=SC2046 # words of a command line
{
  ok $(new draft.toml --settings campaign.toml)
  said 'epsilon 8 at delta 1e-06'
  said 'a draft, which no device accepts'
  refused 'is there already' $(new draft.toml --settings campaign.toml)
  refused '--dimension is missing' $(new no.toml --settings campaign.toml --dimension 0)
  refused '--epsilon' $(new no.toml --settings campaign.toml --epsilon 0)
  refused 'one over the population' $(new no.toml --settings campaign.toml --delta 1e-3)
  refused 'max_upload_bytes' $(new no.toml --settings campaign.toml --dimension 20000000)
  refused 'purpose' $(new no.toml --settings campaign.toml --purpose=)
  refused 'groups of 30' $(new no.toml --settings campaign.toml --group 30)
  refused "did you mean '--population'" $(new no.toml --populatoin 3)
}

# What is signed can hold, by a key that its owner alone can read.
sed 's/^noise_multiplier.*/noise_multiplier = 0.1/' draft.toml >weak.toml
refused 'raise the noise' campaign sign weak.toml --key operator.key --out weak.sotto
sed 's/^participations.*/participations = 5/' draft.toml >often.toml
refused 'raise the noise' campaign sign often.toml --key operator.key --out often.sotto
sed 's/^valid_from.*/valid_from = "2020-01-01"/; s/^valid_until.*/valid_until = "2020-02-01"/' draft.toml >old.toml
refused 'ended on 2020-02-01' campaign sign old.toml --key operator.key --out old.sotto
sed 's/^valid_from.*/valid_from = "2020-02-30"/' draft.toml >never.toml
refused 'valid_from' campaign sign never.toml --key operator.key --out never.sotto
chmod 644 operator.key
refused 'mode 0644' campaign sign draft.toml --key operator.key --out campaign.sotto
chmod 600 operator.key
chmod 600 campaign.toml
refused 'holds no line' campaign sign draft.toml --key campaign.toml --out campaign.sotto
ok campaign sign draft.toml --key operator.key --out campaign.sotto
refused 'is signed already' campaign sign campaign.sotto --key operator.key --out again.sotto
ok campaign show campaign.sotto
said 'Better front pages'
said 'in a sum of 100 devices'
ok --json campaign show campaign.sotto
said '"bytes_up":'
ok campaign verify campaign.sotto --operator-key operator.key.pub
refused 'not signed by' campaign verify campaign.sotto --operator-key stranger.key.pub
refused 'is a secret key' campaign verify campaign.sotto --operator-key operator.key
refused 'is a draft' campaign verify draft.toml --operator-key operator.key.pub
head -c 200 campaign.sotto >cut.sotto
refused 'cut off' campaign show cut.sotto

# Another key in the operator's place: by the key before it, or by the recovery key. Nothing that no device would follow.
for name in next recovery; do ok campaign keys --out $name.key; done
ok campaign rotate --key operator.key --to next.key.pub --out change
said 'what the log has of them stays good'
refused 'name another file' campaign rotate --key operator.key --to next.key.pub --out change
refused 'take its own place' campaign rotate --key operator.key --to operator.key.pub --out no
refused 'is a secret key' campaign rotate --key operator.key --to next.key --out no
refused 'cannot put itself' campaign revoke --key recovery.key --replaced operator.key.pub --to recovery.key.pub --out no
refused 'stands there twice' campaign revoke --key recovery.key --replaced operator.key.pub operator.key.pub --to next.key.pub --out no
ok --json campaign revoke --key recovery.key --replaced operator.key.pub stranger.key.pub --to next.key.pub --out stolen
said '"replaced":2,"revokes":true'
: >dataset.sotto # whether there is one is asked first, and what is in it last
start() { echo coordinator --campaign campaign.sotto --data . --store store --key coordinator.key --operator-key operator.key.pub "$@"; }
# shellcheck disable=SC2046 # words of a command line
{
  refused 'key change' $(start --key-change campaign.sotto)
  refused 'is a secret key' $(start --recovery-key recovery.key)
}

# The log: entries with signed heads, a witness who remembers, forks and losses found.
head -c 1000 /dev/zero >model
refused 'there is no log' log show log
refused 'one of: --campaign' log append log --key coordinator.key
refused 'names the coordinator' log append log --key stranger.key --campaign campaign.sotto
ok log append log --key coordinator.key --campaign campaign.sotto
said '1 entries'
refused 'is in the log already' log append log --key coordinator.key --campaign campaign.sotto
refused 'belongs to the key' log append log --key stranger.key --model model
cp log short
ok log append log --key coordinator.key --model model
ok log verify log --owner-key coordinator.key.pub
refused 'has not cosigned' log verify log --owner-key coordinator.key.pub --witness-key witness.key.pub
refused 'another log' log verify log --owner-key stranger.key.pub
refused 'another log' log witness log --owner-key stranger.key.pub --key witness.key --state seen --out word
ok log witness log --owner-key coordinator.key.pub --key witness.key --state seen --out word
refused 'were taken away' log witness short --owner-key coordinator.key.pub --key witness.key --state seen --out other
ok log append log --cosignature word
refused 'has cosigned this head already' log append log --cosignature word
ok log verify log --owner-key coordinator.key.pub --witness-key witness.key.pub
cp short forked
ok log append forked --key coordinator.key --model campaign.sotto
ok log append forked --key coordinator.key --model draft.toml
refused 'was forked' log witness forked --owner-key coordinator.key.pub --key witness.key --state seen --out other
ok log append log --key coordinator.key --pack draft.toml
refused 'ask the witness again' log append log --cosignature word
ok log witness log --owner-key coordinator.key.pub --key witness.key --state seen --out word
said '3 entries continue the 2 seen before'
ok --json log show log
said '"kind":"pack"'
printf x | dd of=log bs=1 seek=60 conv=notrunc status=none
refused 'log' log verify log --owner-key coordinator.key.pub
echo 'campaigns, keys and the log do as they say'
