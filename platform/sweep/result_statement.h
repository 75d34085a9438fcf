#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "platform/sweep/result_store.h"

namespace warpline::sweep {

/// Adds a row of CSV (RFC 4180, but for the end of the line, which is that of Unix).
void append_row(std::string& out, const std::vector<std::string>& fields);

/// A statement of SQL, prepared.
class ResultStore::Statement {
 public:
  Statement(sqlite3* database, const char* sql) : database_(database) {
    check(sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr));
  }
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  template <class... Values>
  Statement& with(const Values&... values) {
    sqlite3_reset(statement_);
    int n = 0;
    (bind(++n, values), ...);
    return *this;
  }
  /// Whether there is a row, or one more.
  bool step() {
    const int state = sqlite3_step(statement_);
    if (state == SQLITE_ROW) return true;
    if (state == SQLITE_DONE) return false;
    throw StoreError{sqlite3_errmsg(database_)};
  }
  [[nodiscard]] int columns() const { return sqlite3_column_count(statement_); }
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  [[nodiscard]] std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  [[nodiscard]] double real(int column) const { return sqlite3_column_double(statement_, column); }
  [[nodiscard]] std::string text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    return bytes == nullptr ? std::string{} : bytes;
  }
  [[nodiscard]] std::string_view blob(int column) const {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return bytes == nullptr
               ? std::string_view{}
               : std::string_view(bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
  }

 private:
  void check(int state) const {
    if (state != SQLITE_OK) throw StoreError{sqlite3_errmsg(database_)};
  }
  void bind(int n, std::int64_t value) { check(sqlite3_bind_int64(statement_, n, value)); }
  void bind(int n, double value) { check(sqlite3_bind_double(statement_, n, value)); }
  void bind(int n, std::nullptr_t) { check(sqlite3_bind_null(statement_, n)); }
  void bind(int n, const std::string& value) {
    check(sqlite3_bind_text64(statement_, n, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  }
  /// Bytes that are no text.
  void bind(int n, std::string_view value) {
    check(sqlite3_bind_blob64(statement_, n, value.data(), value.size(), SQLITE_TRANSIENT));
  }
  template <class T>
  void bind(int n, const std::optional<T>& value) {
    value ? bind(n, *value) : bind(n, nullptr);
  }
  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

/// What was told names, so that rows need not look for them.
struct ResultStore::Names {
  std::unordered_map<std::string, std::int64_t> counters, configurations, kernels;
  std::unordered_map<const char*, std::unique_ptr<Statement>> statements;  ///< see kept()
};

}  // namespace warpline::sweep
