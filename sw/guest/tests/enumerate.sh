# shellcheck shell=sh
# shows: functions are found: numbers, BARs, capabilities
# needs: peer
. /tests/common.sh
for folder in /sys/bus/pci/devices/*; do
  [ "$(cat "$folder/vendor")" = 0x1af0 ] || continue
  echo "$(address_of "$folder") vendor $(cat "$folder/vendor") device $(cat "$folder/device") class $(cat "$folder/class") revision $(cat "$folder/revision")"
  for bar in 0 1 2 3 4 5; do
    bytes=$(bar_bytes "$folder" $bar)
    if [ "$bytes" -ne 0 ]; then echo "  BAR $bar: $bytes bytes at $(bar_at "$folder" $bar)"; fi
  done
  check "the kernel and the function agree on what it is" test $(($(cat "$folder/vendor") + 65536 * $(cat "$folder/device"))) -eq "$(config "$folder" 0 4)"
  msix=$(capability "$folder" 0x11)
  check "it has MSI-X" test -n "$msix"
  echo "  MSI-X: $((($(config "$folder" $((msix + 2)) 2) & 0x7ff) + 1)) vectors"
  check "it is a PCI Express function" test -n "$(capability "$folder" 0x10)"
done
peer=$(function_of peer)
check "registers, the table of MSI-X and the buffer each have a BAR" test "$(bar_bytes "$peer" 0)" -gt 0 -a "$(bar_bytes "$peer" 2)" -gt 0 -a "$(bar_bytes "$peer" 4)" -gt 0
