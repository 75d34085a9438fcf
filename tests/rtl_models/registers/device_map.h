#pragma once

#include "rtl_models/registers/register_map.h"

namespace warpline::test {

/// A block with every kind of field, a register of 8 bytes, an array, interleaved arrays and holes.
inline constexpr FieldDescription kControlFields[] = {
    {"ENABLE", {0, 1}, FieldAccess::read_write, 0, "Runs."},
    {"START", {1, 1}, FieldAccess::write_only, 0, "Starts."},
    {"READY", {2, 1}, FieldAccess::read_only, 1, "Is ready."},
    {"MODE", {8, 4}, FieldAccess::read_write, 5, "How."},
    {"FAULTS", {16, 8}, FieldAccess::write_one_to_clear, 0, "What failed."},
    {"EVENTS", {24, 8}, FieldAccess::read_to_clear, 0, "What happened."},
};
inline constexpr FieldDescription kIdentityFields[] = {
    {"VALUE", {0, 32}, FieldAccess::read_only, 0xCAFE, "What it is."}};
inline constexpr FieldDescription kBaseFields[] = {
    {"VALUE", {0, 64}, FieldAccess::read_write, 0x123456789ABCDEF0, "Where."}};
inline constexpr FieldDescription kFifoFields[] = {
    {"VALUE", {0, 32}, FieldAccess::read_to_pop, 0, "The oldest."}};
inline constexpr FieldDescription kScratchFields[] = {
    {"VALUE", {0, 32}, FieldAccess::read_write, 7, "For software."}};
inline constexpr FieldDescription kDoorbellFields[] = {
    {"VALUE", {0, 32}, FieldAccess::write_only, 0, "An index."}};
inline constexpr FieldDescription kCountFields[] = {
    {"LOW", {0, 32}, FieldAccess::read_to_clear, 0, "So many."},
    {"HIGH", {32, 8}, FieldAccess::read_only, 0, "And as many."}};

enum Device : unsigned { kIdentity, kControl, kBase, kFifo, kScratch, kDoorbell, kCount };
inline constexpr RegisterDescription kDeviceRegisters[] = {
    {"IDENTITY", 0x00, 4, 1, 4, false, "", kIdentityFields, 1},
    {"CONTROL", 0x04, 4, 1, 4, false, "", kControlFields, 6},
    {"BASE", 0x40, 8, 3, 0x10, false, "", kBaseFields, 1},
    {"FIFO", 0x10, 4, 1, 4, false, "", kFifoFields, 1},
    {"SCRATCH", 0x18, 4, 2, 4, true, "", kScratchFields, 1},
    {"DOORBELL", 0x48, 4, 3, 0x10, false, "", kDoorbellFields, 1},
    {"COUNT", 0x20, 8, 1, 8, false, "", kCountFields, 2},
};
inline constexpr RegisterMap kDevice{"device", 0x100, kDeviceRegisters, 7};

}  // namespace warpline::test
