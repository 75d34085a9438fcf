#include "platform/cli/output_check.h"

#include <unistd.h>

#include "rtl_models/document/file_identity.h"
#include "rtl_models/document/output_file.h"

namespace warpline {

OutputCheck::OutputCheck() {
  for (const auto& [stream, name] : {std::pair{STDOUT_FILENO, "where standard output goes"},
                                     std::pair{STDERR_FILENO, "where standard error goes"}})
    if (const std::string file = identity_of(stream); !file.empty()) streams_.emplace(file, name);
}

void OutputCheck::add_input(const std::string& path, const std::string& what) {
  files_.add(path, what);
}

void OutputCheck::add_output(const std::string& path, const std::string& what, const Fault& fault) {
  if (path.empty()) return;
  if (const std::string why = OutputFile::refusal(path); !why.empty()) {
    faults_.push_back(fault(why, {}));
    return;
  }
  std::string clash = files_.claim(path, what);
  // /dev/stdout is the stream itself, and is appended to.
  if (clash.empty() && !is_open_file(file_place(path).path.string()))
    if (const auto stream = streams_.find(identity_of(path).file); stream != streams_.end())
      clash = path + " is " + stream->second + ", too";
  if (!clash.empty()) faults_.push_back(fault(clash, "each needs a file of its own"));
}

void OutputCheck::add_output(const char* option, const std::string& path) {
  add_output(path, std::string("the file of ") + option,
             [option](const std::string& message, const std::string& hint) {
               return Diagnostic::about(option, message, hint);
             });
}

}  // namespace warpline
