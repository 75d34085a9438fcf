# shellcheck shell=sh
# shows: a function that is taken out of the kernel's books, and found again
# needs: peer
. /tests/common.sh
peer=$(function_of peer)
echo 1 >"$peer/enable"
register "$peer" 0x28 0xCAFE0001
for _ in 1 2 3; do
  echo 1 >"$peer/remove"
  check "it is gone" test ! -e "$peer"
  echo 1 >/sys/bus/pci/rescan
  check "it is back" test -e "$peer"
  echo 1 >"$peer/enable"
  check "it answers" test $(($(register "$peer" 0x00))) -eq $((0x574C5044))
done
echo "3 times, now with its registers at $(bar_at "$peer" 0)"
check "SCRATCH was left alone" test $(($(register "$peer" 0x28))) -eq $((0xCAFE0001))
