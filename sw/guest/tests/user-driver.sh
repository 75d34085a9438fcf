# shellcheck shell=sh
# shows: a driver in user space, by the kernel's vfio-pci with the IOMMU on: registers, DMA, MSI-X
# needs: peer user_driver
# machine: iommu
. /tests/common.sh
load vfio vfio_iommu_type1 vfio-pci
peer=$(function_of peer)
address=$(address_of "$peer")
check "the IOMMU knows it" test -e "$peer/iommu_group"
echo vfio-pci >"$peer/driver_override"
echo "$address" >/sys/bus/pci/drivers_probe
check "vfio-pci has it" test "$(basename "$(readlink -f "$peer/driver")")" = vfio-pci
user_driver "$address" "$(basename "$(readlink -f "$peer/iommu_group")")"
echo "$address" >/sys/bus/pci/drivers/vfio-pci/unbind
