#include "platform/launch/device_place.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "platform/config/pcie_system_parameters.h"
#include "rtl_models/base/text.h"
#include "rtl_models/nvme/nvme_core.h"
#include "rtl_models/nvme/registers/nvme.h"
#include "rtl_models/queue_device/queue_device_core.h"
#include "rtl_models/queue_device/registers/peer.h"

namespace warpline {
namespace {

constexpr const char* kForms =
    "a register is \"peer[0].SCRATCH[1]\", bytes of a BAR are \"peer[0].bar[4]+256\"";

/// What a file can say of a device of one kind.
struct DeviceKind {
  const char* name;  ///< as in "peer[0]"
  const char* what;  ///< "a peer"
  const char* several;
  unsigned most;  ///< of them
  const RegisterMap& map;
  unsigned register_bar;
  std::array<unsigned, 3> bars;
  const char* bars_are;
  unsigned vectors;  ///< at most
};

const DeviceKind& kind_of(DeviceName::Kind kind) {
  static const std::array<DeviceKind, 2> kKinds{{
      {"peer",
       "a peer",
       "peers",
       kMaxPeers,
       regs::peer::kMap,
       QueueDeviceCore::kRegisterBar,
       {QueueDeviceCore::kRegisterBar, QueueDeviceCore::kMsixBar, QueueDeviceCore::kBufferBar},
       "it has bar[0], its registers, bar[2], its MSI-X table, and bar[4], its buffer",
       regs::peer::kQueues},
      {"nvme",
       "an NVMe controller",
       "NVMe controllers",
       kMaxNvme,
       regs::nvme::kMap,
       NvmeCore::kRegisterBar,
       {NvmeCore::kRegisterBar, NvmeCore::kMsixBar, NvmeCore::kBufferBar},
       "it has bar[0], its registers, bar[2], its MSI-X table, and bar[4], its memory buffer",
       regs::nvme::kQueues},
  }};
  return kKinds[static_cast<std::size_t>(kind)];
}

/// Reads a string from its start on; says what is wrong where it stands.
class PlaceParser {
 public:
  PlaceParser(const Document& document, const Member& member, Diagnostics& faults)
      : document_(document), member_(member), text_(member.value.text), faults_(faults) {}

  std::optional<DevicePlace> place() {
    DevicePlace out;
    out.text = text_;
    out.place = member_.value.place;
    const auto named = device();
    if (!named) return std::nullopt;
    out.device = *named;
    if (!take('.')) return malformed();
    const std::size_t start = at_;
    const std::string name = upper(word());
    const bool indexed = at_ < text_.size() && text_[at_] == '[';
    std::optional<std::uint64_t> index;
    if (indexed && !(index = bracketed())) return malformed();
    return name == "BAR" ? bar(out, index, start) : one_register(out, name, index, start);
  }

  std::optional<DeviceName> whole_device() {
    const auto name = device();
    if (name && at_ != text_.size()) {
      fault(at_, text_.size() - at_, "a device is \"peer[0]\" or \"nvme[0]\", and nothing more");
      return std::nullopt;
    }
    return name;
  }

  std::optional<std::pair<DeviceName, unsigned>> vector() {
    if (text_.find("].vector[") == std::string::npos) return no_vector();
    const auto name = device();
    if (!name) return std::nullopt;
    if (!take('.') || word() != "vector") return no_vector();
    const auto number = bracketed();
    if (!number || at_ != text_.size()) return no_vector();
    const DeviceKind& kind = kind_of(name->kind);
    if (*number < kind.vectors) return std::pair{*name, static_cast<unsigned>(*number)};
    fault(0, text_.size(),
          std::string(kind.what) + " has the vectors 0 to " + std::to_string(kind.vectors - 1));
    return std::nullopt;
  }

 private:
  std::nullopt_t no_vector() {
    fault(0, text_.size(), "\"" + text_ + "\" is no vector of a device", "a vector is \"peer[0].vector[3]\"");
    return std::nullopt;
  }
  void fault(std::size_t offset, std::size_t length, const std::string& message, std::string hint = {}) {
    faults_.push_back(document_.fault(document_.inside(member_.value.place, text_, offset, length),
                                      member_.key + ": " + message, std::move(hint)));
  }
  std::nullopt_t malformed() {
    fault(0, text_.size(), "\"" + text_ + "\" names no place in a device", kForms);
    return std::nullopt;
  }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string word() {
    const std::size_t start = at_;
    const auto in_word = [](char c) {
      return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || is_digit(c) || c == '_';
    };
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  /// Decimal, or hexadecimal after 0x.
  std::optional<std::uint64_t> number() {
    const bool hexadecimal = text_.compare(at_, 2, "0x") == 0;
    const char* const begin = text_.data() + at_ + (hexadecimal ? 2 : 0);
    std::uint64_t value = 0;
    const auto [stop, error] =
        std::from_chars(begin, text_.data() + text_.size(), value, hexadecimal ? 16 : 10);
    if (error != std::errc{} || stop == begin) return std::nullopt;
    at_ = static_cast<std::size_t>(stop - text_.data());
    return value;
  }
  std::optional<std::uint64_t> bracketed() {
    if (!take('[')) return std::nullopt;
    const auto value = number();
    if (!value || !take(']')) return std::nullopt;
    return value;
  }
  std::optional<DeviceName> device() {
    const std::string name = word();
    const auto index = bracketed();
    for (const auto kind : {DeviceName::Kind::peer, DeviceName::Kind::nvme}) {
      const DeviceKind& its = kind_of(kind);
      if (name != its.name || !index) continue;
      if (*index < its.most) return DeviceName{kind, static_cast<unsigned>(*index)};
      fault(0, at_, "there are at most " + std::to_string(its.most) + " " + its.several);
      return std::nullopt;
    }
    fault(0, std::max<std::size_t>(at_, 1), "\"" + text_ + "\" begins with no device",
          "devices are \"peer[0]\", \"peer[1]\" and so on, and \"nvme[0]\"");
    return std::nullopt;
  }

  std::optional<DevicePlace> bar(DevicePlace out, std::optional<std::uint64_t> index, std::size_t start) {
    if (!index) return malformed();
    const std::size_t length = at_ - start;
    if (take('+')) {
      const auto offset = number();
      if (!offset) return malformed();
      out.offset = *offset;
    }
    if (at_ != text_.size()) return malformed();
    const DeviceKind& kind = kind_of(out.device.kind);
    if (std::find(kind.bars.begin(), kind.bars.end(), *index) == kind.bars.end()) {
      fault(start, length, std::string(kind.what) + " has no BAR " + std::to_string(*index), kind.bars_are);
      return std::nullopt;
    }
    out.bar = static_cast<unsigned>(*index);
    return out;
  }

  std::optional<DevicePlace> one_register(DevicePlace out, const std::string& name,
                                          std::optional<std::uint64_t> index, std::size_t start) {
    const std::size_t length = at_ - start;
    if (name.empty() || at_ != text_.size()) return malformed();
    const DeviceKind& kind = kind_of(out.device.kind);
    const RegisterMap& map = kind.map;
    std::vector<std::string> names;
    for (unsigned r = 0; r < map.register_count; ++r) names.emplace_back(map.registers[r].name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      fault(start, length, std::string(kind.what) + " has no register " + name, did_you_mean(name, names));
      return std::nullopt;
    }
    const RegisterDescription& r = map.registers[found - names.begin()];
    const std::string last = name + "[" + std::to_string(r.count - 1) + "]";
    if (r.count == 1 && index) {
      fault(start, length, name + " is one register: leave out its index");
      return std::nullopt;
    }
    if (r.count != 1 && (!index || *index >= r.count)) {
      fault(start, length, "the registers " + name + " are " + name + "[0] to " + last);
      return std::nullopt;
    }
    out.bar = kind.register_bar;
    out.offset = r.offset + index.value_or(0) * r.stride;
    out.bytes = r.bytes;
    return out;
  }

  const Document& document_;
  const Member& member_;
  const std::string& text_;
  Diagnostics& faults_;
  std::size_t at_ = 0;
};

bool is_text(const Document& document, const Member& member, Diagnostics& faults) {
  if (member.value.kind == Value::Kind::text) return true;
  faults.push_back(document.fault(
      member.value.place, member.key + ": must be a string, not " + std::string(member.value.kind_name())));
  return false;
}

}  // namespace

std::string DeviceName::text() const {
  return std::string(kind_of(kind).name) + "[" + std::to_string(number) + "]";
}

std::optional<DevicePlace> read_device_place(const Document& document, const Member& member,
                                             Diagnostics& faults) {
  if (!is_text(document, member, faults)) return std::nullopt;
  return PlaceParser(document, member, faults).place();
}

std::optional<DeviceName> read_device(const Document& document, const Member& member, Diagnostics& faults) {
  if (!is_text(document, member, faults)) return std::nullopt;
  return PlaceParser(document, member, faults).whole_device();
}

std::optional<std::pair<DeviceName, unsigned>> read_vector(const Document& document, const Member& member,
                                                           Diagnostics& faults) {
  if (!is_text(document, member, faults)) return std::nullopt;
  return PlaceParser(document, member, faults).vector();
}

}  // namespace warpline
