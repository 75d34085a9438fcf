#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/programs/ptx/module.h"

namespace warpline::test {

/// A module whose entry `k` has this body: of `parameters` 64-bit parameters %a0, %a1 and so on (8 at most),
/// with registers %r0 to %r9, %d0 to %d3, %h0 to %h3 (16 bits) and %p.
inline std::unique_ptr<programs::Module> module_of_body(const std::string& body, std::size_t parameters) {
  std::string ptx = ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k(";
  std::string loads;
  for (std::size_t i = 0; i < parameters; ++i) {
    const std::string n = std::to_string(i);
    ptx += (i == 0 ? ".param .u64 q" : ", .param .u64 q") + n;
    loads += "ld.param.u64 %a" + n + ", [q" + n + "];\n";
  }
  ptx += ") {\n.reg .u64 %a<8>, %d<4>;\n.reg .u32 %r<10>;\n.reg .u16 %h<4>;\n.reg .pred %p;\n" + loads +
         body + "\nret;\n}\n";
  auto module = ptx::parse(ptx, "k.ptx");
  if (!module.ok()) throw std::runtime_error(module.faults().front().text());
  return std::move(module.value());
}

/// Parameters of 64 bits, side by side.
inline std::vector<std::uint8_t> block_of(const std::vector<std::uint64_t>& parameters) {
  std::vector<std::uint8_t> block(parameters.size() * 8);
  if (!block.empty()) std::memcpy(block.data(), parameters.data(), block.size());
  return block;
}

}  // namespace warpline::test
