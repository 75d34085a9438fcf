#include "platform/launch/parameter_block.h"

#include <algorithm>
#include <cstring>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

const char* name_of(Argument::Kind kind) {
  switch (kind) {
    case Argument::Kind::buffer: return "a buffer's address";
    case Argument::Kind::scalar: return "a scalar";
    case Argument::Kind::image: return "the handle of a texture or surface";
    case Argument::Kind::device: return "the address of a device, or for one,";
    case Argument::Kind::structure: return "a structure";
    case Argument::Kind::tensor_map: return "a tensor map";
    case Argument::Kind::multicast: return "the address of several GPUs' buffers,";
    case Argument::Kind::bytes: break;
  }
  return "bytes";
}

/// Writes a part of an argument to `to`.
void pack(const PlacedFile& placed, const Argument& a, std::uint8_t* to) {
  if (a.kind == Argument::Kind::scalar || a.kind == Argument::Kind::bytes) {
    std::copy(a.bytes.begin(), a.bytes.end(), to);
    return;
  }
  if (a.kind == Argument::Kind::tensor_map) {
    const LaunchTensorMap& t = placed.file.tensor_maps[a.number];
    TensorMap map = t.map;
    map.address = placed.buffers[t.buffer];
    const auto bytes = map.encode();
    std::copy(bytes.begin(), bytes.end(), to);
    return;
  }
  const auto& words = a.kind == Argument::Kind::buffer      ? placed.buffers
                      : a.kind == Argument::Kind::image     ? placed.images
                      : a.kind == Argument::Kind::multicast ? placed.multicasts
                                                            : placed.addresses;
  std::memcpy(to, &words[a.number], sizeof words[a.number]);
}

}  // namespace

Diagnostics misfits(const LaunchFile& file, const Launch& launch, const programs::Entry& entry) {
  Diagnostics faults;
  if (launch.arguments.size() != entry.parameters.size())
    faults.push_back(file.document->fault(launch.kernel_place,
                                          "kernel \"" + entry.name + "\" takes " +
                                              counted(entry.parameters.size(), "argument") + "; " +
                                              std::to_string(launch.arguments.size()) +
                                              (launch.arguments.size() == 1 ? " is given" : " are given")));
  for (std::size_t n = 0; n < std::min(launch.arguments.size(), entry.parameters.size()); ++n) {
    const Argument& a = launch.arguments[n];
    const programs::Parameter& p = entry.parameters[n];
    const std::size_t bytes = a.size();
    if (bytes != p.bytes)
      faults.push_back(file.document->fault(a.place, "argument " + std::to_string(n + 1) + " is " +
                                                         name_of(a.kind) + " of " + counted(bytes, "byte") +
                                                         "; parameter \"" + p.name + "\" has " +
                                                         std::to_string(p.bytes)));
  }
  return faults;
}

std::vector<std::uint8_t> pack_parameters(const PlacedFile& placed, const Launch& launch,
                                          const programs::Entry& entry) {
  std::vector<std::uint8_t> block(entry.parameter_bytes);
  for (std::size_t n = 0; n < launch.arguments.size(); ++n) {
    std::uint8_t* const to = &block[entry.parameters[n].offset];
    launch.arguments[n].for_each_part(
        [&](const Argument& a, std::uint32_t start) { pack(placed, a, to + start); });
  }
  return block;
}

}  // namespace warpline
