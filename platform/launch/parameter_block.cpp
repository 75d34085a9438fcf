#include "platform/launch/parameter_block.h"

#include <cstring>

namespace warpline {
namespace {

constexpr std::uint32_t kPointerBytes = 8;

const char* name_of(Argument::Kind kind) {
  switch (kind) {
    case Argument::Kind::buffer: return "a buffer's address";
    case Argument::Kind::scalar: return "a scalar";
    case Argument::Kind::image: return "the handle of a texture or surface";
    case Argument::Kind::device: return "the address of a device, or for one,";
    case Argument::Kind::bytes: break;
  }
  return "bytes";
}

}  // namespace

Result<std::vector<std::uint8_t>> pack_parameters(const LaunchFile& file, const Launch& launch,
                                                  const programs::Entry& entry,
                                                  const std::vector<std::uint64_t>& addresses,
                                                  const std::vector<std::uint64_t>& handles,
                                                  const std::vector<std::uint64_t>& places) {
  Diagnostics faults;
  if (launch.arguments.size() != entry.parameters.size())
    faults.push_back(file.document->fault(launch.kernel_place,
                                          "kernel \"" + entry.name + "\" takes " +
                                              std::to_string(entry.parameters.size()) + " arguments; " +
                                              std::to_string(launch.arguments.size()) + " are given"));
  std::vector<std::uint8_t> block(entry.parameter_bytes);
  for (std::size_t n = 0; n < launch.arguments.size() && n < entry.parameters.size(); ++n) {
    const Argument& a = launch.arguments[n];
    const programs::Parameter& p = entry.parameters[n];
    const bool is_word = a.kind == Argument::Kind::buffer || a.kind == Argument::Kind::image ||
                         a.kind == Argument::Kind::device;
    const std::size_t bytes = is_word ? kPointerBytes : a.bytes.size();
    if (bytes != p.bytes) {
      faults.push_back(file.document->fault(a.place, "argument " + std::to_string(n + 1) + " is " +
                                                         name_of(a.kind) + " of " + std::to_string(bytes) +
                                                         " bytes; parameter \"" + p.name + "\" has " +
                                                         std::to_string(p.bytes)));
      continue;
    }
    if (a.kind == Argument::Kind::buffer) {
      std::memcpy(&block[p.offset], &addresses[a.buffer], kPointerBytes);
    } else if (a.kind == Argument::Kind::image) {
      std::memcpy(&block[p.offset], &handles[a.image], kPointerBytes);
    } else if (a.kind == Argument::Kind::device) {
      std::memcpy(&block[p.offset], &places[a.address], kPointerBytes);
    } else {
      std::memcpy(&block[p.offset], a.bytes.data(), bytes);
    }
  }
  if (!faults.empty()) return faults;
  return block;
}

}  // namespace warpline
