#include "platform/programs/ptx_legality/preamble.h"

#include <string>

#include "platform/programs/ptx_syntax/parser.h"
#include "rtl_models/base/contract.h"

namespace warpline::ptx {
namespace {

constexpr std::string_view kBefore = R"(.version 9.0
.target sm_100
.address_size 64
.global .align 256 .b8 gvar[4096];
.const .align 64 .b8 cvar[256];
.shared .align 64 .b8 svar[1024];
)";
constexpr std::string_view kEntry = R"(.visible .entry k(.param .u64 kp, .param .align 64 .b8 kbuf[256]) {)";
constexpr std::string_view kFunction =
    R"(.visible .func (.param .b32 fret) fn(.param .u64 kp, .param .align 16 .b8 kbuf[64]) {)";
constexpr std::string_view kBody = R"(
.reg .pred %p<4>; .reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<20>; .reg .f64 %fd<20>;
.local .align 64 .b8 lvar[256];
{ .reg .b128 %q<6>; .reg .b8 %b<8>; }
ret;
}
)";

}  // namespace

ModuleDecl parse_preamble(bool in_function) {
  const std::string text =
      std::string(kBefore) + std::string(in_function ? kFunction : kEntry) + std::string(kBody);
  FaultList faults(text, "preamble");
  ModuleDecl m = parse_module(text, faults);
  WARPLINE_EXPECT(faults.empty() && m.functions.size() == 1, "the preamble is right");
  return m;
}

}  // namespace warpline::ptx
