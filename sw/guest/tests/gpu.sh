# shellcheck shell=sh
# shows: a program that runs kernels on the GPU by its BARs alone: video memory, a window onto its own memory, refusals and faults
# needs: gpu gpu_program
# machine: gpu
. /tests/common.sh
gpu=$(function_of gpu)
check "video memory and registers each have a BAR" test "$(bar_bytes "$gpu" 0)" -gt 0 -a "$(bar_bytes "$gpu" 2)" -gt 0
gpu_program "$gpu" /tests/vecadd.ptx || fail "the program has failed"
printf '%s\n' "gpu[0].launches 5" "gpu[0].refused 1" "gpu[0].faulted 1" >>/tmp/saw
