# shellcheck shell=sh
# shows: resets of the function: by itself, and by its bus (a hot reset)
# needs: peer
. /tests/common.sh
peer=$(function_of peer)
echo 1 >"$peer/enable"
places=$(cat "$peer/resource")
ways=$(cat "$peer/reset_method")
echo "ways: $ways"
for way in $ways; do
  register "$peer" 0x10 0x1
  check "it is enabled" test $(($(register "$peer" 0x14) & 1)) -eq 1
  reset_by "$peer" "$way"
  check "after '$way' it answers" test $(($(register "$peer" 0x00))) -eq $((0x574C5044))
  check "after '$way' it is disabled" test $(($(register "$peer" 0x14) & 1)) -eq 0
  check "its BARs are where they were" test "$(bar_at "$peer" 0)" = "$(echo "$places" | head -n 1 | cut -d ' ' -f 1)"
  check "and the function knows it" test $(($(config "$peer" 0x10 4) & 0xfffffff0)) -eq $(($(bar_at "$peer" 0) & 0xfffffff0))
done
