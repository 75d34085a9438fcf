#pragma once

#include <string>
#include <vector>

#include "rtl_models/document/output_file.h"
#include "rtl_models/sim/recorder.h"

namespace warpline {

/// Writes signals as a value change dump (IEEE 1364-2005, clause 18), which GTKWave and its like open.
///
/// A dot in a signal's path begins a scope below `gpu`, so "l2[0].from_crossbar.occupancy" is a variable of
/// the scope gpu / l2[0] / from_crossbar. Times are picoseconds: what holds in cycle c holds from its start
/// to the start of the next. Nothing in the file tells when or how it was made.
class VcdWriter final : public Observer {
 public:
  /// `mhz`: of the clock that counts cycles. The file is open, and outlives it.
  VcdWriter(OutputFile& file, unsigned mhz) : file_(file), mhz_(mhz) {}

  void start(Cycle first, const std::vector<Signal>& signals,
             const std::vector<std::uint64_t>& values) override;
  void change(Cycle cycle, std::uint32_t signal, std::uint64_t value) override;
  void message(const MessageEvent& /*event*/) override {}
  void finish(Cycle last) override;

 private:
  struct Variable {
    std::string code;  ///< by which the dump calls it
    unsigned bits = 1;
  };
  void declare(const std::vector<Signal>& signals);
  void write_time(Cycle cycle);
  void write_value(const Variable& variable, std::uint64_t value);

  OutputFile& file_;
  unsigned mhz_;
  std::vector<Variable> variables_;
  Cycle time_ = kNever;  ///< last written
};

}  // namespace warpline
