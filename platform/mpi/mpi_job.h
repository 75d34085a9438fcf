#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "rtl_models/sim/exchange.h"

namespace warpline {

struct MpiFunctions;

/// The processes that an MPI job consists of (`mpirun -n 2 ...`), of which this is one. Only the thread that
/// has started it calls any of this.
class MpiJob final : public Exchange {
 public:
  /// Loads libwarpline_mpi.so, which lies beside the command, and starts MPI, once in a process. Throws
  /// ExchangeError where there is none, or it cannot be started.
  [[nodiscard]] static std::shared_ptr<MpiJob> start();

  [[nodiscard]] unsigned rank() const override { return rank_; }
  [[nodiscard]] unsigned ranks() const override { return ranks_; }
  /// Sends a message to another rank, and returns at once. Not while ranks tell each other what an Exchange
  /// does; the same of next().
  void post(unsigned rank, std::string message);
  /// The next message of any rank, with its number; nothing where none has come.
  [[nodiscard]] std::optional<std::pair<unsigned, std::string>> next();
  /// Waits until all ranks have come to their end, and what was posted is on its way.
  void end();
  /// Ends this process and all others with this exit status, wherever they are.
  [[noreturn]] void abort(int status);

 private:
  explicit MpiJob(const MpiFunctions& mpi) : mpi_(mpi) {}
  [[nodiscard]] std::vector<std::string> carry(std::vector<std::string> to) override;

  const MpiFunctions& mpi_;
  unsigned rank_ = 0, ranks_ = 1;
  std::list<std::string> posted_;  ///< what may not be on its way yet
};

}  // namespace warpline
