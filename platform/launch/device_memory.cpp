#include "platform/launch/device_memory.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>

#include "platform/programs/ptx/device_library/launch_slot.h"
#include "platform/programs/ptx/device_library/print_format.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

constexpr const char* kRingVariable = "__warpline_printf";
constexpr const char* kHeapVariable = "__warpline_heap";
constexpr const char* kLaunchesVariable = "__warpline_launches";
constexpr const char* kRingName = "the ring of printf";
constexpr const char* kHeapName = "the heap of malloc";
constexpr const char* kLaunchesName = "the launches from the device";

/// As the device library declares them.
struct Ring {
  std::uint64_t base = 0, bytes = 0, head = 0, tail = 0;
};
struct HeapStart {
  std::uint64_t base = 0, bytes = 0;
};
struct Launches {
  std::uint64_t base = 0, slots = 0, taken = 0;
  std::uint32_t error = 0, depth = 0;
};

/// Widths and precisions that are printed; a program's own may be any number.
constexpr int kMostPrinted = 65535;

std::string printed(const std::string& conversion, const std::function<int(char*, std::size_t)>& print) {
  const int length = print(nullptr, 0);
  if (length < 0) return conversion;
  std::string out(static_cast<std::size_t>(length) + 1, '\0');
  print(out.data(), out.size());
  out.pop_back();
  return out;
}

template <class T>
std::string printed_value(const std::string& conversion, T value) {
  return printed(conversion, [&](char* to, std::size_t bytes) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    return std::snprintf(to, bytes, conversion.c_str(), value);
#pragma GCC diagnostic pop
  });
}

/// Numbers beyond what is printed are cut to that.
std::string bounded(std::string_view digits) {
  const auto n = digits.empty() ? std::optional<int>(0) : number_from<int>(std::string(digits));
  return std::to_string(n ? std::min(*n, kMostPrinted) : kMostPrinted);
}

/// The words of a record, in order; it has ended where there are none left.
class Words {
 public:
  Words(const std::vector<std::uint8_t>& bytes, std::size_t at) : bytes_(bytes), at_(at) {}
  std::uint64_t number() {
    std::uint64_t n = 0;
    if (at_ + sizeof n <= bytes_.size()) std::memcpy(&n, &bytes_[at_], sizeof n);
    at_ += sizeof n;
    return n;
  }
  std::string text(std::uint64_t length) {
    if (at_ > bytes_.size() || length > bytes_.size() - at_) return {};
    const std::string out(reinterpret_cast<const char*>(&bytes_[at_]), length);
    at_ += (length + 7) / 8 * 8;
    return out;
  }

 private:
  const std::vector<std::uint8_t>& bytes_;
  std::size_t at_;
};

/// The conversion with the record's numbers in the place of its `*`, and the value as printf wants it.
std::string convert(std::string_view text, const device::PrintConversion& c, Words& words) {
  std::string spec = "%";
  std::size_t at = 1;
  while (std::string_view("-+ #0").find(text[at]) != std::string_view::npos) spec += text[at++];
  for (unsigned part = 0; part < 2; ++part) {
    if (part == 1) {
      if (text[at] != '.') break;
      ++at;
    }
    std::string digits;
    bool given = part == 1;
    if (text[at] == '*') {
      const auto n = static_cast<std::int32_t>(static_cast<std::uint32_t>(words.number()));
      ++at;
      if (part == 1 && n < 0) continue;  // as if there were none
      if (n < 0) spec += '-';
      digits =
          bounded(std::to_string(n < 0 ? 0U - static_cast<std::uint32_t>(n) : static_cast<std::uint32_t>(n)));
      given = true;
    } else {
      const std::size_t start = at;
      while (is_digit(text[at])) ++at;
      given = given || at != start;
      digits = bounded(text.substr(start, at - start));
    }
    if (given) spec += (part == 1 ? "." : "") + digits;
  }
  const std::string modifier(text.substr(c.modifier, c.modifier_length));
  switch (c.type) {
    case 's': {
      const std::uint64_t length = words.number();
      const std::string value = ~length == 0 ? "(null)" : words.text(length);
      return printed_value(spec + "s", value.c_str());
    }
    case 'p': return printed_value(spec + "p", reinterpret_cast<const void*>(words.number()));
    case 'c': return printed_value(spec + "c", static_cast<int>(words.number() & 0xFFU));
    case 'd':
    case 'i': {
      const std::uint64_t bits = words.number();
      if (c.bytes == 8) return printed_value(spec + "ll" + c.type, static_cast<long long>(bits));
      return printed_value(spec + modifier + c.type,
                           static_cast<int>(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits))));
    }
    case 'o':
    case 'u':
    case 'x':
    case 'X': {
      const std::uint64_t bits = words.number();
      if (c.bytes == 8) return printed_value(spec + "ll" + c.type, static_cast<unsigned long long>(bits));
      return printed_value(spec + modifier + c.type, static_cast<unsigned>(bits));
    }
    default: {
      const std::uint64_t bits = words.number();
      double value = 0;
      std::memcpy(&value, &bits, sizeof value);
      return printed_value(spec + c.type, value);
    }
  }
}

std::string formatted(const std::string& format, Words words) {
  std::string out;
  unsigned taken = 0;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      out += format[at++];
      continue;
    }
    const device::PrintConversion c = device::print_conversion(format.c_str() + at);
    const std::size_t length = std::max<std::size_t>(c.length, 1);
    const std::string_view text = std::string_view(format).substr(at, length);
    at += length;
    if (c.length != 0 && c.bytes == 0) {
      out += '%';
    } else if (c.length == 0 || taken + c.stars + 1 > device::kMostPrintArguments) {
      out += text;
    } else {
      taken += c.stars + 1;
      out += convert(text, c, words);
    }
  }
  return out;
}

/// Text in global memory up to its NUL, or as far as memory goes.
std::string text_at(const GpuPlatform& platform, std::uint64_t address, unsigned gpu) {
  constexpr std::size_t kMost = 1U << 20U;
  std::string out;
  for (char c = 0; out.size() < kMost && platform.physical_of(address, gpu); ++address) {
    platform.read(address, &c, 1);
    if (c == 0) break;
    out += c;
  }
  return out;
}

/// The bytes of a ring, read around its end.
std::vector<std::uint8_t> bytes_at(const GpuPlatform& platform, const Ring& ring, std::uint64_t position,
                                   std::uint64_t bytes) {
  std::vector<std::uint8_t> out(bytes);
  const std::uint64_t at = position % ring.bytes;
  const std::uint64_t first = std::min(bytes, ring.bytes - at);
  platform.read(ring.base + at, out.data(), first);
  if (first < bytes) platform.read(ring.base, out.data() + first, bytes - first);
  return out;
}

/// What lies in a ring between two positions. Whatever is no whole record is passed over: it was overwritten
/// in part, or its warp was ended before it had written it.
void read_records(const GpuPlatform& platform, const Ring& ring, unsigned gpu, std::uint64_t from,
                  std::vector<PrintedText>& out, std::uint64_t& lost) {
  std::map<std::uint64_t, std::string> formats;  // by address
  const std::vector<std::uint8_t> all = bytes_at(platform, ring, from, ring.head - from);
  for (std::uint64_t at = 0; at < all.size();) {
    Words header(all, at);
    const bool begins = header.number() == ((from + at) ^ device::kPrintStamp);
    const std::uint64_t address = header.number(), sizes = header.number(), kind = header.number();
    const std::uint64_t bytes = (sizes & 0xFFFFFFFFU) * 8;
    if (!begins || bytes < device::kPrintHeaderWords * 8 || bytes > all.size() - at) {
      at += 8;
      lost += 8;
      continue;
    }
    const std::vector<std::uint8_t> record(all.begin() + static_cast<std::ptrdiff_t>(at),
                                           all.begin() + static_cast<std::ptrdiff_t>(at + bytes));
    Words words(record, device::kPrintHeaderWords * 8);
    std::string format;
    if (address == 0) {
      format = words.text(sizes >> 32U);
    } else {
      const auto [known, fresh] = formats.emplace(address, std::string());
      if (fresh) known->second = text_at(platform, address, gpu);
      format = known->second;
    }
    const bool assertion = kind == device::kPrintAssertion;
    if (out.empty() || out.back().assertion != assertion) out.push_back({{}, assertion});
    out.back().text += formatted(format, words);
    at += bytes;
  }
}

/// Memory for one of the library's variables, whose address is noted for the GPU, unless a module before has
/// it; 0: there is no room.
std::uint64_t reserve(GpuPlatform& platform, std::map<unsigned, std::uint64_t>& variables,
                      std::uint64_t variable, unsigned gpu, std::uint64_t bytes, const char* name) {
  variables[gpu] = variable;
  const std::uint64_t base = platform.allocate("", bytes, Aperture::vidmem, gpu);
  if (base != 0) platform.name_memory(base, name);
  return base;
}

/// Slots for launches: as many as are asked for, and more where that is a small part of the GPU's memory.
std::uint64_t slots_for(const DeviceMemorySizes& sizes, const GpuPlatform& platform) {
  constexpr std::uint64_t kShare = 64;
  const std::uint64_t small = platform.config().vidmem_bytes / kShare / sizeof(device::LaunchSlot);
  return std::max(sizes.launches, std::clamp<std::uint64_t>(small, device::kFewestSlots, device::kMostSlots));
}

}  // namespace

bool is_shared_by_modules(const std::string& variable) {
  return variable == kRingVariable || variable == kHeapVariable || variable == kLaunchesVariable;
}

std::optional<DeviceMemory::Misfit> DeviceMemory::set_up(
    unsigned gpu, const std::map<std::string, std::uint64_t>& variables, const DeviceMemorySizes& sizes,
    GpuPlatform& platform) {
  const auto misfit = [](const char* what, const char* key, std::uint64_t bytes) {
    return Misfit{std::string(what) + " of " + counted(bytes, "byte"), key};
  };
  const auto missing = [&](const char* name, const std::map<unsigned, std::uint64_t>& there) {
    const auto found = variables.find(name);
    return found != variables.end() && there.count(gpu) == 0 ? std::optional(found->second) : std::nullopt;
  };
  const auto write = [&platform](std::uint64_t address, const auto& value) {
    if (platform.has_data()) platform.write(address, &value, sizeof value);
  };
  if (const auto variable = missing(kRingVariable, rings_)) {
    Ring ring;
    ring.bytes = sizes.printf_bytes;
    ring.base = reserve(platform, rings_, *variable, gpu, ring.bytes, kRingName);
    if (ring.base == 0) return misfit(kRingName, "printf_bytes", ring.bytes);
    write(*variable, ring);
  }
  if (const auto variable = missing(kHeapVariable, heaps_)) {
    HeapStart heap;
    heap.bytes = sizes.heap_bytes;
    heap.base = reserve(platform, heaps_, *variable, gpu, heap.bytes, kHeapName);
    if (heap.base == 0) return misfit(kHeapName, "heap_bytes", heap.bytes);
    write(*variable, heap);
  }
  if (const auto variable = missing(kLaunchesVariable, launches_)) {
    Launches queue;
    queue.slots = slots_for(sizes, platform);
    const std::uint64_t bytes = queue.slots * sizeof(device::LaunchSlot);
    queue.base = reserve(platform, launches_, *variable, gpu, bytes, kLaunchesName);
    if (queue.base == 0) return misfit("room for launches from the device", "heap_bytes", bytes);
    write(*variable, queue);
  }
  return std::nullopt;
}

const char* DeviceMemory::variable_of(Part part) {
  return part == Part::ring ? kRingVariable : kHeapVariable;
}

bool DeviceMemory::resize(const DeviceMemorySizes& sizes, GpuPlatform& platform) {
  // All of one kind, or none: what was made anew goes back where another one does not fit.
  struct Made {
    std::uint64_t variable, base;
  };
  const auto renew = [&platform](const std::map<unsigned, std::uint64_t>& places, const char* name,
                                 auto start, auto count, std::uint64_t wanted, std::uint64_t unit) {
    std::vector<Made> made;
    for (const auto& [gpu, variable] : places) {
      platform.read(variable, &start, sizeof start);
      if (start.*count == wanted) continue;
      const std::uint64_t base = platform.allocate("", wanted * unit, Aperture::vidmem, gpu);
      if (base == 0) {
        for (const Made& m : made) platform.free(m.base);
        return false;
      }
      platform.name_memory(base, name);
      made.push_back({variable, base});
    }
    for (const Made& m : made) {
      platform.read(m.variable, &start, sizeof start);
      platform.free(start.base);
      start.base = m.base;
      start.*count = wanted;
      platform.write(m.variable, &start, sizeof start);
    }
    return true;
  };
  return renew(rings_, kRingName, Ring(), &Ring::bytes, sizes.printf_bytes, 1) &&
         renew(heaps_, kHeapName, HeapStart(), &HeapStart::bytes, sizes.heap_bytes, 1) &&
         renew(launches_, kLaunchesName, Launches(), &Launches::slots, slots_for(sizes, platform),
               sizeof(device::LaunchSlot));
}

std::optional<std::uint64_t> DeviceMemory::variable(const std::string& name, unsigned gpu) const {
  const std::map<unsigned, std::uint64_t>* const there = name == kRingVariable       ? &rings_
                                                         : name == kHeapVariable     ? &heaps_
                                                         : name == kLaunchesVariable ? &launches_
                                                                                     : nullptr;
  if (there == nullptr || there->count(gpu) == 0) return std::nullopt;
  return there->at(gpu);
}

std::vector<PrintedText> DeviceMemory::take_printed(GpuPlatform& platform, std::uint64_t& lost) {
  std::vector<PrintedText> out;
  if (!platform.has_data()) return out;
  for (const auto& [gpu, variable] : rings_) {
    Ring ring;
    platform.read(variable, &ring, sizeof ring);
    if (ring.head == ring.tail || ring.bytes == 0) continue;
    std::uint64_t from = ring.tail;
    if (ring.head - from > ring.bytes) {
      lost += ring.head - ring.bytes - from;
      from = ring.head - ring.bytes;
    }
    read_records(platform, ring, gpu, from, out, lost);
    platform.write(variable + offsetof(Ring, tail), &ring.head, sizeof ring.head);
  }
  return out;
}

std::vector<DeviceLaunch> DeviceMemory::take_launched(GpuPlatform& platform, unsigned gpu) {
  std::vector<DeviceLaunch> out;
  const auto variable = launches_.find(gpu);
  if (variable == launches_.end() || !platform.has_data()) return out;
  Launches queue;
  platform.read(variable->second, &queue, sizeof queue);
  const std::uint64_t taken = std::min(queue.taken, queue.slots);
  for (std::uint64_t n = 0; n < taken; ++n) {
    const std::uint64_t at = queue.base + n * sizeof(device::LaunchSlot);
    device::LaunchSlot slot;
    platform.read(at, &slot, sizeof slot);
    const std::uint64_t none = 0;
    platform.write(at, &none, sizeof none);
    if (slot.state != device::kLaunched) continue;  // its warp was ended before it had launched it
    out.push_back({slot.kernel,
                   {slot.grid[0], slot.grid[1], slot.grid[2]},
                   {slot.block[0], slot.block[1], slot.block[2]},
                   slot.shared_bytes,
                   slot.stream == device::kTailStream,
                   {std::begin(slot.parameters), std::end(slot.parameters)}});
  }
  if (queue.taken != 0) {
    const std::uint64_t none = 0;
    platform.write(variable->second + offsetof(Launches, taken), &none, sizeof none);
  }
  return out;
}

void DeviceMemory::set_depth(GpuPlatform& platform, unsigned gpu, std::uint32_t depth) {
  const auto variable = launches_.find(gpu);
  if (variable == launches_.end() || !platform.has_data()) return;
  platform.write(variable->second + offsetof(Launches, depth), &depth, sizeof depth);
}

}  // namespace warpline
