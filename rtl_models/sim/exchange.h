#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// Ranks that run a platform together do not do the same any more, or one is gone: none can go on.
class WARPLINE_PUBLIC ExchangeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The processes that run one platform together, called ranks, as one of them sees it. Every rank does what
/// the host does, alike, and runs some of the hardware; what crosses between them goes by an exchange.
///
/// All ranks make the same calls in the same order. A call blocks until every other rank has made it, and
/// throws ExchangeError where one makes another, or is gone.
class WARPLINE_PUBLIC Exchange {
 public:
  virtual ~Exchange() = default;
  [[nodiscard]] virtual unsigned rank() const = 0;  ///< this one
  [[nodiscard]] virtual unsigned ranks() const = 0;

  /// Gives to[r] to every other rank r, and returns what each has given this one, by rank. `purpose` says
  /// what for, and is compared. Pre: as many as there are ranks.
  std::vector<std::string> trade(std::string_view purpose, std::vector<std::string> to);
  /// Gives all others the same.
  std::vector<std::string> tell(std::string_view purpose, const std::string& all);
  /// What rank `root` says, on every rank.
  std::string hear(std::string_view purpose, unsigned root, std::string said);
  /// Whether it is so on every rank.
  bool all(std::string_view purpose, bool here);
  /// The sum over all ranks.
  std::uint64_t sum(std::string_view purpose, std::uint64_t here);

 private:
  /// As trade(), of messages of any bytes.
  [[nodiscard]] virtual std::vector<std::string> carry(std::vector<std::string> to) = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace warpline
