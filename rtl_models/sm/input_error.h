#pragma once

#include <stdexcept>
#include <utility>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// An input turned out to be unusable while it was being run (a trace that ends in the middle of
/// an instruction). Ends the run; what was counted so far stays.
class WARPLINE_PUBLIC InputError : public std::runtime_error {
 public:
  explicit InputError(Diagnostic d) : std::runtime_error(d.message), diagnostic(std::move(d)) {}
  Diagnostic diagnostic;
};

}  // namespace warpline
