#include "platform/sweep/result_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unordered_map>

#include "platform/config/config_entries.h"
#include "platform/config/load_gpu.h"
#include "platform/report/run_statistics.h"
#include "platform/sweep/result_statement.h"
#include "platform/sweep/sweep.h"
#include "rtl_models/base/sha256.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

namespace warpline::sweep {
namespace {

using nlohmann::json;

/// Of the tables; a file of another version is refused.
constexpr const char* kSchema = "3";

constexpr const char* kTables = R"SQL(
CREATE TABLE study(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE configurations(id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, keys TEXT NOT NULL);
CREATE TABLE runs(
  point INTEGER PRIMARY KEY, workload TEXT NOT NULL, gpu TEXT NOT NULL, settings TEXT NOT NULL,
  outcome TEXT NOT NULL, reason TEXT NOT NULL, exit_status INTEGER NOT NULL, cycles INTEGER, time_ns REAL,
  wall_s REAL NOT NULL, cpu_s REAL NOT NULL, peak_bytes INTEGER NOT NULL, finished_at TEXT NOT NULL,
  warpline TEXT, configuration INTEGER REFERENCES configurations, options TEXT, command TEXT, files TEXT);
CREATE TABLE counter_names(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, total INTEGER NOT NULL, unit TEXT NOT NULL,
  description TEXT NOT NULL);
CREATE TABLE counters(
  point INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, counter INTEGER NOT NULL, value INTEGER NOT NULL,
  PRIMARY KEY(point, counter)) WITHOUT ROWID;
CREATE TABLE launches(
  point INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, number INTEGER NOT NULL, kernel TEXT NOT NULL,
  outcome TEXT NOT NULL, cycles INTEGER NOT NULL, PRIMARY KEY(point, number)) WITHOUT ROWID;
CREATE TABLE kernels(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE kernel_counters(
  point INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, kernel INTEGER NOT NULL REFERENCES kernels,
  counter INTEGER NOT NULL, value INTEGER NOT NULL, PRIMARY KEY(point, kernel, counter)) WITHOUT ROWID;
CREATE TABLE profiled_kernels(
  point INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, kernel INTEGER NOT NULL REFERENCES kernels,
  warps INTEGER NOT NULL, warp_cycles INTEGER NOT NULL, PRIMARY KEY(point, kernel)) WITHOUT ROWID;
CREATE TABLE source_lines(
  id INTEGER PRIMARY KEY, kernel INTEGER NOT NULL REFERENCES kernels, place TEXT NOT NULL, text TEXT NOT NULL,
  cuda TEXT NOT NULL, cuda_text TEXT NOT NULL, UNIQUE(kernel, place, text, cuda, cuda_text));
CREATE TABLE profile_lines(
  point INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, line INTEGER NOT NULL REFERENCES source_lines,
  issued INTEGER NOT NULL, lanes INTEGER NOT NULL, accesses INTEGER NOT NULL, bytes INTEGER NOT NULL,
  sectors INTEGER NOT NULL, first_level INTEGER NOT NULL, l2 INTEGER NOT NULL, dram INTEGER NOT NULL,
  link INTEGER NOT NULL, shared_passes INTEGER NOT NULL, shared_conflicts INTEGER NOT NULL,
  latency INTEGER NOT NULL, PRIMARY KEY(point, line)) WITHOUT ROWID;
CREATE TABLE stalls(
  point INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, line INTEGER NOT NULL REFERENCES source_lines,
  reason TEXT NOT NULL, warp_cycles INTEGER NOT NULL, PRIMARY KEY(point, line, reason)) WITHOUT ROWID;
CREATE TABLE series(
  point INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE, every INTEGER NOT NULL, bytes INTEGER NOT NULL,
  csv BLOB NOT NULL);
CREATE VIEW counted AS
  SELECT point, path, value, unit FROM counters JOIN counter_names ON id = counter WHERE total = 1;
)SQL";

/// For so long somebody who writes the file is waited for.
constexpr unsigned kLockTries = 50, kLockPause = 20'000;  // microseconds

/// Files of more are not looked at again.
constexpr std::uint64_t kMostFileBytes = std::uint64_t{1} << 30U;

/// A program's report has its kernels: their sums are those of the run, and each is as one launch of it.
json sums_of(const json& report) {
  json counters = json::object(), launches = json::array();
  std::uint64_t cycles = 0;
  double time_ns = 0;
  for (const json& kernel : report.at("kernels")) {
    // One that was never timed has no cycles, and counted for nobody.
    if (kernel.value("timed", std::uint64_t{1}) == 0) continue;
    cycles += kernel.value("cycles", std::uint64_t{0});
    time_ns += kernel.value("time_ns", 0.0);
    json own = json::object();
    for (const auto& [path, value] : kernel.at("counters").items()) {
      json& sum = counters[path]["value"];
      sum = (sum.is_null() ? 0 : sum.get<std::uint64_t>()) + value.get<std::uint64_t>();
      own[path]["value"] = value;
    }
    launches.push_back({{"kernel", kernel.value("name", std::string{})},
                        {"outcome", "done"},
                        {"cycles", kernel.value("cycles", std::uint64_t{0})},
                        {"counters", std::move(own)}});
  }
  return {{"counters", std::move(counters)},
          {"cycles", cycles},
          {"time_ns", time_ns},
          {"launches", std::move(launches)}};
}

/// Of a run that wrote no statistics, and of what nobody describes.
const json kNothing = json::object();

/// A program's report does not say which GPU it ran on, key by key, as statistics do.
void add_configuration(json& statistics, const Point& point) {
  std::vector<std::string> settings;
  for (const auto& [key, value] : point.settings) settings.push_back(key + "=" + value);
  const Result<GpuConfig> gpu = load_gpu(point.gpu, settings);
  if (!gpu.ok()) return;
  std::string text;
  json keys = json::object();
  for (const ConfigEntry& e : config_entries(gpu.value())) {
    if (e.value.empty()) continue;
    text += e.path() + " = " + e.value + "\n";
    // TOML writes values as JSON does, but for some numbers.
    json value = json::parse(e.value, nullptr, false);
    keys[e.path()] = value.is_discarded() ? json(e.value) : std::move(value);
  }
  statistics["configuration"] = std::move(keys);
  statistics["configuration_sha256"] = sha256_of(text);
}

/// Of what a run writes, what is text: a table has text for it.
std::string dumped(const json& of, const char* key) {
  const auto found = of.find(key);
  return found == of.end() ? std::string{} : found->dump();
}

}  // namespace

bool ResultStore::Row::is_null(int column) const {
  return at_.is_null(column);
}

std::int64_t ResultStore::Row::number(int column) const {
  return at_.number(column);
}

double ResultStore::Row::real(int column) const {
  return at_.real(column);
}

std::string ResultStore::Row::text(int column) const {
  return at_.text(column);
}

void ResultStore::ask(const char* sql, const std::function<void(const Row& row)>& take) const {
  Statement s = prepare(sql);
  while (s.step()) take(Row(s));
}

void ResultStore::hold_still() const {
  if (sqlite3_get_autocommit(database_) == 0) return;
  run("BEGIN");
  ask("SELECT count(*) FROM study", [](const Row&) {});  // a transaction begins with its first question
}

bool ResultStore::somebody_writes(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool taken = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return taken;
}

ResultStore::Statement ResultStore::prepare(const char* sql) const {
  return Statement(database_, sql);
}

/// One that is prepared once, of a text that stays where it is. It asks for no rows: what is not read to its
/// end would hold the file.
ResultStore::Statement& ResultStore::kept(const char* sql) {
  std::unique_ptr<Statement>& statement = names_->statements[sql];
  if (statement == nullptr) statement = std::make_unique<Statement>(database_, sql);
  return *statement;
}

void ResultStore::run(const char* sql) const {
  if (sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    throw StoreError{sqlite3_errmsg(database_)};
}

ResultStore::ResultStore(const std::string& path, Access access) : names_(std::make_unique<Names>()) {
  const bool writes = access == Access::write;
  std::error_code error;
  if (!writes && !std::filesystem::exists(path, error)) throw StoreError{"there is no such file"};
  if (std::filesystem::is_directory(path, error)) throw StoreError{"is a folder"};
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    throw StoreError{"is no plain file"};
  if (writes) {
    // SQLite lets several write by turns; a study is worked on by one.
    lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock_ < 0) throw StoreError{std::strerror(errno)};
    // The runs of one that was killed may live on for a moment, and have its files.
    int locked = -1;
    for (unsigned n = 0; n < kLockTries && (locked = ::flock(lock_, LOCK_EX | LOCK_NB)) != 0; ++n)
      ::usleep(kLockPause);
    if (locked != 0) {
      ::close(lock_);
      lock_ = -1;
      throw StoreError{"another `warpline sweep` writes it"};
    }
  }
  try {
    const int flags = writes ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    const std::filesystem::path whole = std::filesystem::absolute(path, error);  // ":memory:" is a file, too
    const int state = sqlite3_open_v2((error ? path : whole.string()).c_str(), &database_, flags, nullptr);
    if (state != SQLITE_OK) throw StoreError{sqlite3_errmsg(database_)};
    sqlite3_busy_timeout(database_, 10'000);  // somebody who reads
    bool has_tables = false;
    {
      Statement s = prepare("SELECT count(*) FROM sqlite_master");
      s.step();
      has_tables = s.number(0) != 0;
    }
    if (has_tables || !writes) {
      if (told("schema").empty()) throw StoreError{"is no file of results of `warpline sweep`"};
      if (told("schema") != kSchema)
        throw StoreError{"has tables of version " + told("schema") + ", and this is " + kSchema +
                         ": run the study into another file"};
    }
    if (writes) run("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;");
    if (!has_tables && writes) {
      run("BEGIN IMMEDIATE");
      in_transaction_ = true;
      run(kTables);
      prepare("INSERT INTO study VALUES('schema', ?)").with(std::string(kSchema)).step();
      commit();
    }
  } catch (const StoreError& e) {
    sqlite3_close(database_);
    if (lock_ >= 0) ::close(lock_);
    throw StoreError{e.what};
  }
}

ResultStore::~ResultStore() {
  names_.reset();  // SQLite closes no file that has statements
  if (in_transaction_) sqlite3_exec(database_, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_close(database_);
  if (lock_ >= 0) ::close(lock_);
}

void ResultStore::begin_transaction() {
  if (in_transaction_) return;
  run("BEGIN IMMEDIATE");
  in_transaction_ = true;
}

void ResultStore::commit() {
  if (!in_transaction_) return;
  run("COMMIT");
  in_transaction_ = false;
}

std::string ResultStore::told(const std::string& what) const {
  Statement tables = prepare("SELECT 1 FROM sqlite_master WHERE name = 'study'");
  if (!tables.step()) return {};
  Statement s = prepare("SELECT value FROM study WHERE key = ?");
  return s.with(what).step() ? s.text(0) : std::string{};
}

std::vector<std::string> ResultStore::metrics() const {
  const std::string text = told("metrics");
  const json read = json::parse(text, nullptr, false);
  std::vector<std::string> out;
  for (const json& metric : read)
    if (metric.is_string()) out.push_back(metric.get<std::string>());
  return out;
}

void ResultStore::begin(const Study& study, const std::string& version) {
  const std::string before = told("text");
  if (!before.empty() && before != study.text)
    throw StoreError{"has the results of a study of another text (\"" + told("name") + "\")"};
  json inputs = json::array();
  for (const Workload& w : study.workloads) inputs.push_back(w.words);
  const std::string now = json{{"gpus", study.gpus}, {"workloads", inputs}}.dump();
  if (const std::string earlier = told("inputs"); !earlier.empty() && earlier != now)
    throw StoreError{"has the results of the same study in another folder: " + told("file")};
  if (const std::string by = told("warpline"); !by.empty() && by != version)
    throw StoreError{"was begun by warpline " + by + ", and this is " + version};
  begin_transaction();
  Statement s = prepare("INSERT OR REPLACE INTO study VALUES(?, ?)");
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::string>>{{"name", study.name},
                                                        {"file", study.file},
                                                        {"text", study.text},
                                                        {"warpline", version},
                                                        {"metrics", json(study.metrics).dump()},
                                                        {"inputs", now}})
    s.with(key, value).step();
  commit();
}

std::vector<std::size_t> ResultStore::done() const {
  Statement s = prepare("SELECT point FROM runs ORDER BY point");
  std::vector<std::size_t> out;
  while (s.step()) out.push_back(static_cast<std::size_t>(s.number(0)));
  return out;
}

void ResultStore::forget_unfinished() {
  begin_transaction();
  run("DELETE FROM runs WHERE outcome IN ('interrupted', 'refused', 'too long', 'lost')");
  commit();
}

std::size_t ResultStore::take_from(const std::string& path, const Study& study, const std::string& version) {
  // Opened as one that goes on with it: what a kill has left there is put in order, and nobody writes
  // meanwhile.
  ResultStore other(path, Access::write);
  other.begin(study, version);
  commit();
  std::error_code unknown;
  prepare("ATTACH DATABASE ? AS part").with(std::filesystem::absolute(path, unknown).string()).step();
  std::size_t rows = 0;
  try {
    begin_transaction();
    rows = take_attached();
    commit();
  } catch (const StoreError& e) {
    sqlite3_exec(database_, "ROLLBACK; DETACH DATABASE part", nullptr, nullptr, nullptr);
    in_transaction_ = false;
    throw StoreError{e.what};
  }
  run("DETACH DATABASE part");
  return rows;
}

/// Numbers of names and configurations are each file's own.
std::size_t ResultStore::take_attached() {
  run(R"SQL(
CREATE TEMP TABLE taken AS
  SELECT new.point FROM part.runs AS new LEFT JOIN main.runs AS old USING (point)
  WHERE old.point IS NULL OR (old.outcome IN ('interrupted', 'refused', 'too long', 'lost')
                              AND new.outcome NOT IN ('interrupted', 'refused', 'too long', 'lost'));
DELETE FROM main.runs WHERE point IN (SELECT point FROM temp.taken);
INSERT OR IGNORE INTO main.configurations(sha256, keys) SELECT sha256, keys FROM part.configurations;
INSERT OR IGNORE INTO main.counter_names(path, total, unit, description)
  SELECT path, total, unit, description FROM part.counter_names;
INSERT OR IGNORE INTO main.kernels(name) SELECT name FROM part.kernels;
INSERT INTO main.runs
  SELECT point, workload, gpu, settings, outcome, reason, exit_status, cycles, time_ns, wall_s, cpu_s, peak_bytes,
    finished_at, warpline,
    (SELECT here.id FROM main.configurations AS here JOIN part.configurations AS there USING (sha256)
     WHERE there.id = configuration),
    options, command, files
  FROM part.runs JOIN temp.taken USING (point);
INSERT INTO main.counters
  SELECT point, here.id, value FROM part.counters JOIN temp.taken USING (point)
    JOIN part.counter_names AS there ON there.id = counter JOIN main.counter_names AS here USING (path);
INSERT INTO main.launches
  SELECT point, number, kernel, outcome, cycles FROM part.launches JOIN temp.taken USING (point);
INSERT INTO main.kernel_counters
  SELECT point, k.id, c.id, value FROM part.kernel_counters JOIN temp.taken USING (point)
    JOIN part.kernels AS pk ON pk.id = kernel JOIN main.kernels AS k ON k.name = pk.name
    JOIN part.counter_names AS pc ON pc.id = counter JOIN main.counter_names AS c ON c.path = pc.path;
INSERT OR IGNORE INTO main.source_lines(kernel, place, text, cuda, cuda_text)
  SELECT k.id, place, text, cuda, cuda_text FROM part.source_lines
    JOIN part.kernels AS pk ON pk.id = kernel JOIN main.kernels AS k ON k.name = pk.name;
CREATE TEMP TABLE line_numbers AS
  SELECT there.id AS there, here.id AS here FROM part.source_lines AS there
    JOIN part.kernels AS pk ON pk.id = there.kernel JOIN main.kernels AS k ON k.name = pk.name
    JOIN main.source_lines AS here ON here.kernel = k.id AND here.place = there.place AND here.text = there.text
      AND here.cuda = there.cuda AND here.cuda_text = there.cuda_text;
INSERT INTO main.profiled_kernels
  SELECT point, k.id, warps, warp_cycles FROM part.profiled_kernels JOIN temp.taken USING (point)
    JOIN part.kernels AS pk ON pk.id = kernel JOIN main.kernels AS k ON k.name = pk.name;
INSERT INTO main.profile_lines
  SELECT point, here, issued, lanes, accesses, bytes, sectors, first_level, l2, dram, link, shared_passes,
    shared_conflicts, latency
  FROM part.profile_lines JOIN temp.taken USING (point) JOIN temp.line_numbers ON there = line;
INSERT INTO main.stalls
  SELECT point, here, reason, warp_cycles FROM part.stalls JOIN temp.taken USING (point)
    JOIN temp.line_numbers ON there = line;
INSERT INTO main.series SELECT point, every, bytes, csv FROM part.series JOIN temp.taken USING (point);
DROP TABLE temp.line_numbers;
)SQL");
  std::size_t rows = 0;
  ask("SELECT count(*) FROM temp.taken",
      [&rows](const Row& row) { rows = static_cast<std::size_t>(row.number(0)); });
  run("DROP TABLE temp.taken");
  return rows;
}

/// `counters`: of a run that has it.
std::int64_t ResultStore::counter_number(const std::string& path, const json& counters) {
  const auto known = names_->counters.find(path);
  if (known != names_->counters.end()) return known->second;
  Statement look = prepare("SELECT id FROM counter_names WHERE path = ?");
  std::int64_t number = 0;
  if (look.with(path).step()) {
    number = look.number(0);
  } else {
    const bool total = path.find('[') == std::string::npos;
    // What blocks count is what their total does, which alone says so.
    const auto said = [&](const char* what) -> std::string {
      for (const std::string& name : {path, total_path(path)})
        if (const auto has = counters.find(name); has != counters.end() && has->contains(what))
          return has->at(what);
      return {};
    };
    prepare("INSERT INTO counter_names(path, total, unit, description) VALUES(?, ?, ?, ?)")
        .with(path, std::int64_t{total}, said("unit"), said("description"))
        .step();
    number = sqlite3_last_insert_rowid(database_);
  }
  return names_->counters[path] = number;
}

std::int64_t ResultStore::configuration_number(const std::string& sha256, const json& statistics) {
  const auto known = names_->configurations.find(sha256);
  if (known != names_->configurations.end()) return known->second;
  prepare("INSERT OR IGNORE INTO configurations(sha256, keys) VALUES(?, ?)")
      .with(sha256, dumped(statistics, "configuration"))
      .step();
  Statement look = prepare("SELECT id FROM configurations WHERE sha256 = ?");
  look.with(sha256).step();
  return names_->configurations[sha256] = look.number(0);
}

std::int64_t ResultStore::kernel_number(const std::string& name) {
  const auto known = names_->kernels.find(name);
  if (known != names_->kernels.end()) return known->second;
  prepare("INSERT OR IGNORE INTO kernels(name) VALUES(?)").with(name).step();
  Statement look = prepare("SELECT id FROM kernels WHERE name = ?");
  look.with(name).step();
  return names_->kernels[name] = look.number(0);
}

void ResultStore::add(const Study& study, const Point& point, const PointResult& result) {
  begin_transaction();
  run("SAVEPOINT row");
  try {
    add_row(study, point, result);
  } catch (const json::exception& e) {
    sqlite3_exec(database_, "ROLLBACK TO row", nullptr, nullptr, nullptr);
    *names_ = {};  // what was numbered since is not any more
    PointResult none = result;
    none.outcome = "refused";
    none.reason = std::string("what it wrote are no statistics: ") + e.what();
    none.statistics = nullptr;
    none.profile.clear();
    none.series.clear();
    add_row(study, point, none);
  }
  run("RELEASE row");
}

void ResultStore::add_row(const Study& study, const Point& point, const PointResult& result) {
  json summed;
  if (result.statistics != nullptr && result.statistics->contains("kernels"))
    summed = sums_of(*result.statistics);
  if (!summed.is_null()) add_configuration(summed, point);
  const json& statistics = !summed.is_null()              ? summed
                           : result.statistics != nullptr ? *result.statistics
                                                          : kNothing;
  json settings = json::object();
  for (const auto& [key, value] : point.settings) settings[key] = value;
  const auto as_number = [&statistics](const char* key) -> std::optional<std::int64_t> {
    const auto v = statistics.find(key);
    return v != statistics.end() && v->is_number() ? std::optional(v->get<std::int64_t>()) : std::nullopt;
  };
  const auto time = statistics.find("time_ns");
  std::optional<double> time_ns;
  if (time != statistics.end() && time->is_number()) time_ns = time->get<double>();
  std::optional<std::int64_t> configuration;
  if (statistics.contains("configuration_sha256"))
    configuration = configuration_number(statistics.at("configuration_sha256"), statistics);
  const auto row = static_cast<std::int64_t>(point.number);
  // Of what others have deleted, too, whose programs need not know what belongs to a run. A file is of one
  // study, and has profiles and series if that asks for them.
  for (const char* sql : {"DELETE FROM counters WHERE point = ?", "DELETE FROM launches WHERE point = ?",
                          "DELETE FROM kernel_counters WHERE point = ?", "DELETE FROM runs WHERE point = ?"})
    kept(sql).with(row).step();
  if (study.profile)
    for (const char* sql :
         {"DELETE FROM profiled_kernels WHERE point = ?", "DELETE FROM profile_lines WHERE point = ?",
          "DELETE FROM stalls WHERE point = ?"})
      kept(sql).with(row).step();
  if (study.sample) kept("DELETE FROM series WHERE point = ?").with(row).step();
  Statement& insert = kept(
      "INSERT INTO runs VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?, "
      "?, ?, "
      "?, ?)");
  insert
      .with(row, study.workloads[point.workload].name, point.gpu, settings.dump(), result.outcome,
            result.reason, std::int64_t{result.exit_status}, as_number("cycles"), time_ns, result.wall_s,
            result.cpu_s, static_cast<std::int64_t>(result.peak_bytes), told("warpline"), configuration,
            dumped(statistics, "options"),
            statistics.contains("command")
                ? dumped(statistics, "command")
                : json(Sweep::words_of(study, point, ChildRun::statistics_path())).dump(),
            dumped(statistics, "files"))
      .step();
  if (const auto counters = statistics.find("counters"); counters != statistics.end()) {
    Statement& count = kept("INSERT INTO counters VALUES(?, ?, ?)");
    for (const auto& [path, of] : counters->items()) {
      if (!study.instances && path.find('[') != std::string::npos) continue;
      const auto value = of.at("value").get<std::uint64_t>();
      // Zeros are not written: of the counters of all blocks, most runs change few.
      if (value == 0 && path.find('[') != std::string::npos) continue;
      const std::int64_t number = counter_number(path, *counters);
      if (value == 0) continue;
      count.with(row, number, static_cast<std::int64_t>(value)).step();
    }
  }
  if (const auto launches = statistics.find("launches"); launches != statistics.end())
    add_launches(row, *launches);
  if (!result.profile.empty()) add_profile(row, result.profile);
  if (!result.series.empty()) add_series(row, study.sample.value_or(0), result.series);
}

void ResultStore::add_launches(std::int64_t row, const json& launches) {
  Statement& launch = kept("INSERT INTO launches VALUES(?, ?, ?, ?, ?)");
  std::int64_t number = 0;
  // The launches of a kernel are counted together: a program may have many thousands.
  std::map<std::string, std::map<std::string, std::uint64_t>> sums;
  for (const json& l : launches) {
    // One that was fast-forwarded over has neither a time of its own nor a part in what the run counted.
    if (l.value("fast_forwarded", false)) continue;
    const std::string kernel = l.value("kernel", std::string{});
    launch
        .with(row, number++, kernel, l.value("outcome", std::string{}),
              static_cast<std::int64_t>(l.value("cycles", std::uint64_t{0})))
        .step();
    auto& sum = sums[kernel];
    if (const auto counters = l.find("counters"); counters != l.end())
      for (const auto& [path, of] : counters->items())
        if (path.find('[') == std::string::npos) sum[path] += of.at("value").get<std::uint64_t>();
  }
  if (sums.size() < 2) return;  // what the run has counted is of its one kernel
  Statement& count = kept("INSERT INTO kernel_counters VALUES(?, ?, ?, ?)");
  for (const auto& [kernel, counters] : sums)
    for (const auto& [path, value] : counters)
      if (value != 0)
        count
            .with(row, kernel_number(kernel), counter_number(path, kNothing),
                  static_cast<std::int64_t>(value))
            .step();
}

const std::vector<std::string>& ResultStore::figures() {
  static const std::vector<std::string> kFigures = {"cycles", "time_ns", "wall_s", "cpu_s", "peak_bytes"};
  return kFigures;
}

std::vector<std::string> ResultStore::totals() const {
  Statement s = prepare("SELECT path FROM counter_names WHERE total = 1 ORDER BY path");
  std::vector<std::string> out;
  while (s.step()) out.push_back(s.text(0));
  return out;
}

std::vector<std::string> ResultStore::changed_files() const {
  Statement s = prepare("SELECT DISTINCT files FROM runs WHERE files IS NOT NULL AND files <> ''");
  std::map<std::string, std::string> hashes;
  std::vector<std::string> out;
  while (s.step())
    for (const json& file : json::parse(s.text(0), nullptr, false)) {
      if (!file.is_object()) continue;
      const std::string path = file.value("path", std::string{}), was = file.value("sha256", std::string{});
      const auto [at, is_new] = hashes.try_emplace(path, was);
      if (!is_new) {
        if (at->second != was && at->second != "changed")
          out.push_back(path + " was changed between two runs");
        if (at->second != was) at->second = "changed";
        continue;
      }
      std::error_code unknown;
      if (!std::filesystem::is_regular_file(path, unknown)) continue;  // a pipe cannot be asked again
      const Result<std::string> now = read_file(path, kMostFileBytes);
      if (now.ok() && sha256_of(now.value()) != was) out.push_back(path + " has changed since");
    }
  return out;
}

std::optional<ResultStore::Cost> ResultStore::cost_of(const std::string& workload) const {
  Statement s = prepare(
      "SELECT avg(wall_s), max(peak_bytes), sum(outcome NOT IN ('refused', 'lost')) FROM runs "
      "WHERE workload = ? AND outcome <> 'impossible' AND wall_s >= 0 AND wall_s < 9e999");
  if (!s.with(workload).step() || s.number(2) == 0) return std::nullopt;
  return Cost{s.real(0), static_cast<std::uint64_t>(s.number(1))};
}

std::vector<ResultStore::Ending> ResultStore::endings() const {
  // Of a group with min(), SQLite takes other columns from the row that has it.
  Statement s = prepare(
      "SELECT outcome, count(*), min(point), reason FROM runs GROUP BY outcome ORDER BY count(*) DESC, "
      "outcome");
  std::vector<Ending> out;
  while (s.step())
    out.push_back(
        {s.text(0), static_cast<std::size_t>(s.number(1)), static_cast<std::size_t>(s.number(2)), s.text(3)});
  return out;
}

std::string ResultStore::csv(const std::vector<std::string>& metrics) const {
  std::string out;
  for (const std::vector<std::string>& row : table(metrics)) append_row(out, row);
  return out;
}

std::vector<std::vector<std::string>> ResultStore::table(const std::vector<std::string>& metrics) const {
  try {
    return read_table(metrics);
  } catch (const json::exception& e) {
    throw StoreError{std::string("its rows are not those of `warpline sweep`: ") + e.what()};
  }
}

/// Reads metrics of rows of `runs`.
class ResultStore::MetricReader {
 public:
  explicit MetricReader(const ResultStore& store)
      : counter_(store.prepare(
            "SELECT value FROM counters JOIN counter_names ON id = counter WHERE point = ? AND path = ?")),
        known_(store.prepare("SELECT 1 FROM counter_names WHERE path = ?")),
        key_(store.prepare(
            "SELECT json_extract(keys, '$.\"' || ? || '\"') FROM runs JOIN configurations ON id = "
            "configuration WHERE point = ?")) {}
  /// Of a row whose column 0 is its point, and whose columns from `first` on are figures(). Empty: it has
  /// none.
  std::string text(const Statement& row, int first, const std::string& metric) {
    const auto figure = std::find(figures().begin(), figures().end(), metric);
    if (figure != figures().end()) return row.text(first + static_cast<int>(figure - figures().begin()));
    if (row.is_null(first)) return {};  // it did not run, and counted nothing
    if (counter_.with(row.number(0), metric).step()) return counter_.text(0);
    return known_.with(metric).step() && has_blocks(row.number(0), metric) ? "0" : "";
  }

 private:
  /// Whether the GPU of a point has the blocks that a counter's path names, "gpu[1].l2[7].sector_hits", so
  /// that one without a row has counted nothing. Zeros of blocks have no rows.
  bool has_blocks(std::int64_t point, const std::string& path) {
    static const std::map<std::string, const char*> kKeys = {{"gpu", "gpus"},
                                                             {"sm", "sms"},
                                                             {"l2", "l2.slices"},
                                                             {"dram", "dram.channels"},
                                                             {"peer", "pcie_system.peers"},
                                                             {"gpu_switch", "gpu_switch.count"}};
    for (const std::string_view part : split(path, '.')) {
      const std::size_t open = part.find('[');
      if (open == std::string_view::npos) continue;
      const auto key = kKeys.find(std::string(part.substr(0, open)));
      const auto index = real_number(part.substr(open + 1, part.size() - open - 2));
      if (key == kKeys.end() || !index || !key_.with(std::string(key->second), point).step()) return false;
      if (key_.is_null(0) || *index >= key_.real(0)) return false;
    }
    return true;
  }
  Statement counter_, known_, key_;
};

std::optional<ResultStore::Found> ResultStore::found(std::size_t point,
                                                     const std::vector<std::string>& metrics) const {
  Statement row = prepare(
      "SELECT point, outcome, reason, cycles, time_ns, wall_s, cpu_s, peak_bytes FROM runs WHERE point = ?");
  if (!row.with(static_cast<std::int64_t>(point)).step()) return std::nullopt;
  MetricReader of(*this);
  Found out{row.text(1), row.text(2), {}};
  for (const std::string& metric : metrics) out.values.push_back(real_number(of.text(row, 3, metric)));
  return out;
}

std::vector<std::vector<std::string>> ResultStore::read_table(const std::vector<std::string>& metrics) const {
  std::vector<std::string> keys;
  {
    Statement s = prepare("SELECT DISTINCT key FROM runs, json_each(runs.settings) ORDER BY key");
    while (s.step()) keys.push_back(s.text(0));
  }
  std::vector<std::string> head = {"point", "workload", "gpu"};
  head.insert(head.end(), keys.begin(), keys.end());
  head.insert(head.end(), {"outcome", "reason"});
  head.insert(head.end(), metrics.begin(), metrics.end());
  std::vector<std::vector<std::string>> out = {head};
  MetricReader of(*this);
  Statement rows = prepare(
      "SELECT point, workload, gpu, outcome, reason, settings, cycles, time_ns, wall_s, cpu_s, peak_bytes "
      "FROM runs "
      "ORDER BY point");
  while (rows.step()) {
    const json settings = json::parse(rows.text(5));
    std::vector<std::string> row = {rows.text(0), rows.text(1), rows.text(2)};
    for (const std::string& key : keys) row.push_back(settings.value(key, std::string{}));
    row.insert(row.end(), {rows.text(3), rows.text(4)});
    for (const std::string& metric : metrics) row.push_back(of.text(rows, 6, metric));
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace warpline::sweep
