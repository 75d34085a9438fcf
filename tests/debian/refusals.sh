#!/usr/bin/env bash
# check_debian refuses what it cannot do, with exit status 2 and a message that says which word is wrong, before it makes anything.
set -u
check=$(dirname "$(readlink -f "$0")")/check_debian
expect() { # MESSAGE ARGUMENT...
  local message=$1 out status
  shift
  out=$("$check" "$@" 2>&1); status=$?
  [ $status -eq 2 ] || { echo "check-debian $*: exit status $status instead of 2"; exit 1; }
  grep -qF -- "$message" <<<"$out" || { echo "check-debian $*: '$message' is missing in:"; echo "$out"; exit 1; }
}
expect "which Debian: 12 or 13?"
expect "which Debian: 12 or 13?" --clang
expect "'11' is neither a version that is tried (12, 13) nor an option" 11
expect "'--gcc' is neither a version" 13 --gcc
expect "one version at a time, not 12 and 13" 12 13
"$check" --help | grep -q "usage: ./warp check-debian" || { echo "--help does not tell the usage"; exit 1; }
if [ "$(id -u)" -ne 0 ]; then expect "making a root needs root" 13; fi
