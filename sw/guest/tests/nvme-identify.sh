# shellcheck shell=sh
# shows: the kernel's nvme driver takes the controller; what that says of itself
# needs: nvme
. /tests/common.sh
find_disk
echo "$controller: $(tr -s ' ' <"/sys/class/nvme/$controller/model"), serial $(cat "/sys/class/nvme/$controller/serial"), firmware $(cat "/sys/class/nvme/$controller/firmware_rev"), $(cat "/sys/class/nvme/$controller/state")"
nvme id-ctrl "/dev/$controller" >/tmp/controller || fail "identify controller failed"
grep -E '^(vid|ver|mdts|nn|oncs|sgls) ' /tmp/controller
nvme id-ns "$disk" >/tmp/namespace || fail "identify namespace failed"
grep -E '^(nsze|ncap|nlbaf|lbaf +[0-9]+ .*in use)' /tmp/namespace
nvme smart-log "/dev/$controller" >/tmp/health || fail "the health log failed"
check "its health log has no warning" grep -qE '^critical_warning[[:space:]]*:[[:space:]]*0' /tmp/health
check "it is live" test "$(cat "/sys/class/nvme/$controller/state")" = live
check "its interrupts came as messages" test "$(interrupts_of "$folder")" -gt 0
echo "$(find "$folder/msi_irqs" -type f | wc -l) vectors, $(interrupts_of "$folder") interrupts so far"
