#include "platform/profile/profile_file.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30U;
constexpr std::uint64_t kMostSource = std::uint64_t{1} << 26U;
constexpr int kVersion = 1;
constexpr std::array<const char*, kAnsweredBy> kLevelNames{"first_level", "l2", "dram", "link"};

/// "path:line"; nothing: it is no place in a file.
std::optional<std::pair<std::string, std::size_t>> place_of(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  if (colon == std::string::npos || colon + 1 == where.size()) return std::nullopt;
  std::size_t line = 0;
  for (std::size_t n = colon + 1; n < where.size(); ++n) {
    if (!is_digit(where[n]) || line > kMostSource) return std::nullopt;
    line = line * 10 + static_cast<std::size_t>(where[n] - '0');
  }
  return std::pair{where.substr(0, colon), line};
}

/// Programs, read once each, and what their `.loc` directives say.
class Sources {
 public:
  struct Line {
    std::string text, cuda, cuda_text;
  };
  explicit Sources(const std::map<std::string, std::string>& texts) {
    for (const auto& [name, text] : texts) read(programs_[name], text, true);
  }
  [[nodiscard]] Line at(const std::string& where) {
    const auto place = place_of(where);
    if (!place) return {};
    const Program& p = program(place->first);
    if (place->second == 0 || place->second > p.lines.size()) return {};
    Line out{p.lines[place->second - 1], p.cuda[place->second - 1], {}};
    if (const auto cuda = place_of(out.cuda)) {
      // As the PTX names it: from the folder that it lies in, if not from the root.
      const std::size_t slash = cuda->first.front() == '/' ? std::string::npos : place->first.rfind('/');
      const std::string path =
          (slash == std::string::npos ? std::string{} : place->first.substr(0, slash + 1)) + cuda->first;
      const std::vector<std::string>& lines = program(path).lines;
      if (cuda->second != 0 && cuda->second <= lines.size()) out.cuda_text = lines[cuda->second - 1];
    }
    return out;
  }

 private:
  struct Program {
    std::vector<std::string> lines;
    std::vector<std::string> cuda;  ///< of each line
  };
  const Program& program(const std::string& path) {
    const auto [known, fresh] = programs_.try_emplace(path);
    if (!fresh) return known->second;
    Program& p = known->second;
    const Result<std::string> text = read_file(path, kMostSource);
    if (!text.ok()) return p;
    read(p, text.value(), ends_with(path, ".ptx"));
    return p;
  }
  static void read(Program& p, std::string_view text, bool is_ptx) {
    for (const std::string_view line : split(text, '\n')) p.lines.emplace_back(trimmed(line));
    p.cuda.resize(p.lines.size());
    if (is_ptx) follow_locations(p);
  }
  /// PTX ISA, `.loc`: the instructions that follow it come from that line of that `.file`. Files may be
  /// declared behind their uses.
  static void follow_locations(Program& p) {
    const auto words = [](const std::string& line) {
      std::istringstream in(line);
      return std::vector<std::string>(std::istream_iterator<std::string>(in), {});
    };
    std::map<std::string, std::string> files;
    for (const std::string& line : p.lines) {
      if (line.rfind(".file", 0) != 0) continue;
      const std::size_t from = line.find('"'), to = line.rfind('"');
      const std::vector<std::string> w = words(line.substr(0, from));
      if (w.size() >= 2 && to != std::string::npos && to > from)
        files[w[1]] = line.substr(from + 1, to - from - 1);
    }
    std::string now;
    for (std::size_t n = 0; n < p.lines.size(); ++n) {
      if (p.lines[n].rfind(".loc", 0) == 0) {
        now = location(words(p.lines[n]), files);
      } else if (p.lines[n] == "}") {
        now.clear();
      }
      p.cuda[n] = now;
    }
  }
  /// `.loc FILE LINE COLUMN, function_name NAME, inlined_at FILE LINE COLUMN`, the latter parts of what is
  /// inlined. What comes from a header of CUDA's counts for the line that uses it. Line 0 is none.
  static std::string location(const std::vector<std::string>& w,
                              const std::map<std::string, std::string>& files) {
    const auto at = [&](std::size_t n) {
      const auto file = n + 1 < w.size() ? files.find(w[n]) : files.end();
      return file == files.end() || w[n + 1] == "0" ? std::string{} : file->second + ":" + w[n + 1];
    };
    const std::string own = at(1);
    const auto inlined = std::find(w.begin(), w.end(), "inlined_at");
    const bool in_cuda = own.find("cuda") != std::string::npos && own.find("/include/") != std::string::npos;
    return inlined == w.end() || !in_cuda ? own : at(static_cast<std::size_t>(inlined - w.begin()) + 1);
  }
  std::map<std::string, Program> programs_;
};

Json memory_json(const InstructionProfile::Memory& m) {
  Json answered, histogram = Json::array();
  for (std::size_t n = 0; n < kAnsweredBy; ++n) answered[kLevelNames[n]] = m.answered[n];
  m.latency.for_each([&](std::uint64_t first, std::uint64_t last, std::uint64_t count) {
    histogram.push_back({first, last, count});
  });
  return {{"accesses", m.accesses},
          {"lanes", m.lanes},
          {"bytes", m.lane_bytes},
          {"lines", m.lines},
          {"sectors", m.sectors},
          {"answered", std::move(answered)},
          {"shared_passes", m.shared_passes},
          {"shared_conflicts", m.shared_conflicts},
          {"latency",
           {{"total", m.latency.total()},
            {"p95", m.latency.percentile(95)},
            {"most", m.latency.most()},
            {"histogram", std::move(histogram)}}}};
}

/// What a file of another making may lack.
std::uint64_t number_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}
std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string{};
}
std::map<std::string, std::uint64_t> numbers_in(const Json& object, const char* key) {
  std::map<std::string, std::uint64_t> out;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object()) return out;
  for (const auto& [name, value] : found->items())
    if (value.is_number_unsigned()) out[name] = value.get<std::uint64_t>();
  return out;
}

ProfileLine line_of(const Json& read) {
  ProfileLine line;
  line.where = text_in(read, "where");
  line.text = text_in(read, "text");
  line.cuda = text_in(read, "cuda");
  line.cuda_text = text_in(read, "cuda_text");
  line.issued = number_in(read, "issued");
  line.lanes = number_in(read, "lanes");
  line.stalls = numbers_in(read, "stalls");
  const auto memory = read.find("memory");
  if (memory == read.end() || !memory->is_object()) return line;
  ProfileLine::Memory& m = line.memory;
  m.accesses = number_in(*memory, "accesses");
  m.bytes = number_in(*memory, "bytes");
  m.sectors = number_in(*memory, "sectors");
  m.answered = numbers_in(*memory, "answered");
  m.shared_passes = number_in(*memory, "shared_passes");
  m.shared_conflicts = number_in(*memory, "shared_conflicts");
  if (const auto latency = memory->find("latency"); latency != memory->end() && latency->is_object()) {
    m.latency = number_in(*latency, "total");
    if (const auto classes = latency->find("histogram"); classes != latency->end() && classes->is_array())
      for (const Json& c : *classes)
        if (c.is_array() && c.size() == 3 && c[1].is_number_unsigned() && c[2].is_number_unsigned())
          m.latencies[c[1].get<std::uint64_t>()] += c[2].get<std::uint64_t>();
  }
  if (m.sectors != 0) {
    m.asking = m.accesses;
    m.asking_bytes = m.bytes;
  }
  if (m.shared_passes != 0) m.shared = m.accesses;
  return line;
}

}  // namespace

void ProfileLine::Memory::add(const Memory& other) {
  accesses += other.accesses;
  bytes += other.bytes;
  sectors += other.sectors;
  for (const auto& [level, count] : other.answered) answered[level] += count;
  shared_passes += other.shared_passes;
  shared_conflicts += other.shared_conflicts;
  latency += other.latency;
  for (const auto& [most, count] : other.latencies) latencies[most] += count;
  asking += other.asking;
  asking_bytes += other.asking_bytes;
  shared += other.shared;
}

std::uint64_t ProfileLine::Memory::percentile(unsigned percent) const {
  std::uint64_t left = (accesses * percent + 99) / 100;
  for (const auto& [most, count] : latencies) {
    if (count >= left) return most;
    left -= count;
  }
  return 0;
}

std::uint64_t ProfileLine::stalled() const {
  std::uint64_t sum = 0;
  for (const auto& [reason, cycles] : stalls)
    if (reason != name_of(StallReason::selected)) sum += cycles;
  return sum;
}

std::string profile_text(const std::vector<KernelProfile>& kernels, const std::string& gpu,
                         const std::string& transport, const std::map<std::string, std::string>& texts) {
  Sources sources(texts);
  Json out{{"warpline_profile", kVersion}, {"gpu", gpu}, {"transport", transport}};
  Json& list = out["kernels"] = Json::array();
  for (const KernelProfile& kernel : kernels) {
    std::array<std::uint64_t, kStallReasons> all{};
    Json rows = Json::array();
    const auto stalls_json = [](const std::array<std::uint64_t, kStallReasons>& stalls) {
      Json stall = Json::object();
      for (std::size_t n = 0; n < kStallReasons; ++n)
        if (stalls[n] != 0) stall[kStallReasonTexts[n].name] = stalls[n];
      return stall;
    };
    for (const KernelProfile::Row& row : kernel.rows) {
      const InstructionProfile& p = row.profile;
      const Sources::Line source = sources.at(row.where);
      Json line{{"where", row.where}, {"pc", row.pc}};
      if (!source.text.empty()) line["text"] = source.text;
      if (!source.cuda.empty()) line["cuda"] = source.cuda;
      if (!source.cuda_text.empty()) line["cuda_text"] = source.cuda_text;
      line["issued"] = p.issued;
      line["lanes"] = p.lanes;
      line["stalls"] = stalls_json(p.stalls);
      for (std::size_t n = 0; n < kStallReasons; ++n) all[n] += p.stalls[n];
      if (p.memory != nullptr) line["memory"] = memory_json(*p.memory);
      rows.push_back(std::move(line));
    }
    list.push_back({{"name", kernel.name},
                    {"warps", kernel.warps},
                    {"warp_cycles", kernel.warp_cycles},
                    {"stalls", stalls_json(all)},
                    {"lines", std::move(rows)}});
  }
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ProfileFile> read_profile(const std::string& path) {
  const Result<std::string> text = read_file(path, kMostBytes);
  if (!text.ok()) return text.faults();
  const Json read = Json::parse(text.value(), nullptr, false);
  if (!read.is_object() || !read.contains("warpline_profile") || !read.contains("kernels") ||
      !read["kernels"].is_array())
    return Diagnostic::about(path, "is no profile", "`warpline run ... --profile FILE` writes one");
  if (read["warpline_profile"] != kVersion)
    return Diagnostic::about(path, "is a profile of another version than " + std::to_string(kVersion),
                             "`warpline run ... --profile FILE` writes it anew");
  ProfileFile out;
  for (const Json& k : read["kernels"]) {
    if (!k.is_object()) continue;
    ProfiledKernel& kernel = out.kernels.emplace_back();
    kernel.name = text_in(k, "name");
    kernel.warps = number_in(k, "warps");
    kernel.warp_cycles = number_in(k, "warp_cycles");
    kernel.stalls = numbers_in(k, "stalls");
    if (const auto lines = k.find("lines"); lines != k.end() && lines->is_array())
      for (const Json& line : *lines)
        if (line.is_object()) kernel.lines.push_back(line_of(line));
  }
  return out;
}

}  // namespace warpline
