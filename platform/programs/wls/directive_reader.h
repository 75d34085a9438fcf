#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "platform/programs/wls/draft.h"
#include "platform/programs/wls/token_reader.h"

namespace warpline::wls {

/// Reads directives: what a program declares beside its instructions.
class DirectiveReader {
 public:
  /// Both outlive it.
  DirectiveReader(TokenReader& tokens, Draft& draft) : tokens_(tokens), draft_(draft) {}
  /// Pre: a directive comes next.
  void directive();

 private:
  void extents(Dim3& to, const std::uint64_t (&most)[3]);
  void variable(bool constant);
  void parameter();
  void show();
  void check_value();
  std::string new_name();
  void inspected(Inspected& what);

  TokenReader& tokens_;
  Draft& draft_;
  std::uint64_t variable_bytes_ = 0;
  std::set<std::string_view> stated_;  ///< directives that stand once
};

}  // namespace warpline::wls
