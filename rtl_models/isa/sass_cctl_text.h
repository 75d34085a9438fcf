#pragma once

#include <string>
#include <string_view>

#include "rtl_models/base/problem.h"
#include "rtl_models/isa/sass_cctl.h"

namespace warpline {

/// Where a text stands, for diagnostics; columns count from `column`.
struct TextPlace {
  std::string file;
  unsigned line = 1;
  unsigned column = 1;  ///< of the text's first character in `source`
  std::string source;   ///< the whole line; empty: the text is the whole line
};

/// The lawful instruction that `text` writes, in SASS's grammar:
///
///   {@{!}Pg} CCTL{.E}{.cache}.cop [Ra + ImmS32] | [ImmU32]   {&req=0xNN} {&rd=N} {?WAITn} ;
///   {@{!}Pg} CCTL{.cache}.IVALL                              {&req=0xNN} {&rd=N} {?WAITn} ;
///   {@{!}Pg} CCTLL.cop [Ra + ImmS24] | [ImmU24]              {&req=0xNN} {&rd=N} {?WAITn} ;
///   {@{!}Pg} CCTLL.IVALL | CCTLL.CRS.WBALL                   {&req=0xNN} {&rd=N} {?WAITn} ;
///
/// The semicolon may be left out, and IVALL and WBALL may be given the only address that they have, [RZ] or
/// [0]. An omitted schedule is `?WAIT5` where less is unlawful, else `?WAIT1`. One fault at most: the first.
[[nodiscard]] Result<Cctl> parse_cctl(std::string_view text, const TextPlace& place = {});

}  // namespace warpline
