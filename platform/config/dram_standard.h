#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rtl_models/base/problem.h"
#include "rtl_models/dram/dram_parameters.h"

namespace warpline {

/// The memories that `dram.standard` may name: "GDDR6", "GDDR6X", "HBM2", "HBM2E", "HBM3".
[[nodiscard]] std::vector<std::string> dram_standard_names();

/// What such a standard says of one of its channels or pseudo channels: the TOML text with its sources, or an
/// empty string.
[[nodiscard]] std::string dram_standard_text(const std::string& name);

/// Names of the keys of [dram] that a standard gives.
[[nodiscard]] std::vector<std::string> dram_standard_keys();

/// Sets the fields of `parameters` that its `standard` gives, at a DRAM clock of `megahertz` (CK), unless it
/// is "custom". A channel of more than the standard's bits is as many (pseudo) channels side by side, which
/// work in step: rows are so many times as wide, and a sector and the distances of column commands take so
/// many times less. Times are rounded up to cycles, tREFI down.
///
/// Fields: tRCD activate, tRP precharge, RL column, WL write_column, tBURST sector_cycles, tCCDS and tCCDL
/// column_interval and column_interval_group, tRAS row_active, tRRDS and tRRDL activate_interval and
/// activate_interval_group, tFAW four_activates, tRTP read_to_precharge, tWR write_recovery, tWTRS + RL and
/// tWTRL + RL write_to_read and write_to_read_group, tRTW read_to_write, tREFI refresh_interval, tRFC
/// refresh_cycles, tRFCpb refresh_bank_cycles; bus_bits only if it is 0. Returns what is wrong, with paths in
/// `path`: an unknown name, or bus_bits that are no multiple of the standard's.
[[nodiscard]] Problems set_by_dram_standard(DramParameters& parameters, unsigned megahertz,
                                            const std::string& path);

}  // namespace warpline
