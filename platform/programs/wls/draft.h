#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/programs/wls/lexer.h"
#include "platform/programs/wls/program.h"

namespace warpline::wls {

/// A program being read, and the names in it whose meaning is known only when all of it has been read.
struct Draft {
  /// A name whose meaning is known when all is read.
  struct Pending {
    std::size_t op = 0;
    Token name;
  };
  struct RegisterUse {
    unsigned last = 0;
    Place place;
  };

  /// Appends `op`, and how the SM sees it so far: its schedule and counters, and what it does to memory.
  void append(const Op& op, Instruction instruction, unsigned line);
  /// Data of the thread lies in register `reg`.
  void note_register(unsigned reg, Place place);
  /// Forgets the names that the operation which was not appended has left.
  void drop_pending();
  /// Gives names their meaning, and completes the SM's view of every operation. What contradicts goes to
  /// `faults`; with any the program is not fit to run.
  void complete(FaultList& faults);

  Program program;
  std::map<std::string, std::uint32_t, std::less<>> labels;
  std::vector<Pending> jumps, symbols;
  std::vector<RegisterUse> uses;
  std::vector<std::pair<Inspected, Place>> inspections;
  unsigned highest = 0;               ///< register named, plus one
  std::optional<unsigned> registers;  ///< as the program states it
  std::set<std::string_view> stated;  ///< directives that a program has one of
  std::uint64_t variable_bytes = 0;

 private:
  void resolve_labels(FaultList& faults);
  void resolve_symbols(FaultList& faults);
  void check_registers(FaultList& faults);
  void check_inspections(FaultList& faults);
};

}  // namespace warpline::wls
