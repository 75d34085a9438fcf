#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/types.h"

namespace warpline {

/// Something that passed between a served machine and who uses it, in either direction.
struct ServedEvent {
  enum class Kind : std::uint8_t {
    // What is done to the machine.
    read,    ///< of a function: `region`, `offset`, `bytes`, in cycle `cycle`
    write,   ///< likewise, with `data`
    reset,   ///< of a function
    plug,    ///< `result` 1: plugged, 0: unplugged
    inject,  ///< of a function: `data` a rule of what fails (StateArchive); none: all are taken back
    timing,  ///< `result` 1: loosely timed from now on
    turn,    ///< what has come is looked at
    finish,  ///< of the transfer `offset`, which ends with `result` and `answer`
    kernel,  ///< of a GPU: `offset` what is done about it (ServedGpu::Act), up to cycle `cycle`
    end,     ///< of what is told
    // What the machine asks of memory outside.
    find,     ///< `offset` an address, `region` the kind of request: `result` in what, `place` at which
    perform,  ///< likewise, with `data`: it ends with `result` and `answer`; kGoesOn: later, as transfer
              ///< `place`
    // What it answers.
    answer,     ///< of a function: `result` how an access ended, `data` the bytes that came, `cycle` when
    interrupt,  ///< `function` the port, `offset` the vector, `cycle` when; `result` 1: somebody heard it
  };
  static constexpr std::uint8_t kKinds = 14;
  static constexpr std::uint64_t kGoesOn = 255;
  Kind kind = Kind::turn;
  std::uint64_t steps = 0;  ///< of the model since the event before
  Cycle now = 0;            ///< the engine's, after these steps
  Cycle cycle = 0;
  std::uint32_t function = 0;
  std::uint32_t region = 0;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::vector<std::uint8_t> data;
  // What is not the machine's doing.
  std::uint64_t result = 0;
  std::uint64_t place = 0;
  std::vector<std::uint8_t> answer;

  /// Whether somebody outside does it, and not the machine.
  [[nodiscard]] bool is_input() const { return kind <= Kind::end; }
  template <class Archive>
  void archive(Archive& a) {
    auto number = static_cast<std::uint8_t>(kind);
    a.index(number, kKinds);
    kind = static_cast<Kind>(number);
    a(steps, now, cycle, function, region, offset, bytes, data, result, place, answer);
  }
};

/// What happened, without what is not the machine's doing: "a read of peer[0], region 0, 0x0014, 4 bytes, in
/// cycle 7". `function`: what the event's is called.
[[nodiscard]] std::string to_text(const ServedEvent& event, const std::string& function);

/// Where events go as they happen: a recorder, or a replay, which knows what happened and compares.
class ServedTape {
 public:
  /// The event has happened; of a replay: becomes what is recorded as far as that is not the machine's doing.
  virtual void happen(ServedEvent& event) = 0;
  [[nodiscard]] virtual bool replays() const = 0;
  /// Nothing happens for a while.
  virtual void rest() = 0;

 protected:
  ~ServedTape() = default;
};

}  // namespace warpline
