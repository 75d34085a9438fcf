#pragma once

#include <filesystem>
#include <string>

#include "platform/consistency/parser.h"
#include "rtl_models/document/files.h"

namespace warpline::test {

/// Parses a litmus file as `name`.
inline Result<litmus::Test> parse_file(const std::filesystem::path& path, const std::string& name) {
  const Result<std::string> text = read_file(path.string());
  if (!text.ok()) return text.faults();
  return litmus::parse(text.value(), name);
}

}  // namespace warpline::test
