// What is kept of a run beside its counters: a profile, and figures over time.

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "platform/sweep/result_statement.h"
#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

using nlohmann::json;

/// Of zstd: series are written once, and small ones.
constexpr int kCompression = 9;
/// What a series may come to when it is unpacked: as much as a run may write.
constexpr std::uint64_t kMostSeries = std::uint64_t{1} << 30U;

constexpr const char* kMemoryCounts[] = {"accesses", "bytes", "sectors"};
constexpr const char* kAnsweringLevels[] = {"first_level", "l2", "dram", "link"};
constexpr const char* kSharedCounts[] = {"shared_passes", "shared_conflicts"};

/// A line of a kernel, as profiles name it.
struct SourceLine {
  std::string place, text, cuda, cuda_text;
  [[nodiscard]] bool operator<(const SourceLine& other) const {
    return std::tie(place, text, cuda, cuda_text) <
           std::tie(other.place, other.text, other.cuda, other.cuda_text);
  }
};

/// What its instructions did.
struct LineCounts {
  std::map<std::string, std::uint64_t> counts, stalls;
  void add(const json& line) {
    for (const char* const key : {"issued", "lanes"}) counts[key] += line.value(key, std::uint64_t{0});
    for (const auto& [reason, cycles] : line.at("stalls").items())
      stalls[reason] += cycles.get<std::uint64_t>();
    const auto memory = line.find("memory");
    if (memory == line.end()) return;
    for (const char* const key : kMemoryCounts) counts[key] += memory->at(key).get<std::uint64_t>();
    for (const char* const key : kAnsweringLevels)
      counts[key] += memory->at("answered").at(key).get<std::uint64_t>();
    for (const char* const key : kSharedCounts) counts[key] += memory->at(key).get<std::uint64_t>();
    counts["latency"] += memory->at("latency").at("total").get<std::uint64_t>();
  }
};

std::string unpacked(std::string_view packed, std::uint64_t bytes) {
  if (bytes > kMostSeries) throw StoreError{"has a series of too many bytes"};
  std::string out(bytes, '\0');
  const std::size_t made = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(made) != 0 || made != bytes) throw StoreError{"has a series that is damaged"};
  return out;
}

/// The line that `text` begins with, without its end; `text` goes on behind it.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Of a row of CSV, each as it stands there: with its quotes.
std::vector<std::string_view> fields_of(std::string_view row) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t n = 0; n <= row.size(); ++n) {
    if (n < row.size() && row[n] == '"') quoted = !quoted;
    if (n < row.size() && (quoted || row[n] != ',')) continue;
    out.push_back(row.substr(begin, n - begin));
    begin = n + 1;
  }
  return out;
}

}  // namespace

void append_row(std::string& out, const std::vector<std::string>& fields) {
  for (std::size_t n = 0; n < fields.size(); ++n) {
    if (n != 0) out += ',';
    if (fields[n].find_first_of(",\"\r\n") == std::string::npos) {
      out += fields[n];
      continue;
    }
    out += '"';
    for (const char c : fields[n]) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    out += '"';
  }
  out += '\n';
}

namespace {

/// Adds all rows of a statement.
template <class Statement>
void append_rows(std::string& out, Statement& rows) {
  while (rows.step()) {
    std::vector<std::string> row;
    for (int n = 0; n < rows.columns(); ++n) row.push_back(rows.text(n));
    append_row(out, row);
  }
}

}  // namespace

/// Instructions of one line are together, and so are kernels of one name.
void ResultStore::add_profile(std::int64_t row, const std::string& text) {
  const json profile = json::parse(text);
  std::map<std::string, std::map<SourceLine, LineCounts>> kernels;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> warps;
  for (const json& k : profile.at("kernels")) {
    const auto name = k.at("name").get<std::string>();
    warps[name].first += k.at("warps").get<std::uint64_t>();
    warps[name].second += k.at("warp_cycles").get<std::uint64_t>();
    for (const json& line : k.at("lines"))
      kernels[name][{line.at("where").get<std::string>(), line.value("text", std::string{}),
                     line.value("cuda", std::string{}), line.value("cuda_text", std::string{})}]
          .add(line);
  }
  const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
  Statement kernel = prepare("INSERT INTO profiled_kernels VALUES(?, ?, ?, ?)");
  Statement known = prepare(
      "SELECT id FROM source_lines WHERE kernel = ? AND place = ? AND text = ? AND cuda = ? AND cuda_text = "
      "?");
  Statement source =
      prepare("INSERT INTO source_lines(kernel, place, text, cuda, cuda_text) VALUES(?, ?, ?, ?, ?)");
  Statement counts = prepare("INSERT INTO profile_lines VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  Statement stall = prepare("INSERT INTO stalls VALUES(?, ?, ?, ?)");
  for (auto& [name, of] : warps) {
    const std::int64_t k = kernel_number(name);
    kernel.with(row, k, number(of.first), number(of.second)).step();
    for (auto& [place, line] : kernels[name]) {
      std::int64_t id = 0;
      if (known.with(k, place.place, place.text, place.cuda, place.cuda_text).step()) {
        id = known.number(0);
      } else {
        source.with(k, place.place, place.text, place.cuda, place.cuda_text).step();
        id = sqlite3_last_insert_rowid(database_);
      }
      const auto c = [&counted = line.counts, &number](const char* key) { return number(counted[key]); };
      counts
          .with(row, id, c("issued"), c("lanes"), c("accesses"), c("bytes"), c("sectors"), c("first_level"),
                c("l2"), c("dram"), c("link"), c("shared_passes"), c("shared_conflicts"), c("latency"))
          .step();
      for (const auto& [reason, cycles] : line.stalls)
        if (cycles != 0) stall.with(row, id, reason, number(cycles)).step();
    }
  }
}

void ResultStore::add_series(std::int64_t row, std::uint64_t every, const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  const std::size_t made =
      ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), kCompression);
  if (ZSTD_isError(made) != 0) throw StoreError{std::string("a series: ") + ZSTD_getErrorName(made)};
  prepare("INSERT INTO series VALUES(?, ?, ?, ?)")
      .with(row, static_cast<std::int64_t>(every), static_cast<std::int64_t>(text.size()),
            std::string_view(packed).substr(0, made))
      .step();
}

std::string ResultStore::series_of(std::size_t point) const {
  Statement s = prepare("SELECT bytes, csv FROM series WHERE point = ?");
  if (!s.with(static_cast<std::int64_t>(point)).step()) return {};
  return unpacked(s.blob(1), static_cast<std::uint64_t>(s.number(0)));
}

std::string ResultStore::stalls_csv() const {
  std::string out = "point,workload,kernel,place,text,cuda,cuda_text,reason,warp_cycles\n";
  Statement s = prepare(
      "SELECT point, workload, kernels.name, place, text, cuda, cuda_text, stalls.reason, warp_cycles FROM "
      "stalls "
      "JOIN runs USING (point) JOIN source_lines ON source_lines.id = line JOIN kernels ON kernels.id = "
      "kernel ORDER BY point, line, stalls.reason");
  append_rows(out, s);
  return out;
}

std::string ResultStore::lines_csv() const {
  std::string out =
      "point,workload,kernel,place,text,cuda,cuda_text,issued,lanes,accesses,bytes,sectors,first_level,l2,"
      "dram,link,shared_passes,shared_conflicts,latency,stalled\n";
  Statement s = prepare(
      "SELECT point, workload, kernels.name, place, text, cuda, cuda_text, issued, lanes, accesses, bytes, "
      "sectors, first_level, l2, dram, link, shared_passes, shared_conflicts, latency, "
      "(SELECT coalesce(sum(warp_cycles), 0) FROM stalls WHERE stalls.point = profile_lines.point AND "
      "stalls.line = profile_lines.line AND stalls.reason <> 'selected') FROM profile_lines "
      "JOIN runs USING (point) JOIN source_lines ON source_lines.id = line JOIN kernels ON kernels.id = "
      "kernel ORDER BY point, line");
  append_rows(out, s);
  return out;
}

std::string ResultStore::series_csv() const {
  const auto each = [this](const auto& take) {
    Statement s =
        prepare("SELECT point, workload, bytes, csv FROM series JOIN runs USING (point) ORDER BY point");
    while (s.step()) take(s, unpacked(s.blob(3), static_cast<std::uint64_t>(s.number(2))));
  };
  // A GPU without a kind of block has no columns of it.
  std::vector<std::string> columns = {"launch", "kernel", "first", "last"};
  each([&columns](const Statement&, const std::string& csv) {
    std::string_view text = csv;
    for (const std::string_view name : fields_of(next_line(text)))
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.emplace_back(name);
  });
  std::string out = "point,workload," + joined(columns, ",") + "\n";
  each([&columns, &out](const Statement& s, const std::string& csv) {
    std::string_view text = csv;
    std::string begin;
    append_row(begin, {s.text(0), s.text(1)});
    begin.pop_back();
    std::vector<std::size_t> places;  // of each of its columns
    for (const std::string_view name : fields_of(next_line(text)))
      places.push_back(
          static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin()));
    while (!text.empty()) {
      const std::vector<std::string_view> fields = fields_of(next_line(text));
      std::vector<std::string_view> row(columns.size());
      for (std::size_t n = 0; n < std::min(fields.size(), places.size()); ++n) row[places[n]] = fields[n];
      out += begin;
      for (const std::string_view field : row) out.append(1, ',').append(field);
      out += '\n';
    }
  });
  return out;
}

}  // namespace warpline::sweep
