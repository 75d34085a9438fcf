#pragma once

#include <string>

namespace warpline {

/// The parameters that a module of this name has published, if it has: withdraws them when it goes, or is not
/// made after all.
struct PublishedParameters {
  explicit PublishedParameters(std::string its_module) : module(std::move(its_module)) {}
  PublishedParameters(const PublishedParameters&) = delete;
  PublishedParameters& operator=(const PublishedParameters&) = delete;
  ~PublishedParameters();
  const std::string module;
};

/// Warns, by a SystemC report, of preset values that no module has read: once for each list of them. Called
/// by modules when a simulation starts.
void report_unconsumed_presets();

}  // namespace warpline
