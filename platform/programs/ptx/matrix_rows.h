#pragma once

#include "platform/programs/ptx/decoder.h"

namespace warpline::ptx {

/// Whether all lanes of the warp execute `f`'s operation; else the warp ends, and says so.
bool is_whole_warp(Frame& f);
/// Takes `.sync` and `.aligned`, which the opcode needs.
void need_aligned(Decoder& d);
/// The elements of `o`, which is a vector of `count`.
const std::vector<Operand>& need_vector(Decoder& d, const Operand& o, std::size_t count);

}  // namespace warpline::ptx
