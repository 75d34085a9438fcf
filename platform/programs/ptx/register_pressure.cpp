#include "platform/programs/ptx/register_pressure.h"

#include <algorithm>

#include "platform/programs/ptx/liveness.h"
#include "rtl_models/base/bits.h"

namespace warpline::ptx {

namespace {
constexpr unsigned kOwn = 6, kFewest = 16;  // assumed: addresses and constants of the assembler's
}

unsigned needed_within(unsigned registers) {
  const unsigned whole = registers / kRegisterUnit * kRegisterUnit;
  return whole - std::min(whole, kOwn);
}

unsigned registers_for(unsigned needed_at_once) {
  const auto wanted = static_cast<unsigned>(align_up(needed_at_once + kOwn, kRegisterUnit));
  return std::min(std::max(wanted, kFewest), kMostRegisters);
}

unsigned register_pressure(const Program& program) {
  if (program.ops.empty()) return registers_for(0);
  const Liveness liveness(program);
  if (!liveness.is_known()) return kMostRegisters;
  unsigned most = 0;
  for (std::size_t b = 0; b < liveness.blocks(); ++b) most = std::max(most, liveness.most_in(b));
  return registers_for(most);
}

}  // namespace warpline::ptx
