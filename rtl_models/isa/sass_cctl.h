#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rtl_models/base/visibility.h"

namespace warpline {

/// The cache hierarchy that a CCTL names (SASS, CCTL, ".cache").
enum class CctlCache : std::uint8_t {
  data,               ///< `.D`, or none named: generic byte addresses
  uniform,            ///< `.U`, deprecated: `.D`, but for IVALL, which means the indexed constant cache
  constant,           ///< `.C`: constant addresses, (bank << 16) + byte
  instruction,        ///< `.I`: instruction byte addresses
  call_return_stack,  ///< `.CRS`: of CCTLL.CRS.WBALL only
};

/// What it does there (SASS, CCTL, ".cop").
enum class CctlOperation : std::uint8_t {
  prefetch_l1,     ///< PF1: fetches the line into L1 and L2
  prefetch_l2,     ///< PF2: fetches the line into L2
  write_back,      ///< WB: writes the line back to L2 if it is dirty, and keeps it
  write_back_all,  ///< WBALL: writes every token of the call-return stack back to L1
  invalidate,      ///< IV: drops the line; if it is dirty it is written back first
  invalidate_all,  ///< IVALL: drops every line of the kind that the cache selects, dirty ones written back
                   ///< first
  reset,           ///< RS: drops the line, dirty or not, without a write-back
};

/// All operations, and all caches.
inline constexpr std::array<CctlOperation, 7> kCctlOperations = {
    CctlOperation::prefetch_l1,    CctlOperation::prefetch_l2, CctlOperation::write_back,
    CctlOperation::write_back_all, CctlOperation::invalidate,  CctlOperation::invalidate_all,
    CctlOperation::reset};
inline constexpr std::array<CctlCache, 5> kCctlCaches = {CctlCache::data, CctlCache::uniform,
                                                         CctlCache::constant, CctlCache::instruction,
                                                         CctlCache::call_return_stack};

/// One CCTL or CCTLL instruction, as written or as encoded. Every value of it can be judged; only lawful
/// ones can be encoded or executed.
struct WARPLINE_PUBLIC Cctl {
  static constexpr std::uint8_t kAlways = 7;        ///< predicate PT
  static constexpr std::uint8_t kNoRegister = 255;  ///< RZ
  static constexpr std::uint8_t kNoScoreboard = 7;  ///< no `&rd`
  static constexpr unsigned kScoreboards = 6;       ///< `&req` has a bit for each
  static constexpr std::uint8_t kLongestWait = 15;  ///< `?WAIT15`
  static constexpr std::uint8_t kDispatchWait = 5;  ///< least `?WAIT` of what dispatch executes
  static constexpr unsigned kLocalImmediateBits = 24;

  std::uint8_t predicate = kAlways;  ///< P0 to P6, or PT
  bool unless = false;               ///< `@!`
  bool local = false;                ///< CCTLL: addresses lie in the thread's local window
  bool extended = false;             ///< `.E`: the address is the pair (R[a], R[a+1])
  CctlCache cache = CctlCache::data;
  CctlOperation operation = CctlOperation::prefetch_l1;
  std::uint8_t address_register = kNoRegister;
  std::uint32_t immediate = 0;  ///< as its field holds it: 32 bits of CCTL, the low 24 of CCTLL
  std::uint8_t required = 0;    ///< `&req`: scoreboards to wait for, a bit each
  std::uint8_t read_scoreboard = kNoScoreboard;  ///< `&rd`: released when its operands have been read
  std::uint8_t wait = 1;                         ///< `?WAIT`: cycles before the warp issues again

  /// Dispatch executes it: it enters no queue (CCTL.C.IVALL and CCTL.I.IVALL).
  [[nodiscard]] bool in_dispatch() const {
    return operation == CctlOperation::invalidate_all &&
           (cache == CctlCache::constant || cache == CctlCache::instruction);
  }
  /// It names no address: IVALL and WBALL.
  [[nodiscard]] bool acts_on_all() const {
    return operation == CctlOperation::invalidate_all || operation == CctlOperation::write_back_all;
  }
  /// It writes a call-return stack back, or is executed in dispatch: `?WAIT5` at least, and by default.
  [[nodiscard]] bool wants_dispatch_wait() const {
    return in_dispatch() || cache == CctlCache::call_return_stack;
  }
  [[nodiscard]] bool operator==(const Cctl& other) const;
};

/// Why an instruction is not lawful.
enum class CctlFault : std::uint8_t {
  operation_elsewhere,  ///< the cache has no such operation
  cache_of_local,       ///< CCTLL names no cache but `.CRS`
  crs_of_generic,       ///< `.CRS` belongs to CCTLL
  extended_local,       ///< CCTLL has no `.E`
  extended_all,         ///< IVALL and WBALL have no `.E`
  register_of_all,      ///< IVALL and WBALL want RZ
  immediate_of_all,     ///< IVALL and WBALL want 0
  immediate_too_wide,   ///< of CCTLL: 24 bits
  dispatch_scoreboard,  ///< CCTL.C.IVALL and CCTL.I.IVALL take no `&rd`
  dispatch_wait,        ///< below `?WAIT5` where that is the least
  no_predicate,         ///< there is no P8 and beyond
  no_scoreboard,        ///< there are six
  no_wait,              ///< `?WAIT1` to `?WAIT15`
};

/// The first rule that `c` breaks, or nothing. Rules are those of SASS, as its table of operations has them.
WARPLINE_PUBLIC [[nodiscard]] std::optional<CctlFault> judge(const Cctl& c);
/// The rule, in a sentence without a full stop: "CCTLL takes no .E".
WARPLINE_PUBLIC [[nodiscard]] const char* rule_of(CctlFault fault);

/// Which lines or which store of tokens a lawful instruction touches.
enum class CctlTarget : std::uint8_t {
  data_line,          ///< the line of the address: global or local memory, as its window says
  global_lines,       ///< all global lines of L1 LG
  local_lines,        ///< all local lines of L1 LG
  indexed_constants,  ///< all lines of the constant cache, in the order of the load/store queue
  constants,          ///< all lines of the constant cache
  instructions,       ///< all lines of the instruction caches
  call_return_stack,  ///< the tokens that the issuing warp's top-of-stack cache holds
};
/// Pre: judge(c) finds nothing.
WARPLINE_PUBLIC [[nodiscard]] CctlTarget target_of(const Cctl& c);

/// The address of one thread. `low` and `high` are R[a] and R[a+1]; `registers` is how many the shader has,
/// and a register beyond them is none. A sum of 32 bits, zero-extended; with `.E` one of 64, the immediate
/// sign-extended; without a register the immediate, zero-extended.
WARPLINE_PUBLIC [[nodiscard]] std::uint64_t effective_address(const Cctl& c, std::uint32_t low,
                                                              std::uint32_t high, unsigned registers);

/// "PF1", "IVALL".
WARPLINE_PUBLIC [[nodiscard]] const char* name_of(CctlOperation operation);
/// "D", "CRS".
WARPLINE_PUBLIC [[nodiscard]] const char* name_of(CctlCache cache);
/// What has this name, if anything does.
WARPLINE_PUBLIC [[nodiscard]] std::optional<CctlOperation> cctl_operation_named(std::string_view name);
WARPLINE_PUBLIC [[nodiscard]] std::optional<CctlCache> cctl_cache_named(std::string_view name);
/// `c` as SASS writes it, fields without an effect left out: "@!P0 CCTL.E.D.IV [R2 + 4] &req=0x01
/// ?WAIT2;".
WARPLINE_PUBLIC [[nodiscard]] std::string to_text(const Cctl& c);

}  // namespace warpline
