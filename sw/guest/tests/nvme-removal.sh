# shellcheck shell=sh
# shows: the controller is pulled out while its driver reads and writes, and plugged in again; data that was acknowledged stays
# needs: nvme disk_check
. /tests/common.sh
find_disk
known=/tmp/known
disk_check fill "$disk" $known 512 >/dev/null || fail "the disk could not be written"
echo 2000 >"/sys/block/$(basename "$disk")/queue/io_timeout"
(while disk_check write "$disk" $known 0 512 >/tmp/ends 2>&1 && [ "$(cat /tmp/ends)" = "ok 512" ]; do :; done) &
sleep 1
host unplug 'nvme[0]'
# Nothing tells the driver: a command that does not end does.
wait_until 60 test ! -b "$disk" || fail "$disk is still there"
wait
check "who wrote has failed" test "$(cat /tmp/ends)" != "ok 512"
echo "gone: writes ended with $(tr '\n' ' ' </tmp/ends)"
host plug 'nvme[0]'
[ ! -e "$folder/remove" ] || echo 1 >"$folder/remove"
echo 1 >/sys/bus/pci/rescan
find_disk
all=$(disk_check check "$disk" $known) || fail "data is lost: $all"
check "all can be read, and not $all" test "$all" = "ok 512"
echo "back as $disk; 512 blocks are as they were acknowledged"
