#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// What a program asks to be shown or checked when its last launch is over: words of a variable, or a
/// register of threads of the first CTA.
struct WARPLINE_PUBLIC Inspected {
  std::string name;  ///< of the variable, or "R5"
  bool is_register = false;
  unsigned reg = 0;         ///< of a register: its number
  std::uint64_t first = 0;  ///< word, or thread of CTA (0, 0, 0)
  std::uint64_t last = 0;   ///< inclusive
  bool whole = false;       ///< all words, or all threads of the CTA; `first` and `last` mean nothing
};

/// A value that all of them must have.
struct WARPLINE_PUBLIC InspectedValue {
  Inspected what;
  std::uint32_t value = 0;
  unsigned line = 0;  ///< of the program's text
};

/// All that one program asks for, and the registers that its threads left.
struct WARPLINE_PUBLIC Inspection {
  std::string file;
  std::vector<Inspected> shown;
  std::vector<InspectedValue> expected;
  std::vector<unsigned> registers;  ///< those that are asked for, each once
  unsigned threads = 0;             ///< of a CTA, in the last launch; 0: there was none
  std::vector<std::uint32_t> left;  ///< of thread t register registers[k]: at t * registers.size() + k

  /// Pre: `reg` is among `registers`, thread < threads.
  [[nodiscard]] std::uint32_t value(unsigned reg, std::uint64_t thread) const {
    std::size_t k = 0;
    while (registers[k] != reg) ++k;
    return left[static_cast<std::size_t>(thread) * registers.size() + k];
  }
};

}  // namespace warpline
