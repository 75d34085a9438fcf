#include "platform/serve/served_event.h"

#include <fmt/format.h>

#include "rtl_models/base/text.h"

namespace warpline {

std::string to_text(const ServedEvent& e) {
  using Kind = ServedEvent::Kind;
  const std::string data = e.data.empty() ? std::string() : fmt::format(" ({} bytes of data)", e.data.size());
  const std::string where =
      fmt::format("function {}, region {}, {}", e.function, e.region, hexadecimal(e.offset, 4));
  switch (e.kind) {
    case Kind::read: return fmt::format("read of {}, {} bytes, cycle {}", where, e.bytes, e.cycle);
    case Kind::write: return fmt::format("write of {}, {} bytes, cycle {}", where, e.bytes, e.cycle);
    case Kind::reset: return fmt::format("reset of function {}", e.function);
    case Kind::plug:
      return fmt::format("function {} {}", e.function, e.result != 0 ? "plugged" : "unplugged");
    case Kind::timing: return e.result != 0 ? "loosely timed from now on" : "timed from now on";
    case Kind::turn: return "a look at what came";
    case Kind::finish: return fmt::format("end of transfer {}", e.offset);
    case Kind::find:
      return fmt::format("request of function {} for {} bytes at {}", e.function, e.bytes,
                         hexadecimal(e.offset));
    case Kind::perform:
      return fmt::format("{} by function {} of {} bytes at {}{}", e.data.empty() ? "a read" : "a write",
                         e.function, e.bytes, hexadecimal(e.offset), data);
    case Kind::answer:
      return fmt::format("answer to function {}'s software in cycle {}{}", e.function, e.cycle, data);
    case Kind::interrupt:
      return fmt::format("interrupt {} of function {}, cycle {}", e.offset, e.function, e.cycle);
  }
  return {};
}

}  // namespace warpline
