#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/sweep/points.h"

struct sqlite3;

namespace warpline::sweep {

/// Why a file of results cannot be worked with, or took no more.
struct StoreError {
  std::string what;
};

/// How a run of a point ended.
struct PointResult {
  std::string outcome;  ///< as in the statistics of a run, or: refused, impossible, too long, lost
  std::string reason;   ///< unless it finished, a sentence
  int exit_status = 0;
  std::shared_ptr<const nlohmann::json> statistics;  ///< the object that the run wrote, or null
  std::string profile;                               ///< the text of `--profile`; empty: it wrote none
  std::string series;                                ///< the text of `--series`; empty: it wrote none
  double wall_s = 0, cpu_s = 0;
  std::uint64_t peak_bytes = 0;  ///< of memory, at one time
};

/// The results of a study in a file of SQLite, of which docs/studies.md tells the tables. What was committed
/// is there whatever happens to the process; a run is there whole, or not at all, and once.
class ResultStore {
 public:
  enum class Access : std::uint8_t {
    read,  ///< of a file that is there, whoever writes it
    write  ///< alone; makes the file where there is none
  };
  /// Throws StoreError: it is no such file, is of another version of the tables, or somebody writes it.
  ResultStore(const std::string& path, Access access);
  ~ResultStore();
  ResultStore(const ResultStore&) = delete;
  ResultStore& operator=(const ResultStore&) = delete;

  /// Begins a study, or goes on with one. Throws StoreError where the file has the results of another study.
  void begin(const Study& study, const std::string& version);
  /// The numbers of points that have a row.
  [[nodiscard]] std::vector<std::size_t> done() const;
  /// Takes the rows away of points whose run did not end as runs do: they are to be run again.
  void forget_unfinished();
  /// Takes the rows of another file of the same study that are not here, and those of runs that ended there
  /// as runs do and here did not: all, or none. Returns how many. Throws StoreError: the file is of another
  /// study, text or version; somebody writes it; the disk takes no more. Pre: begun for `study`.
  std::size_t take_from(const std::string& path, const Study& study, const std::string& version);
  /// Adds the row of a point, in the place of one that is there. It is safe after commit(). Throws StoreError
  /// where the disk takes no more; the rows of earlier commits are whole then.
  void add(const Study& study, const Point& point, const PointResult& result);
  void commit();

  /// Files that rows were made of and that are not what they were, each with why.
  [[nodiscard]] std::vector<std::string> changed_files() const;
  /// Mean seconds of the runs of a workload, and the most bytes of memory that one of them took; nothing
  /// where none has finished.
  struct Cost {
    double seconds = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::optional<Cost> cost_of(const std::string& workload) const;
  /// How many rows ended so, most first, and of the first of them the number of its point and the reason.
  struct Ending {
    std::string outcome;
    std::size_t rows = 0, first = 0;
    std::string reason;
  };
  [[nodiscard]] std::vector<Ending> endings() const;
  /// A table for spreadsheets: one row for each point, its settings, how it ended, and each of `metrics`
  /// (columns of `runs`, or paths of counters). RFC 4180, but for the ends of lines, which are those of Unix.
  [[nodiscard]] std::string csv(const std::vector<std::string>& metrics) const;
  /// The same as rows of texts, the first of them the names of the columns.
  [[nodiscard]] std::vector<std::vector<std::string>> table(const std::vector<std::string>& metrics) const;
  /// Tables of what was kept of runs beside their counters, in the same way: warp-cycles by line and reason,
  /// what each line did, figures over time. Of each the head alone where the study did not ask for it.
  [[nodiscard]] std::string stalls_csv() const;
  [[nodiscard]] std::string lines_csv() const;
  [[nodiscard]] std::string series_csv() const;
  /// The CSV of a point's figures over time, as `--series` has it; empty: it has none.
  [[nodiscard]] std::string series_of(std::size_t point) const;
  /// How the run of a point ended, and what it counted.
  struct Found {
    std::string outcome, reason;
    std::vector<std::optional<double>> values;  ///< of each metric; nothing where the run has none
  };
  /// Nothing: the point has no row.
  [[nodiscard]] std::optional<Found> found(std::size_t point, const std::vector<std::string>& metrics) const;
  /// Paths of the totals of all counters that some run has counted.
  [[nodiscard]] std::vector<std::string> totals() const;
  /// Names of the figures of a run beside its counters: cycles, time_ns and so on.
  [[nodiscard]] static const std::vector<std::string>& figures();
  /// What `begin` was told of the study: "name", "text", "warpline"; empty: there is none.
  [[nodiscard]] std::string told(const std::string& what) const;
  /// `metrics` of the study, as they are now in the file.
  [[nodiscard]] std::vector<std::string> metrics() const;

  class Statement;
  /// A row of an answer; columns count from 0.
  class Row {
   public:
    explicit Row(const Statement& at) : at_(at) {}
    [[nodiscard]] bool is_null(int column) const;
    [[nodiscard]] std::int64_t number(int column) const;
    [[nodiscard]] double real(int column) const;
    [[nodiscard]] std::string text(int column) const;

   private:
    const Statement& at_;
  };
  /// Asks a question in SQL of the tables that docs/studies.md tells, and takes the rows of its answer.
  void ask(const char* sql, const std::function<void(const Row& row)>& take) const;
  /// From here on everything that is asked is of this moment, whatever a sweep adds meanwhile.
  void hold_still() const;
  /// Whether a sweep writes the file `path` now.
  [[nodiscard]] static bool somebody_writes(const std::string& path);

 private:
  struct Names;
  class MetricReader;
  [[nodiscard]] Statement prepare(const char* sql) const;
  void run(const char* sql) const;
  [[nodiscard]] std::vector<std::vector<std::string>> read_table(
      const std::vector<std::string>& metrics) const;
  void begin_transaction();
  void add_row(const Study& study, const Point& point, const PointResult& result);
  [[nodiscard]] Statement& kept(const char* sql);
  [[nodiscard]] std::int64_t counter_number(const std::string& path, const nlohmann::json& counters);
  [[nodiscard]] std::int64_t configuration_number(const std::string& sha256,
                                                  const nlohmann::json& statistics);
  [[nodiscard]] std::int64_t kernel_number(const std::string& name);
  std::size_t take_attached();
  void add_launches(std::int64_t row, const nlohmann::json& launches);
  void add_profile(std::int64_t row, const std::string& text);
  void add_series(std::int64_t row, std::uint64_t every, const std::string& text);

  sqlite3* database_ = nullptr;
  int lock_ = -1;
  bool in_transaction_ = false;
  std::unique_ptr<Names> names_;
};

}  // namespace warpline::sweep
