# shellcheck shell=sh
# shows: the same with the IOMMU on, which maps page by page
# needs: peer module
# machine: driver-iommu
. /tests/driver.sh
check "the IOMMU has it" test -e "$peer/iommu_group"
