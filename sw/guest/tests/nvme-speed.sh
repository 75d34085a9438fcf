# shellcheck shell=sh
# shows: data written and read back through the kernel's driver, several commands at a time, compared, and how fast that was
# needs: nvme disk_check
. /tests/common.sh
find_disk
size=$(($(cat "/sys/block/$(basename "$disk")/size") / 2048))
mib=${WARPLINE_GUEST_DISK_MIB:-48}
[ "$mib" -le $size ] || fail "WARPLINE_GUEST_DISK_MIB: the disk has $size MiB; --serve-options --disk FILE makes a file the disk"
disk_check speed "$disk" "$mib" || fail "data is lost"
disk_check fill "$disk" /tmp/known 8192 >/dev/null || fail "the disk could not be written"
disk_check random "$disk" /tmp/known $((mib * 10)) $mib || fail "data is lost"
all=$(disk_check check "$disk" /tmp/known) || fail "data is lost: $all"
