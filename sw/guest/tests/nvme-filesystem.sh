# shellcheck shell=sh
# shows: a file system on the controller: made, written, synced, unmounted, mounted again, compared
# needs: nvme
. /tests/common.sh
find_disk
load ext4  # programs that busybox has, too, go by their whole names
/sbin/mke2fs -q -F -t ext4 "$disk" || fail "no file system could be made"
mkdir -p /tmp/at
mount -t ext4 "$disk" /tmp/at
space=$(df -k /tmp/at | awk 'NR == 2 { print $4 }')
kib=$((space / 2 < 32768 ? space / 2 : 32768))
check "there is room for a file" test $kib -gt 64
random_data /tmp/data $kib
sum=$(sum_of /tmp/data)
from=$(cut -d ' ' -f 1 /proc/uptime)
cp /tmp/data /tmp/at/data
for number in $(seq 50); do echo "file $number" >"/tmp/at/file$number"; done
sync
umount /tmp/at
/sbin/e2fsck -f -n "$disk" >/tmp/checked 2>&1 || { cat /tmp/checked; fail "the file system is damaged"; }
mount -t ext4 -o ro "$disk" /tmp/at
check "the file is what was written" test "$(sum_of /tmp/at/data)" = "$sum"
for number in $(seq 50); do check "so is file $number" test "$(cat "/tmp/at/file$number")" = "file $number"; done
umount /tmp/at
echo "$kib KiB and 50 small files, written, checked and read in $(awk "BEGIN { print $(cut -d ' ' -f 1 /proc/uptime) - $from }") s"
