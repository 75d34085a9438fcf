# shellcheck shell=sh
# shows: our kernel module, and its test through its file; then resets and removal under it
# needs: peer module
# machine: driver
. /tests/common.sh
peer=$(function_of peer)
load warpline_peer
check "the module has the device" test "$(basename "$(readlink -f "$peer/driver")")" = warpline_peer
wait_until 10 test -c /dev/warpline_peer0 || fail "there is no /dev/warpline_peer0"
status=0
wl_peer_test --remove --measure >/tmp/said || status=$?
grep -v '^ok ' /tmp/said
check "the module's test passed" test $status -eq 0
echo "$(find "$peer/msi_irqs" -type f | wc -l) vectors, $(interrupts_of "$peer") interrupts since"
for _ in 1 2 3; do
  rmmod warpline_peer || fail "the module cannot be unloaded"
  check "nobody has the device then" test ! -e "$peer/driver"
  load warpline_peer
  wait_until 10 test -c /dev/warpline_peer0 || fail "there is no /dev/warpline_peer0 after loading it again"
done
echo "unloaded and loaded again 3 times"
check "the kernel has no complaint" test -z "$(dmesg | grep -E 'BUG|WARNING|Oops|Call Trace')"
