#include "platform/cli/run_checkpoint.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <streambuf>

#include "rtl_models/base/state_archive.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/output_file.h"

namespace warpline {
namespace {

constexpr const char* kRestore = "--restore";
constexpr const char* kWarmHint = "--warm runs other inputs on the machine as the checkpoint has it";

/// A stream into a file that appears in one step.
class FileBuffer final : public std::streambuf {
 public:
  explicit FileBuffer(OutputFile& file) : file_(file) {}

 private:
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    file_.write({bytes, static_cast<std::size_t>(count)});
    return count;
  }
  int_type overflow(int_type c) override {
    if (c != traits_type::eof()) {
      const char byte = traits_type::to_char_type(c);
      file_.write({&byte, 1});
    }
    return traits_type::not_eof(c);
  }
  OutputFile& file_;
};

/// A run's note is this row of bytes.
void archive(StateArchive& a, RunIdentity& identity, std::string& progress) {
  a.section("the run");
  identity.files.resize(a.count(identity.files.size()));
  for (InputFile& f : identity.files) a(f.path, f.bytes, f.sha256);
  a(identity.choices, progress);
}

std::string name_of(const InputFile& file) {
  return std::filesystem::path(file.path).filename().string();
}

/// What a run that is continued finds changed among its files.
std::vector<std::string> changed_files(const std::vector<InputFile>& saved,
                                       const std::vector<InputFile>& here) {
  std::vector<std::string> out;
  for (std::size_t n = 0; n < std::max(saved.size(), here.size()); ++n) {
    if (n >= here.size()) {
      out.push_back(name_of(saved[n]) + " is missing");
    } else if (n >= saved.size()) {
      out.push_back(name_of(here[n]) + " is new");
    } else if (saved[n].sha256 != here[n].sha256) {
      out.push_back(name_of(saved[n]) == name_of(here[n])
                        ? name_of(here[n]) + " has changed"
                        : name_of(here[n]) + " is in the place of " + name_of(saved[n]));
    }
  }
  return out;
}

}  // namespace

std::string save_run(const std::string& path, GpuPlatform& platform, RunIdentity identity,
                     std::string progress) {
  OutputFile file;
  if (const std::string failure = file.open(path); !failure.empty()) return failure;
  std::string note;
  StateArchive a(note);
  archive(a, identity, progress);
  FileBuffer buffer(file);
  std::ostream out(&buffer);
  if (const Diagnostics faults = platform.save(out, note); !faults.empty()) return faults.front().message;
  return file.close();
}

Result<Checkpoint> read_checkpoint(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return Diagnostic::about(path, "is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) return Diagnostic::about(path, std::string("cannot be read: ") + std::strerror(errno));
  return Checkpoint::read(in, path);
}

Result<std::string> progress_in(const Checkpoint& checkpoint, const RunIdentity& identity) {
  RunIdentity saved;
  std::string progress;
  try {
    StateArchive a{std::string_view(checkpoint.note())};
    archive(a, saved, progress);
  } catch (const StateMisfit&) {
    return Diagnostic::about(checkpoint.name(), "was not saved by warpline run", kWarmHint);
  }
  if (const auto changed = changed_files(saved.files, identity.files); !changed.empty())
    return Diagnostic::about(checkpoint.name(),
                             "was saved by a run of other inputs: " + joined(changed, "; "), kWarmHint);
  std::vector<std::string> differing;
  for (const auto& [option, value] : identity.choices) {
    const auto same = [&option = option](const auto& choice) { return choice.first == option; };
    const auto before = std::find_if(saved.choices.begin(), saved.choices.end(), same);
    if (before == saved.choices.end() || before->second != value)
      differing.push_back(option + " is " + value + ", and was " +
                          (before == saved.choices.end() ? "not known" : before->second));
  }
  if (!differing.empty())
    return Diagnostic::about(kRestore, "the run was asked for otherwise: " + joined(differing, "; "),
                             "a run is continued as it was begun");
  return progress;
}

}  // namespace warpline
