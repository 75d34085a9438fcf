# shellcheck shell=sh
# shows: blocks of many sizes, past the page cache, compared; flush, write zeroes, discard
# needs: nvme
. /tests/common.sh
find_disk
block=$(cat "/sys/block/$(basename "$disk")/queue/logical_block_size")
blocks=$(($(cat "/sys/block/$(basename "$disk")/size") * 512 / block))
bytes=0
for count in 1 2 3 7 8 9 16 31 64 128 255 256 1024; do
  [ $((count * 3)) -lt $blocks ] || continue
  for at in 0 1 $((blocks - count)); do
    dd if=/dev/urandom of=/tmp/data bs="$block" count=$count 2>/dev/null
    dd if=/tmp/data of="$disk" bs=$((block * count)) count=1 oflag=direct,seek_bytes seek=$((at * block)) conv=notrunc 2>/dev/null || fail "$count blocks could not be written at $at"
    dd if="$disk" of=/tmp/back bs=$((block * count)) count=1 iflag=direct,skip_bytes skip=$((at * block)) 2>/dev/null || fail "$count blocks could not be read at $at"
    check "$count blocks at $at are what was written" cmp -s /tmp/data /tmp/back
    bytes=$((bytes + 2 * count * block))
  done
done
echo "$bytes bytes in pieces of 1 to 1024 blocks of $block bytes"
nvme flush "$disk" >/dev/null || fail "flush failed"
if [ "$(cat "/sys/block/$(basename "$disk")/queue/write_zeroes_max_bytes")" -gt 0 ]; then
  nvme write-zeroes "$disk" -s 0 -c 7 >/dev/null || fail "write zeroes failed"
  dd if="$disk" of=/tmp/back bs=$((block * 8)) count=1 iflag=direct 2>/dev/null
  dd if=/dev/zero of=/tmp/data bs=$((block * 8)) count=1 2>/dev/null
  check "what was zeroed is zero" cmp -s /tmp/data /tmp/back
  echo "write zeroes: 8 blocks"
fi
if [ "$(cat "/sys/block/$(basename "$disk")/queue/discard_max_bytes")" -gt 0 ]; then
  blkdiscard -o 0 -l $((block * 8)) "$disk" || fail "discard failed"
  echo "discard: 8 blocks"
fi
