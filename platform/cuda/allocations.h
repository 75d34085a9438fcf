#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace warpline::cuda {

struct Pool;

/// Memory that a program has of the platform.
struct Allocation {
  enum class Kind : std::uint8_t {
    device,   ///< of a GPU; the host has no access
    managed,  ///< of a GPU, and the host's at the same address
    host,     ///< of the host, pinned, and the GPUs' at the same address
    array,    ///< of a GPU, which only copies and textures and surfaces reach
  };
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  Kind kind = Kind::device;
  unsigned device = 0;              ///< whose memory it is, or where it was asked for
  std::uint32_t flags = 0;          ///< as the program gave them
  std::shared_ptr<Pool> pool = {};  ///< that it came from, destroyed or not; null: none
  bool of_graph = false;            ///< it is given back with the graph whose node allocated it
  bool is_condition = false;        ///< of a graph: a value that conditional nodes look at
  bool of_module = false;           ///< a variable
  bool registered = false;          ///< it was the program's own before
  bool mapped = false;              ///< a block at an address of the program's choice, next to others perhaps
  std::set<unsigned> peers = {};    ///< of a GPU's memory: other GPUs whose kernels reach it

  /// Whether kernels of a GPU reach it.
  [[nodiscard]] bool is_reached_by(unsigned gpu) const {
    return (kind != Kind::device && kind != Kind::array) || gpu == device || peers.count(gpu) != 0;
  }
};

/// All memory that a program has, by address.
class Allocations {
 public:
  /// Pre: overlaps no other.
  void add(const Allocation& a) { by_address_.emplace(a.address, a); }
  /// Takes away what begins at an address, and returns it; nothing: none does.
  std::optional<Allocation> remove(std::uint64_t address) {
    const auto found = by_address_.find(address);
    if (found == by_address_.end()) return std::nullopt;
    const Allocation a = found->second;
    by_address_.erase(found);
    return a;
  }
  [[nodiscard]] Allocation* find(std::uint64_t address) {
    return const_cast<Allocation*>(std::as_const(*this).find(address));
  }
  /// What an address lies in; null: nothing. One of no bytes holds its own address.
  [[nodiscard]] const Allocation* find(std::uint64_t address) const {
    const auto after = by_address_.upper_bound(address);
    if (after == by_address_.begin()) return nullptr;
    const Allocation& a = std::prev(after)->second;
    return address - a.address < a.bytes || address == a.address ? &a : nullptr;
  }
  /// Whether `bytes` bytes from an address on lie in one of them, or in mapped ones of one kind without gaps.
  [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t bytes) const {
    const Allocation* a = find(address);
    for (const Allocation* const first = a; a != nullptr; a = find(address)) {
      const std::uint64_t here = a->bytes - (address - a->address);
      if (bytes <= here) return a->kind == first->kind;
      if (!a->mapped || a->kind != first->kind) return false;
      address += here;
      bytes -= here;
    }
    return false;
  }
  /// Whether one of a kind has any of `bytes` bytes from an address on.
  [[nodiscard]] bool touch(Allocation::Kind kind, std::uint64_t address, std::uint64_t bytes) const {
    for (auto at = by_address_.lower_bound(address + bytes); at != by_address_.begin();) {
      const Allocation& a = (--at)->second;
      if (a.address + a.bytes <= address) return false;
      if (a.kind == kind) return true;
    }
    return false;
  }
  [[nodiscard]] const std::map<std::uint64_t, Allocation>& all() const { return by_address_; }
  /// Calls f(allocation) for each.
  template <class F>
  void for_each(F&& f) {
    for (auto& [address, a] : by_address_) f(a);
  }

 private:
  std::map<std::uint64_t, Allocation> by_address_;
};

}  // namespace warpline::cuda
