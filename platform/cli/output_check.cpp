#include "platform/cli/output_check.h"

#include <unistd.h>

#include "rtl_models/document/file_identity.h"
#include "rtl_models/document/output_file.h"

namespace warpline {

OutputCheck::OutputCheck() {
  for (const auto& [stream, name] : {std::pair{STDOUT_FILENO, "where standard output goes"},
                                     std::pair{STDERR_FILENO, "where standard error goes"}})
    if (const std::string file = identity_of(stream); !file.empty()) known_.emplace(file, Known{name, true});
}

void OutputCheck::add_input(const std::string& path, const std::string& what) {
  if (const std::string file = identity_of(path); !file.empty()) known_[file] = {what};
}

void OutputCheck::add_output(const std::string& path, const std::string& what, const Fault& fault) {
  if (path.empty()) return;
  if (const std::string why = OutputFile::refusal(path); !why.empty()) {
    faults_.push_back(fault(why, {}));
    return;
  }
  const std::string file = identity_of(path);
  if (file.empty()) return;
  const auto [known, is_new] = known_.emplace(file, Known{what});
  if (is_new) return;
  // /dev/stdout is the stream itself, and is appended to.
  if (known->second.is_stream && is_open_file(links_followed(path))) {
    known->second = {what};
  } else {
    faults_.push_back(fault(path + " is " + known->second.what + ", too", "each needs a file of its own"));
  }
}

void OutputCheck::add_output(const char* option, const std::string& path) {
  add_output(path, std::string("the file of ") + option,
             [option](const std::string& message, const std::string& hint) {
               return Diagnostic::about(option, message, hint);
             });
}

}  // namespace warpline
