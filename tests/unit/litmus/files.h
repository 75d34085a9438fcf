#pragma once

#include <filesystem>
#include <string>

#include "warpline/document/files.h"
#include "warpline/litmus/parser.h"

namespace warpline::testing {

/// Parses a litmus file as `name`.
inline Result<litmus::Test> parse_file(const std::filesystem::path& path, const std::string& name) {
  const Result<std::string> text = read_file(path.string());
  if (!text.ok()) return text.faults();
  return litmus::parse(text.value(), name);
}

}  // namespace warpline::testing
