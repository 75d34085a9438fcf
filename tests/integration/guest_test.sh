#!/usr/bin/env bash
# The script behind ./warp guest: what it refuses, and a short boot with the queue device in it.
#   guest_test.sh refusals|boot SOURCE_FOLDER WARPLINE INCLUDE_FOLDER
# Exit status 77 of a boot: QEMU and a kernel are not in the cache. WARPLINE_GUEST_FETCH=1 has them fetched, some 100 MB.
set -euo pipefail
step=$1 source=$2 warpline=$3 includes=$4
guest() { "$source/sw/guest/guest" "$warpline" "$includes" "$@"; }
fail() { echo "FAILED: $*"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

expect() { # STATUS MESSAGE ARGUMENT...
  local wanted=$1 message=$2 out status=0
  shift 2
  out=$(guest "$@" 2>&1) || status=$?
  [ $status -eq "$wanted" ] || fail "guest $*: exit status $status instead of $wanted: $out"
  grep -qF -- "$message" <<<"$out" || fail "guest $*: '$message' is missing in: $out"
}

case $step in
  refusals)
    expect 2 "'--shel' is no option" --shel
    expect 2 "--test needs a word behind it" --test
    expect 2 "there is no test 'common'" --test common
    expect 2 "the guest is x86_64 or aarch64, not 'sparc'" --arch sparc
    expect 2 "--memory takes a number, not '1G'" --memory 1G
    expect 2 "--memory: Debian's kernel needs 256 MiB" --memory 64
    expect 2 "--gdb takes a number, not '0'" --gdb=0
    expect 77 "nothing is downloaded with --offline" --offline --cache "$work/none"
    [ ! -e "$work/none" ] || fail "--offline made a cache"
    expect 0 "usage: ./warp guest" --help
    # Each test says what it shows, and is listed.
    listed=$(guest --list)
    for file in "$source"/sw/guest/tests/*.sh; do
      name=$(basename "$file" .sh)
      [ "$name" = common ] || grep -qE "^$name +[a-z]" <<<"$listed" || fail "--list does not tell of $name"
    done
    # A counter that the server does not tell is not 0.
    status=0
    sh -eu -c '. "$1"; n=$(counter_of peer.commands); echo "it is $n"' sh "$source/sw/guest/tests/common.sh" >"$work/said" 2>&1 || status=$?
    if [ $status -eq 0 ] || grep -q "it is" "$work/said"; then fail "a counter that nobody tells: $(cat "$work/said")"; fi
    # What QEMU's plugin notes of accesses: whose they were, and of how many it does not know.
    "${CC:-cc}" -std=gnu11 -Wall -Wextra -I "$source" -o "$work/where" "$source/tests/integration/where_plugin.c"
    "$work/where" "$work/said"
    for line in "one.sock BAR 0|1000|4|read|40|1" "other.sock BAR 0|1000|4|read|40|2"; do
      grep -qxF "$line" "$work/said" || fail "the plugin has not noted '$line'"
    done
    noted=$(awk -F '|' '$1 == "others" { n += $2 } NF == 6 { n += $6 } END { print n }' "$work/said")
    [ "$noted" -eq 20003 ] || fail "the plugin has noted $noted accesses instead of 20003"
    grep -q '^others|' "$work/said" || fail "the plugin has not said that it had no room"
    # Where there is no network nothing is left that looks whole.
    if command -v apt-get dpkg-deb >/dev/null && [ -r /usr/share/keyrings/debian-archive-keyring.gpg ]; then
      status=0
      WARPLINE_DEBIAN_MIRROR=http://127.0.0.1:9/debian guest --fetch-only --cache "$work/cache" >"$work/said" 2>&1 || status=$?
      if [ $status -ne 2 ] || ! grep -q "cannot read Debian's lists of packages at http://127.0.0.1:9/debian" "$work/said"; then
        fail "without a network: status $status, $(cat "$work/said")"
      fi
      [ ! -e "$work/cache/qemu" ] || fail "without a network there is a QEMU"
    fi ;;
  boot)
    offline=(--offline)
    [ -z "${WARPLINE_GUEST_FETCH-}" ] || offline=()
    tests=(--test enumerate --test registers)
    [ ! -f "$source/sw/driver/linux/Makefile" ] || tests+=(--test driver)
    status=0
    TMPDIR=$work guest ${offline[@]+"${offline[@]}"} "${tests[@]}" || status=$?
    [ $status -ne 77 ] || { echo "skipped: see docs/guest.md"; exit 77; }
    [ $status -eq 0 ] || fail "exit status $status"
    [ -z "$(ls "$work")" ] || fail "this was left: $(ls "$work")"
    # One that does not come to its end is stopped, told of, and leaves nothing.
    TMPDIR=$work guest "${offline[@]-"--offline"}" --test enumerate --time-limit 1 >"$work.said" 2>&1 || status=$?
    said=$(cat "$work.said")
    rm "$work.said"
    if [ $status -ne 1 ] || ! grep -q "not done after 1 s" <<<"$said" || ! grep -q "the last lines of its console" <<<"$said"; then
      fail "with a limit of 1 s: status $status, $said"
    fi
    [ -z "$(ls "$work")" ] || fail "this was left then: $(ls "$work")" ;;
  *) fail "$step is neither refusals nor boot" ;;
esac
