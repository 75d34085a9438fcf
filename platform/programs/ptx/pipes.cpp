#include "platform/programs/ptx/pipes.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "platform/programs/latencies.h"
#include "rtl_models/base/text.h"

namespace warpline::ptx {
namespace {

/// What an opcode does; its pipe is that of its type.
enum class Work : std::uint8_t { sums, multiplies, compares, arranges, counts, exchanges };

const std::unordered_map<std::string_view, Work>& works() {
  static const auto kWorks = [] {
    std::unordered_map<std::string_view, Work> out;
    const auto add = [&out](Work work, std::string_view names) {
      for (const std::string_view name : split(names, ' ')) out.emplace(name, work);
    };
    add(Work::sums, "add sub addc subc");
    add(Work::multiplies, "mul mad fma madc mul24 mad24 dp4a dp2a vmad");
    add(Work::compares, "min max set setp");
    add(Work::arranges,
        "and or xor not cnot shl shr shf lop3 bfe bfi prmt sad selp slct abs neg copysign testp bmsk szext "
        "vadd vsub vabsdiff vmin vmax vshl vshr vset vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 "
        "vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4");
    add(Work::counts, "cvt rcp sqrt rsqrt sin cos lg2 ex2 tanh popc clz bfind brev");
    add(Work::exchanges, "shfl");
    return out;
  }();
  return kWorks;
}

PipeClass pipe_of(Work work, std::string_view type) {
  const bool half = type.find("f16") != std::string_view::npos;
  const bool single = type.substr(0, 4) == ".f32", wide = type == ".f64";
  switch (work) {
    case Work::sums:
      return wide ? PipeClass::f64 : half ? PipeClass::f16 : single ? PipeClass::f32 : PipeClass::integer;
    case Work::multiplies:
      return wide ? PipeClass::f64 : half ? PipeClass::f16 : single ? PipeClass::f32 : PipeClass::multiply;
    case Work::compares: return wide ? PipeClass::f64 : half ? PipeClass::f16 : PipeClass::integer;
    case Work::arranges: return PipeClass::integer;
    case Work::counts: return PipeClass::special;
    case Work::exchanges: return PipeClass::shuffle;
  }
  return PipeClass::none;
}

/// The type that the statement computes with: the last that it names, as "set.lt.u32.f32" has two.
std::string_view type_of(const Statement& s) {
  for (auto q = s.qualifiers.rbegin(); q != s.qualifiers.rend(); ++q) {
    std::string_view text = q->text;
    if (text.size() < 3) continue;
    const bool brain = text.substr(0, 3) == ".bf";
    const char kind = brain ? 'f' : text[1], digit = text[brain ? 3 : 2];
    if ((kind == 'f' || kind == 's' || kind == 'u' || kind == 'b') && digit >= '0' && digit <= '9')
      return text;
  }
  return {};
}

}  // namespace

void assign_pipe(const Statement& s, Instruction& i) {
  const auto work = works().find(s.opcode.text);
  if (work == works().end()) return;
  const std::string_view type = type_of(s);
  const bool sequence = i.latency == latency::kDivide32 || i.latency == latency::kDivide64;
  const bool move = work->second == Work::counts && i.latency == latency::kSimple;
  if (sequence || move) return;
  const bool packs =
      s.opcode.text == "cvt" && std::any_of(s.qualifiers.begin(), s.qualifiers.end(), [](const auto& q) {
        const std::string_view text = q.text;
        return text == ".f16x2" || text == ".bf16x2";
      });
  // What packs two values is F2FP, I2IP or the like in SASS, which are no work of the special pipe.
  i.pipe = packs ? PipeClass::integer : pipe_of(work->second, type);
  const bool words = type.size() > 2 && type.substr(2, 2) == "64" && i.pipe != PipeClass::f64;
  const bool two_lanes = type == ".f32x2";
  if (i.pipe == PipeClass::multiply) {
    if (i.latency > latency::kMultiply) i.passes = words ? 3 : 2;
  } else if (i.pipe != PipeClass::special && (words || two_lanes || i.latency == 2 * latency::kSimple)) {
    i.passes = i.pipe == PipeClass::f64 ? 1 : 2;
  }
}

}  // namespace warpline::ptx
