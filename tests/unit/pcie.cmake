warpline_test(pcie_test SOURCES pcie/pcie_core_test.cpp pcie/pcie_test.cpp pcie/pcie_links_test.cpp pcie/pcie_peer_test.cpp pcie/pcie_traffic_test.cpp
                         pcie/iommu_test.cpp pcie/inbound_core_test.cpp
              DEPENDS warpline::pcie)
warpline_test(root_complex_test SOURCES pcie/root_complex_test.cpp pcie/root_ordering_test.cpp pcie/root_egress_test.cpp pcie/write_combiner_test.cpp pcie/host_memory_test.cpp pcie/host_bridge_test.cpp pcie/loose_host_test.cpp DEPENDS warpline::pcie)
