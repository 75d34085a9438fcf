#include "platform/serve/served_event.h"

#include <fmt/format.h>

#include <array>

#include "rtl_models/base/text.h"

namespace warpline {

std::string to_text(const ServedEvent& e, const std::string& function) {
  using Kind = ServedEvent::Kind;
  const std::string data =
      e.data.empty() ? std::string() : fmt::format(" with {} bytes of data", e.data.size());
  const auto access = [&](const char* what) {
    return fmt::format("{} of {}, region {}, {}, {} bytes, in cycle {}", what, function, e.region,
                       hexadecimal(e.offset, 4), e.bytes, e.cycle);
  };
  switch (e.kind) {
    case Kind::read: return access("a read");
    case Kind::write: return access("a write");
    case Kind::reset: return "a reset of " + function;
    case Kind::plug: return function + (e.result != 0 ? " is plugged in" : " is unplugged");
    case Kind::inject: return e.data.empty() ? function + " fails no more" : function + " is to fail" + data;
    case Kind::timing: return e.result != 0 ? "loosely timed from now on" : "timed from now on";
    case Kind::turn: return "a look at what came";
    case Kind::finish: return fmt::format("the end of transfer {}", e.offset);
    case Kind::kernel: {
      constexpr std::array kActs = {"the beginning", "the abort", "the early end", "the end"};
      return fmt::format("{} of a kernel of {}", e.offset < kActs.size() ? kActs[e.offset] : "no act",
                         function);
    }
    case Kind::end: return "the end of the recording";
    case Kind::find:
      return fmt::format("{} looks for {} bytes at {}", function, e.bytes, hexadecimal(e.offset));
    case Kind::perform:
      return fmt::format("{} by {} of {} bytes at {}{}", e.data.empty() ? "a read" : "a write", function,
                         e.bytes, hexadecimal(e.offset), data);
    case Kind::answer: return fmt::format("an answer by {} in cycle {}{}", function, e.cycle, data);
    case Kind::interrupt: return fmt::format("interrupt {} of {} in cycle {}", e.offset, function, e.cycle);
  }
  return {};
}

}  // namespace warpline
