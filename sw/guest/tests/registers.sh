# shellcheck shell=sh
# shows: registers of the queue device, read and written by address
# needs: peer
. /tests/common.sh
peer=$(function_of peer)
echo 1 >"$peer/enable"
identity=$(register "$peer" 0x00)
echo "IDENTITY $identity, VERSION $(register "$peer" 0x04), CAPABILITY $(register "$peer" 0x08), PRESENT $(register "$peer" 0x0c)"
check "IDENTITY is that of the queue device" test $((identity)) -eq $((0x574C5044))
check "PRESENT says that it is there" test $(($(register "$peer" 0x0c))) -eq $((0x5A5A1234))
for value in 0x00000000 0xFFFFFFFF 0x12345678 0xA5A5A5A5; do
  register "$peer" 0x28 $value
  register "$peer" 0x2c $((value ^ 0xFFFFFFFF))
  check "SCRATCH keeps $value" test $(($(register "$peer" 0x28))) -eq $((value))
  check "and its neighbour another" test $(($(register "$peer" 0x2c))) -eq $((value ^ 0xFFFFFFFF))
done
register "$peer" 0x00 0x1
check "a write to what is read only is told" test $(($(register "$peer" 0x18) & 1)) -eq 1
register "$peer" 0x18 0x1
check "and cleared" test $(($(register "$peer" 0x18) & 1)) -eq 0
