#!/usr/bin/env bash
# From a broken deployment repository to a green gate, as a newcomer goes: needs git and `swa-lint` on the PATH.
# Prints each command and what it says; exits 0 only if the gate is red before the fixes and green after them, with the
# defect reported to GitHub by file and line, and red again when a new defect comes in.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R fixtures/deployment "$work/deployment"
cd "$work/deployment"
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=Newcomer GIT_AUTHOR_EMAIL=newcomer@example.org
export GIT_COMMITTER_NAME=Newcomer GIT_COMMITTER_EMAIL=newcomer@example.org XDG_CACHE_HOME="$work/cache"

fail() {
    printf 'newcomer: %s\n' "$*" >&2
    exit 1
}

# status EXPECTED COMMAND...: run it, show it, and insist on its exit status.
status() {
    local expected=$1 found=0
    shift
    printf '\n$ %s\n' "$*"
    "$@" || found=$?
    [ "$found" -eq "$expected" ] || fail "exit status $found, not $expected, of: $*"
}

git init -q
git add -A
git commit -q -m 'The deployment as it was'

status 1 swa-lint check
status 1 swa-lint check --output-format github >annotations.txt
grep -q '^::error title=SWA301 .*file=chat/decode.yaml,line=15,' annotations.txt || fail "no annotation for decode"
rm annotations.txt

status 1 swa-lint fix --diff
git diff --quiet || fail "--diff wrote a file"
status 1 swa-lint fix
status 0 swa-lint fix --unsafe-fixes
git diff --stat
git diff --quiet && fail "nothing was fixed"
git commit -q -a -m 'Let drafts and decode follow the target'

# The gate: before each commit here, and the same command in CI.
cat >.git/hooks/pre-commit <<'HOOK'
#!/bin/sh
exec swa-lint check --output-format github
HOOK
chmod +x .git/hooks/pre-commit
status 0 git commit -q --allow-empty -m 'The gate is green'
sed -i.bak 's/"sliding_window": 128/"sliding_window": 512/' v4/nextn/config.json
rm v4/nextn/config.json.bak
status 1 git commit -q -a -m 'A draft with a window of its own'
git checkout -q v4
status 0 swa-lint check
printf '\nGreen.\n'
