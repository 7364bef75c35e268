#!/usr/bin/env bash
# From a broken deployment repository to a green gate, as a newcomer goes: needs git, `swa-lint` and pre-commit on the PATH.
# Prints each command and what it says; exits 0 only if the gate is red before the fixes and green after them, with the
# defect reported to GitHub by file and line, and red again when a new defect comes in, all within five minutes. Where
# pre-commit is missing or cannot fetch what its hook needs, a plain Git hook takes its place, and the last line says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R fixtures/deployment "$work/deployment"
cd "$work/deployment"
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=Newcomer GIT_AUTHOR_EMAIL=newcomer@example.org
export GIT_COMMITTER_NAME=Newcomer GIT_COMMITTER_EMAIL=newcomer@example.org XDG_CACHE_HOME="$work/cache"
export PRE_COMMIT_HOME="$work/pre-commit"

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

# What cannot be mended today goes into a baseline; here nothing is left to go there.
status 0 swa-lint baseline
status 0 swa-lint check --baseline swa-lint-baseline.json
rm swa-lint-baseline.json

# The gate before each commit: the snippet of docs/integrations.md, with this clone as the repository.
gate=pre-commit
revision=$(git -C "$root" rev-parse HEAD) || gate=hook
if [ $gate = pre-commit ] && command -v pre-commit >/dev/null; then
    sed -n '/^repos:$/,/^```$/{/^```$/d;p;}' "$root/docs/integrations.md" |
        sed "s|REPOSITORY|$root|; s|RELEASE|$revision|" >.pre-commit-config.yaml
    status 0 git add .pre-commit-config.yaml
    printf '\n$ pre-commit install --install-hooks\n'
    pre-commit install --install-hooks >install.txt 2>&1 || {
        grep -qiE 'No matching distribution|connection|resolution|timed out' install.txt || {
            cat install.txt
            fail "pre-commit cannot install the hook"
        }
        pre-commit uninstall
        gate=hook
    }
    rm install.txt
else
    gate=hook
fi
if [ $gate = hook ]; then
    printf '#!/bin/sh\nexec swa-lint check\n' >.git/hooks/pre-commit
    chmod +x .git/hooks/pre-commit
fi
status 0 git commit -q --allow-empty -m 'The gate is green'
sed -i.bak 's/"sliding_window": 128/"sliding_window": 512/' v4/nextn/config.json
rm v4/nextn/config.json.bak
status 1 git commit -q -a -m 'A draft with a window of its own'
git diff --quiet HEAD -- v4 && fail "the commit went through"
git checkout -q HEAD -- v4
status 0 swa-lint check --output-format github
[ $SECONDS -lt 300 ] || fail "that took $SECONDS seconds"
printf '\nGreen after %s seconds (gate: %s).\n' $SECONDS "$gate"
