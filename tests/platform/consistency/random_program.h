#pragma once

#include <string>

#include "platform/consistency/test.h"
#include "rtl_models/base/random.h"

namespace warpline::litmus::test {

/// The text of a random litmus test whose every read tells where it read from: each write stores a value of
/// its own, each read has a register of its own. Half of them are a critical cycle (MP, SB, LB, S, R, 2+2W,
/// WRC, ISA2, IRIW) with random operations at its corners and random fences between them, some threads split
/// between two siblings by a barrier; the others are 2 to 4 threads of up to 6 operations. All scopes, cache
/// operators, proxies, and cache control; on one GPU or two, in video, system or a peer's memory.
[[nodiscard]] std::string random_program(Random& random);

}  // namespace warpline::litmus::test
