#include "tests/platform/programs/ptx/samples.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace warpline::ptx::test {

std::string sample(const std::string& name) {
  std::ifstream in(std::string(WARPLINE_SOURCE_DIR) + "/tests/platform/programs/ptx/samples/" + name);
  if (!in) throw std::runtime_error("no sample " + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> sample_modules() {
  std::vector<std::string> texts;
  for (const char* name : {"language.sm_80.ptx", "language.sm_120.ptx", "memory_forms.ptx"})
    texts.push_back(sample(name));
  return texts;
}

}  // namespace warpline::ptx::test
