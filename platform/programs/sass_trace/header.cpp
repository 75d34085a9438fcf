#include "platform/programs/sass_trace/header.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>

#include "platform/programs/sass_trace/line_cursor.h"
#include "rtl_models/base/text.h"

namespace warpline::sass {
namespace {

/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr std::array<std::uint32_t, 3> kMaxGrid = {2147483647, 65535, 65535};
constexpr std::array<std::uint32_t, 3> kMaxBlock = {1024, 1024, 64};
constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::uint64_t kMaxShared = std::uint64_t{1} << 24U;  ///< the shared window
constexpr std::uint64_t kMaxAddress = (std::uint64_t{1} << 56U) - 1;
constexpr unsigned kMaxVersion = 5;
/// A header has 13 keys; what goes on much longer is no header.
constexpr unsigned kMaxHeaderLines = 1000;

Dim3 dimensions(LineCursor& value, const std::string& key, const char* what,
                const std::array<std::uint32_t, 3>& max) {
  const std::size_t from = value.position();
  do value.word(what);
  while (!value.done());
  const std::string_view text = value.between(from, value.end_of_last());
  std::array<std::uint32_t, 3> out{};
  const bool bracketed = text.size() >= 2 && text.front() == '(' && text.back() == ')';
  const auto parts = split(bracketed ? text.substr(1, text.size() - 2) : std::string_view{}, ',');
  for (std::size_t i = 0; i < 3; ++i) {
    std::optional<std::uint64_t> n;
    if ((i == 2) == (i + 1 == parts.size()))
      n = number_from<std::uint64_t>(
          parts[i].substr(std::min(parts[i].find_first_not_of(' '), parts[i].size())));
    if (!n) value.fail(key + " must be three numbers: (x,y,z)");
    if (*n == 0 || *n > max[i])
      value.fail(key + " is out of range: each must be 1 to " + std::to_string(max[0]) + ", " +
                 std::to_string(max[1]) + ", " + std::to_string(max[2]));
    out[i] = static_cast<std::uint32_t>(*n);
  }
  return {out[0], out[1], out[2]};
}

struct Key {
  const char* name;
  bool required;
  std::function<void(TraceHeader&, LineCursor&)> take;
};

/// What takes a number into a field.
template <class T>
auto decimal(T TraceHeader::*field, const char* what, std::uint64_t most) {
  return [=](TraceHeader& h, LineCursor& v) { h.*field = static_cast<T>(v.decimal(what, most)); };
}
auto address(std::uint64_t TraceHeader::*field, const char* what) {
  return [=](TraceHeader& h, LineCursor& v) { h.*field = v.hex(what, kMaxAddress); };
}

const std::vector<Key>& keys() {
  const auto ignored = [](TraceHeader&, LineCursor& v) {
    while (!v.done()) v.word("a value");
  };
  static const std::vector<Key> kKeys = {
      // A demangled name may hold blanks; it is taken as it stands by the caller.
      {"kernel name", true, ignored},
      // Numbers of the recording run; nothing in the replay depends on them.
      {"kernel id", false, [](TraceHeader&, LineCursor& v) { v.decimal("the kernel id", UINT64_MAX); }},
      {"cuda stream id", false, [](TraceHeader&, LineCursor& v) { v.decimal("the stream id", UINT64_MAX); }},
      {"nvbit version", false, ignored},
      {"grid dim", true,
       [](TraceHeader& h, LineCursor& v) { h.grid = dimensions(v, "grid dim", "a grid", kMaxGrid); }},
      {"block dim", true,
       [](TraceHeader& h, LineCursor& v) {
         h.block = dimensions(v, "block dim", "a block", kMaxBlock);
         if (h.block.count() > kMaxThreads) v.fail("block dim names more than 1024 threads");
       }},
      {"shmem", false, decimal(&TraceHeader::shared_bytes, "the shared bytes", kMaxShared)},
      {"nregs", false, decimal(&TraceHeader::registers, "the register count", 256)},
      {"binary version", false, decimal(&TraceHeader::binary_version, "the binary version", 999)},
      {"shmem base_addr", false, address(&TraceHeader::shared_base, "the shared window's address")},
      {"local mem base_addr", false, address(&TraceHeader::local_base, "the local window's address")},
      {"accelsim tracer version", false,
       [](TraceHeader& h, LineCursor& v) {
         const std::uint64_t version = v.decimal("the tracer version", UINT64_MAX);
         if (version < 1 || version > kMaxVersion)
           v.fail("tracer versions 1 to 5 can be read, this is another one");
         h.version = static_cast<unsigned>(version);
       }},
      {"enable lineinfo", false, decimal(&TraceHeader::has_lines, "the lineinfo flag", 1)},
  };
  return kKeys;
}

/// Collects what the header says, and every fault in it.
class HeaderReader {
 public:
  explicit HeaderReader(const LineReader& lines) : lines_(lines) {}

  void take(std::string_view line) {
    const std::size_t equals = line.find('=');
    const std::string_view name =
        trimmed(line.substr(1, equals == std::string_view::npos ? equals : equals - 1));
    if (equals == std::string_view::npos) {
      add(line, 1, "a header line must read '-key = value'", line.size());
      return;
    }
    const auto key = std::find_if(keys().begin(), keys().end(), [&](const Key& k) { return name == k.name; });
    if (key == keys().end()) {
      suspects_.emplace_back(std::string(name),
                             fault_at(lines_.path(), lines_.number(), 2, line,
                                      "unknown header key '" + std::string(name.substr(0, 60)) + "'"));
      return;
    }
    if (!seen_.insert(key->name).second) {
      add(line, 2, std::string("'") + key->name + "' appears twice", name.size());
      return;
    }
    // The line up to the value is blanked, so that columns are those of the file.
    std::string blanked = std::string(equals + 1, ' ') + std::string(line.substr(equals + 1));
    try {
      LineCursor value(lines_.path(), lines_.number(), blanked);
      if (std::string_view(key->name) == "kernel name") {
        header_.kernel_name = std::string(trimmed(line.substr(equals + 1)));
        if (header_.kernel_name.empty()) value.word("the kernel's name");
      } else {
        key->take(header_, value);
        value.expect_end();
      }
    } catch (const InputError& e) {
      Diagnostic d = e.diagnostic;
      d.source = fault_at({}, 0, 0, line, {}).source;
      faults_.push_back(std::move(d));
    }
  }

  Result<TraceHeader> finish() {
    std::vector<std::string> missing;
    for (const Key& k : keys())
      if (seen_.count(k.name) == 0) missing.emplace_back(k.name);
    for (auto& [name, fault] : suspects_) {
      const std::string near = near_miss(name, missing);
      if (near.empty()) {
        header_.unknown.push_back("header key '" + name.substr(0, 60) + "'");
        continue;
      }
      fault.hint = "did you mean '" + near + "'?";
      fault.length = static_cast<unsigned>(std::min<std::size_t>(name.size(), 60));
      faults_.push_back(std::move(fault));
    }
    for (const Key& k : keys())
      if (k.required && seen_.count(k.name) == 0)
        faults_.push_back(fault_at(lines_.path(), 0, 0, {},
                                   std::string("the header lacks '-") + k.name + " = '",
                                   "is this a kernel trace?"));
    if (!faults_.empty()) return std::move(faults_);
    return std::move(header_);
  }

  void add(std::string_view line, std::size_t column, std::string message, std::size_t length) {
    faults_.push_back(fault_at(lines_.path(), lines_.number(), column, line, std::move(message), {}, length));
  }

 private:
  const LineReader& lines_;
  TraceHeader header_;
  std::set<std::string> seen_;
  std::vector<std::pair<std::string, Diagnostic>> suspects_;
  Diagnostics faults_;
};

}  // namespace

Result<TraceHeader> read_header(LineReader& lines, std::string& first_body_line) {
  HeaderReader reader(lines);
  std::string_view line;
  first_body_line.clear();
  for (unsigned n = 0; n < kMaxHeaderLines && lines.next(line); ++n) {
    const std::string_view text = trimmed(line);
    if (text.empty()) continue;
    if (text.front() == '-') {
      reader.take(text);
    } else if (text.substr(0, 14) == "#traces format") {
      break;
    } else if (text.front() == '#' || text.substr(0, 6) == "thread") {
      first_body_line = std::string(text);
      break;
    } else {
      reader.add(text, 1, "expected a header line '-key = value' or '#traces format'", text.size());
      break;
    }
  }
  return reader.finish();
}

}  // namespace warpline::sass
