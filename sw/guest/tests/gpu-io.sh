# shellcheck shell=sh
# shows: a kernel on the GPU that reads and writes blocks of the NVMe drive by queues in video memory, beside the kernel's nvme driver
# needs: gpu nvme gpu_program
# machine: gpu
. /tests/common.sh
find_disk
gpu_io "$(function_of gpu)" "$folder" "/dev/$controller" "$disk" /tests/nvme_io.ptx || fail "the program has failed"
echo "gpu[0].launches 1" >>/tmp/saw
