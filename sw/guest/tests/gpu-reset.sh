# shellcheck shell=sh
# shows: the GPU is reset in the middle of a kernel, by itself and by its bus, and runs kernels again
# needs: gpu gpu_program
# machine: gpu
. /tests/common.sh
gpu=$(function_of gpu)
# Registers, and where gpu_program has its second sum.
status=0x44 memory_first=0x18 sum=0x28004
word() { # BAR OFFSET
  printf '%d\n' "$(devmem "$(printf '0x%x' $(($(bar_at "$gpu" "$1") + $2)))" 32)"
}
state() { echo $(($(word 2 $status) & 7)); }
cat >/tmp/endless.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry endless()
{
again:
  bra again;
}
END
places=$(cat "$gpu/resource")
ways=$(cat "$gpu/reset_method")
echo "ways: $ways"
check "there are ways to reset it" test -n "$ways"
for way in $ways; do
  gpu_program "$gpu" /tests/vecadd.ptx || fail "before '$way' the program has failed"
  first=$((($(word 2 $memory_first) + 0xffff) / 0x10000 * 0x10000))
  check "what it added up is in video memory" test "$(word 0 $((first + sum)))" -ne 0
  gpu_program "$gpu" /tmp/endless.ptx endless || fail "no kernel was left running"
  check "a kernel runs" test "$(state)" -eq 1
  reset_by "$gpu" "$way"
  check "after '$way' it answers" test "$(word 2 0)" -eq $((0x574C4750))
  check "after '$way' no kernel runs" test "$(state)" -eq 0
  check "after '$way' video memory is as at power-on" test "$(word 0 $((first + sum)))" -eq 0
  check "its BARs are where they were" test "$(cat "$gpu/resource")" = "$places"
  check "and the function knows it" test $(($(config "$gpu" 0x10 4) & 0xfffffff0)) -eq $(($(bar_at "$gpu" 0) & 0xfffffff0))
done
gpu_program "$gpu" /tests/vecadd.ptx || fail "after resets the program has failed"
for way in $ways last; do printf '%s\n' "gpu[0].launches 5" "gpu[0].refused 1" "gpu[0].faulted 1"; done >>/tmp/saw
