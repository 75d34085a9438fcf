#include <filesystem>
#include <map>
#include <system_error>

#include "platform/programs/sass_trace/line_reader.h"
#include "platform/programs/sass_trace/trace.h"
#include "rtl_models/base/text.h"

namespace warpline::sass {
namespace {

namespace fs = std::filesystem;

/// No list names as many kernels; a file that goes on is something else.
constexpr std::size_t kMaxEntries = 1000000;

/// Reads one list, collecting its faults.
class ListReader {
 public:
  explicit ListReader(const std::string& path) : lines_(path), folder_(fs::path(path).parent_path()) {}

  Result<std::vector<ListEntry>> read(std::vector<std::string>& warnings) {
    std::string_view line;
    while (lines_.next(line)) {
      const std::string_view text = trimmed(line);
      if (text.empty()) continue;
      if (entries_.size() + faults_.size() >= kMaxEntries) {
        fault(text, 1, "the list has more than a million lines");
        break;
      }
      const std::string_view kind = text.substr(0, text.find_first_of(", \t"));
      if (kind == "MemcpyHtoD") {
        take_copy(text);
      } else if (is_trace_path(std::string(text)) || text.substr(0, 6) == "kernel") {
        take_kernel(std::string(text));
      } else {
        ++unknown_[std::string(kind.substr(0, 40))];
      }
    }
    for (const auto& [kind, count] : unknown_)
      warnings.push_back(lines_.path() + ": " + counted(count, "line") + " of unknown kind '" + kind +
                         "' ignored");
    if (kernels_ == 0 && faults_.empty())
      faults_.push_back(fault_at(lines_.path(), 0, 0, {}, "the list names no kernel trace"));
    if (!faults_.empty()) return std::move(faults_);
    return std::move(entries_);
  }

 private:
  void fault(std::string_view line, std::size_t column, std::string message, std::string hint = {}) {
    faults_.push_back(
        fault_at(lines_.path(), lines_.number(), column, line, std::move(message), std::move(hint)));
  }

  void take_copy(std::string_view line) {
    const std::size_t first = line.find(',');
    const std::size_t second = first == std::string_view::npos ? first : line.find(',', first + 1);
    if (second == std::string_view::npos) return fault(line, 1, "expected 'MemcpyHtoD,0xADDRESS,BYTES'");
    const auto number = [](std::string_view text) {
      return number_with_prefix<std::uint64_t>(trimmed(text));
    };
    const auto address = number(line.substr(first + 1, second - first - 1));
    if (!address) return fault(line, first + 2, "the address of a copy must be a 64-bit number");
    const auto bytes = number(line.substr(second + 1));
    if (!bytes) return fault(line, second + 2, "the size of a copy must be a 64-bit number");
    entries_.push_back({true, *address, *bytes, {}});
  }

  void take_kernel(const std::string& name) {
    ++kernels_;
    const fs::path path = folder_ / name;
    for (const char* suffix : {"", ".xz", ".gz"}) {
      std::error_code error;
      if (!fs::is_regular_file(path.string() + suffix, error)) continue;
      entries_.push_back({false, 0, 0, path.string() + suffix});
      return;
    }
    const std::string near = near_miss(name, names_beside(path));
    fault(name, 1, "there is no file '" + path.string() + "', nor with a further .xz or .gz",
          near.empty() ? std::string{} : "did you mean '" + near + "'?");
  }

  /// Names of the traces in the folder of `path`; the folder is read once.
  const std::vector<std::string>& names_beside(const fs::path& path) {
    const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
    const auto known = names_.find(folder);
    if (known != names_.end()) return known->second;
    std::vector<std::string>& names = names_[folder];
    std::error_code error;
    for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error))
      if (is_trace_path(i->path().filename().string())) names.push_back(i->path().filename().string());
    return names;
  }

  LineReader lines_;
  fs::path folder_;
  std::vector<ListEntry> entries_;
  Diagnostics faults_;
  std::map<std::string, std::uint64_t> unknown_;
  std::map<std::string, std::vector<std::string>> names_;
  std::size_t kernels_ = 0;
};

}  // namespace

Result<std::vector<ListEntry>> read_list(const std::string& path, std::vector<std::string>& warnings) {
  try {
    return ListReader(path).read(warnings);
  } catch (const InputError& e) {
    return e.diagnostic;
  }
}

}  // namespace warpline::sass
