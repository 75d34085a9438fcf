# shellcheck shell=sh
# shows: the controller is reset under its driver, by it and by the bus, and taken out and found again; data stays
# needs: nvme
. /tests/common.sh
find_disk
random_data /tmp/data 256
dd if=/tmp/data of="$disk" bs=256k count=1 oflag=direct 2>/dev/null || fail "cannot write"
is_live() { [ "$(cat "/sys/class/nvme/$controller/state" 2>/dev/null)" = live ]; }
same() { dd if="$disk" of=/tmp/back bs=256k count=1 iflag=direct 2>/dev/null && cmp -s /tmp/data /tmp/back; }
echo 1 >"/sys/class/nvme/$controller/reset_controller"
check "it is live after a reset of the controller" wait_until 30 is_live
check "data is there" same
ways=$(cat "$folder/reset_method")
for way in $ways; do
  reset_by "$folder" "$way"
  check "it is live after '$way'" wait_until 60 is_live
  check "data is there after '$way'" wait_until 30 same
  echo "reset: $way"
done
echo 1 >"$folder/remove"
check "its disk is gone" test ! -b "$disk"
echo 1 >/sys/bus/pci/rescan
find_disk
check "data is there after a rescan" same
echo "taken out, found again as $disk"
