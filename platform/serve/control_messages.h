#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/types.h"
#include "rtl_models/nvme/nvme_faults.h"

namespace warpline {

// What is said at the control socket of a machine that is served: requests one way and a reply to each the
// other way, JSON objects of a line each.

struct ControlRequest {
  enum class Kind : std::uint8_t {
    functions,  ///< which there are, and who has them
    counters,   ///< those that are not 0
    registers,  ///< what registers hold, looked at from within: nothing happens
    read,       ///< reads a register as software does
    write,      ///< writes one as software does
    timing,     ///< timed or loosely timed
    pace,
    unplug,  ///< takes a function away
    plug,    ///< and puts it back
    findings,
    log,
    inject,  ///< has commands of an NVMe controller fail
    forget,  ///< takes back all that was injected
  };
  Kind kind = Kind::functions;
  std::vector<std::string> names;  ///< of `registers`: names and patterns; none: all
  std::string
      name;  ///< of `read` and `write`, a register; of `unplug`, `plug`, `inject` and `forget`, a function
  std::uint64_t value = 0;     ///< of `write`
  std::optional<bool> loose;   ///< of `timing`: what it is to be
  std::optional<double> pace;  ///< of `pace`: what it is to be; 0: as fast as it can
  bool as_json = false;        ///< of `log`
  NvmeFaultRule rule;          ///< of `inject`
};
/// What is wrong with it is one fault, without a file.
[[nodiscard]] Result<ControlRequest> control_request_from(const std::string& line);
/// Without an end of line.
[[nodiscard]] std::string to_line(const ControlRequest& request);
/// "functions".
[[nodiscard]] const char* name_of(ControlRequest::Kind kind);

struct ControlField {
  std::string name;
  unsigned low = 0, high = 0;  ///< its bits
  std::uint64_t value = 0;
  std::string meaning;
};
struct ControlRegister {
  std::string function, name;
  unsigned bar = 0;
  std::uint64_t offset = 0;
  unsigned bytes = 0;
  std::uint64_t value = 0;
  std::string meaning;
  std::vector<ControlField> fields;
};
struct ControlFunction {
  std::string name;
  bool present = true;
  bool client = false;
  int process = 0;  ///< the client's; 0: nobody knows
};
struct ControlCounter {
  std::string path;
  std::uint64_t value = 0;
  std::string unit, meaning;
};

/// The answer to a request: what that asked for, and nothing else.
struct ControlReply {
  ControlRequest::Kind to = ControlRequest::Kind::functions;
  std::string error, hint;  ///< a sentence: it was not done; empty: it was
  Cycle cycle = 0;          ///< up to which everything has happened
  std::vector<ControlFunction> functions;
  std::vector<ControlCounter> counters;
  std::vector<ControlRegister> registers;  ///< of `write`: with what was written
  bool loose = false;                      ///< of `timing`
  double pace = 0;                         ///< of `pace`
  std::vector<std::string> findings;
  std::string log;  ///< text, or an array of JSON
  bool log_is_json = false;
  /// Of `log`: appends what follows in there, some of it; false: that was the end. Null: nothing does.
  std::function<bool(std::string& out)> more_log;
};
[[nodiscard]] Result<ControlReply> control_reply_from(const std::string& line);
/// Without an end of line. What more_log() has is part of it.
[[nodiscard]] std::string to_line(const ControlReply& reply);
/// The reply to what is no request: only what is wrong with it.
[[nodiscard]] std::string to_line(const Diagnostic& refusal);

/// The line of a reply in pieces, for who has other things to do in between.
class ControlReplyLine {
 public:
  explicit ControlReplyLine(ControlReply reply) : reply_(std::move(reply)) {}
  /// The next piece; empty: there was the last one.
  [[nodiscard]] std::string next();

 private:
  enum class At : std::uint8_t { begin, log, end };
  ControlReply reply_;
  At at_ = At::begin;
};

}  // namespace warpline
