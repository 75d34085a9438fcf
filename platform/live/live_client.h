#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rtl_models/base/problem.h"

namespace warpline::live {

/// Where a run is watched.
struct LivePlace {
  std::uint16_t port = 0;
  std::string token;
};

/// Of "http://127.0.0.1:8080/TOKEN/", as `warpline run --live` prints it. A fault says what it lacks.
[[nodiscard]] Result<LivePlace> place_of(const std::string& address);

/// Asks a run, from another process. Every failure is a sentence: nobody is there, it is no Warpline, the
/// token is of another run, or what the run itself says.
class LiveClient {
 public:
  explicit LiveClient(LivePlace place) : place_(std::move(place)) {}
  /// The JSON object that GET TARGET, or POST TARGET of a wish, gives: "state", "step?to=1000".
  [[nodiscard]] Result<std::string> get(const std::string& target) const { return ask("GET", target); }
  [[nodiscard]] Result<std::string> post(const std::string& target) const { return ask("POST", target); }

 private:
  [[nodiscard]] Result<std::string> ask(const char* method, const std::string& target) const;
  LivePlace place_;
};

/// What of a state a program asks.
struct StateFacts {
  bool ended = false, paused = false;
  bool steps = false;  ///< it goes on to where a step ends
  std::string end;     ///< how
  std::uint64_t cycle = 0;
};
[[nodiscard]] Result<StateFacts> facts_of(const std::string& state);
/// The cycle at which a step stops, as the answer to the wish has it; 0: not known yet.
[[nodiscard]] std::uint64_t step_end_of(const std::string& answer);

/// Answers of a run, at one time.
struct Snapshot {
  std::string state, queues, counters, waits;  ///< JSON objects; empty: was not asked
  /// The cycle from which the next question for counters counts.
  [[nodiscard]] std::uint64_t cycle() const;
};
/// All of that; the changes of counters from cycle `since` on.
[[nodiscard]] Result<Snapshot> snapshot(const LiveClient& client, std::uint64_t since);

/// For people: a page of text at most 100 columns wide, with up to `rows` lines of each table.
[[nodiscard]] std::string snapshot_text(const Snapshot& snapshot, std::size_t rows);
/// A state as one line.
[[nodiscard]] std::string state_line(const std::string& state);
/// The answer to "memory".
[[nodiscard]] std::string memory_text(const std::string& memory);
/// The answer to "line".
[[nodiscard]] std::string line_text(const std::string& line);

}  // namespace warpline::live
