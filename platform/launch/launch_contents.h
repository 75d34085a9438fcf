#pragma once

#include "platform/launch/launch_file.h"

namespace warpline {

/// Where the contents of a buffer or symbol are being read.
struct ContentContext {
  const Document& document;
  const std::string& path;  ///< of the launch file
  DataType type;
  std::uint64_t count;        ///< elements
  const NamedArrays& arrays;  ///< what expressions may name
  Diagnostics& faults;
};

/// Reads the value of an `init` key.
[[nodiscard]] InitialContent read_initial(const Member& member, const ContentContext& context);
/// Reads the value of an `expect` key.
[[nodiscard]] Expectation read_expectation(const Member& member, const ContentContext& context);

/// `fault` in the expression of `expect`, where it stands in `document`.
[[nodiscard]] Diagnostic expression_diagnostic(const Document& document, const Expectation& expect,
                                               const ExpressionFault& fault);

}  // namespace warpline
