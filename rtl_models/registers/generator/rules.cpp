#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "rtl_models/registers/generator/names.h"
#include "rtl_models/registers/generator/reader.h"
#include "rtl_models/registers/generator/text.h"

namespace warpline::registers {
namespace {

/// Judges one block.
class Rules {
 public:
  Rules(const Block& block, const Document& document, Diagnostics& faults)
      : block_(block), document_(document), faults_(faults) {}

  void check() {
    unlike_names();
    registers_apart();
    for (const Register& r : block_.registers) {
      fields_apart(r.fields);
      for (const Field& f : r.fields) known_enumeration(f, f.enumeration, f.at.bits);
    }
    for (const Enumeration& e : block_.enumerations) unlike_values(e);
    for (const Structure& s : block_.structures) {
      members_apart(s);
      for (const StructureMember& m : s.members) {
        known_enumeration(m, m.enumeration, m.bytes * 8);
        fields_apart(m.fields);
        for (const Field& f : m.fields) known_enumeration(f, f.enumeration, f.at.bits);
      }
    }
    // Names that are there twice make all that is generated of them clash as well.
    std::set<const Named*> told;
    if (unlike_) generated_apart(c_names(block_), told);
    if (unlike_) generated_apart(cpp_names(block_), told);
  }

 private:
  void fault(Place place, std::string message, std::string hint = {}) {
    faults_.push_back(document_.fault(place, std::move(message), std::move(hint)));
  }
  [[nodiscard]] static std::string where(const Named& named) {
    return "line " + std::to_string(named.place.line);
  }

  /// Names within the same thing are unlike.
  void unlike_names() {
    std::map<std::pair<const Named*, std::string_view>, const Named*> seen;
    for_each_named(block_, [&](NamedKind, const std::vector<const Named*>& path) {
      const Named& named = *path.back();
      if (named.name.empty()) return;
      const Named* const within = path.size() > 1 ? path[path.size() - 2] : nullptr;
      const auto [first, fresh] = seen.emplace(std::pair(within, std::string_view(named.name)), &named);
      if (fresh) return;
      unlike_ = false;
      fault(named.place, named.name + " is described twice: first in " + where(*first->second));
    });
  }

  void unlike_values(const Enumeration& e) {
    std::map<std::uint64_t, const Constant*> seen;
    for (const Constant& v : e.values) {
      const auto [first, fresh] = seen.emplace(v.value, &v);
      if (!fresh && v.sound && first->second->sound)
        fault(v.place, v.name + " has the value of " + first->second->name + ", " + std::to_string(v.value));
    }
  }

  void registers_apart() {
    std::unordered_map<std::uint64_t, const Register*> owner;  // of a word
    std::set<std::pair<const Register*, const Register*>> told;
    for (const Register& r : block_.registers) {
      if (!r.sound) continue;
      if (block_.bytes != 0 && r.end() > block_.bytes) {
        fault(r.place,
              r.name + " ends at " + hex(r.end()) + ", beyond the block's " + hex(block_.bytes) + " bytes");
        continue;
      }
      for (std::uint64_t element = 0; element < r.count; ++element) {
        const std::uint64_t first = (r.offset + element * r.stride) / 4;
        for (std::uint64_t word = first; word < first + r.bytes / 4; ++word) {
          const Register* const other = std::exchange(owner[word], &r);
          if (other == nullptr || !told.emplace(other, &r).second) continue;
          const std::string own = other == &r ? "its own elements" : other->name + " of " + where(*other);
          fault(r.place, r.name + " overlaps " + own + " at " + hex(word * 4));
        }
      }
    }
  }

  void fields_apart(const std::vector<Field>& fields) {
    std::uint64_t taken = 0;
    for (const Field& f : fields) {
      if (!f.sound) continue;
      if ((taken & f.at.mask()) != 0) {
        for (const Field& other : fields) {
          if (&other == &f || !other.sound || (other.at.mask() & f.at.mask()) == 0) continue;
          fault(f.place, f.name + " overlaps " + other.name + " of " + where(other));
          break;
        }
      }
      taken |= f.at.mask();
    }
  }

  void members_apart(const Structure& s) {
    if (!s.sound) return;
    std::map<std::uint32_t, const StructureMember*> owner;  // byte
    for (const StructureMember& m : s.members) {
      if (!m.sound) continue;
      const StructureMember* overlapped = nullptr;
      for (std::uint32_t byte = m.offset; byte < m.offset + m.bytes; ++byte) {
        const auto [other, fresh] = owner.emplace(byte, &m);
        if (!fresh) overlapped = other->second;
      }
      if (overlapped != nullptr)
        fault(m.place, m.name + " overlaps " + overlapped->name + " of " + where(*overlapped));
    }
  }

  void known_enumeration(const Named& user, const std::string& name, unsigned bits) {
    if (name.empty()) return;
    std::vector<std::string> names;
    for (const Enumeration& e : block_.enumerations) {
      names.push_back(e.name);
      if (e.name != name) continue;
      for (const Constant& v : e.values)
        if (bits < 64 && v.sound && user.sound && v.value >> bits != 0)
          fault(user.place, user.name + " has too few bits for " + e.name + "'s " + v.name + ", " +
                                std::to_string(v.value));
      return;
    }
    fault(user.place, user.name + ": there is no enumeration " + name, did_you_mean(name, names));
  }

  void generated_apart(const std::vector<GeneratedName>& names, std::set<const Named*>& told) {
    std::map<std::string, const GeneratedName*> seen;
    for (const GeneratedName& n : names) {
      if (n.of != nullptr && n.of->name.empty()) continue;
      const auto [first, fresh] = seen.emplace(n.name, &n);
      if (!fresh && told.insert(n.of).second)
        fault(n.of->place, n.what + " and " + first->second->what + " would both be called " + n.name);
    }
  }

  const Block& block_;
  const Document& document_;
  Diagnostics& faults_;
  bool unlike_ = true;
};

}  // namespace

void check_block(const Block& block, const Document& document, Diagnostics& faults) {
  Rules(block, document, faults).check();
}

}  // namespace warpline::registers
