#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "warpline/base/types.h"
#include "warpline/mmio/register_file.h"

namespace warpline {

/// One access that arrived at a device, as its bus saw it.
struct LoggedAccess {
  enum class Kind : std::uint8_t { read, write, atomic, flush };
  Cycle cycle = 0;  ///< in which it arrived
  Kind kind = Kind::read;
  AccessOutcome outcome = AccessOutcome::done;
  std::uint8_t bar = 0;
  std::uint16_t requester = 0;  ///< bus, device and function number of whoever made it
  std::uint32_t bytes = 0;
  std::uint64_t offset = 0;  ///< in the BAR
  std::uint64_t value = 0;   ///< the first 8 bytes that were read or written
};

/// What arrived at a device, in order: nothing is combined, and nothing left out but what is older than the
/// newest `most`.
class AccessLog {
 public:
  explicit AccessLog(std::size_t most = kUnlimited) : most_(most) {}
  static constexpr std::size_t kUnlimited = ~std::size_t{0};

  void add(const LoggedAccess& access) {
    ++total_;
    if (most_ == 0) return;
    if (entries_.size() == most_) entries_.pop_front();
    entries_.push_back(access);
  }
  /// Oldest first.
  [[nodiscard]] const std::deque<LoggedAccess>& entries() const { return entries_; }
  /// Accesses so far, kept or not.
  [[nodiscard]] std::uint64_t total() const { return total_; }
  /// Of those, how many older ones are no longer in entries().
  [[nodiscard]] std::uint64_t forgotten() const { return total() - entries().size(); }
  void clear() {
    entries_.clear();
    total_ = 0;
  }

 private:
  std::size_t most_;
  std::uint64_t total_ = 0;
  std::deque<LoggedAccess> entries_;
};

/// "write".
[[nodiscard]] const char* name_of(LoggedAccess::Kind kind);
/// "SQ_BASE[3]", "SQ_BASE[3]+4" for its upper half; nothing where there is no register. `map`: whose
/// registers lie in the access's BAR; null: none.
[[nodiscard]] std::string register_name(const LoggedAccess& access, const RegisterMap* map);
/// One line: "  1234  bar 0  write     4 bytes  0x0010 CONTROL  0x00000001  from 00:00.0", with what is wrong
/// with it at its end. `map`: whose registers lie in the access's BAR; null: none.
[[nodiscard]] std::string to_text(const LoggedAccess& access, const RegisterMap* map);
/// The same as a JSON object on one line: cycle, bar, kind, offset, bytes, register (where there is one),
/// value (a hexadecimal string), requester, outcome. Pre: the map's names are those of a description file.
[[nodiscard]] std::string to_json(const LoggedAccess& access, const RegisterMap* map);

}  // namespace warpline
