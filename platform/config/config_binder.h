#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "platform/config/config_entries.h"
#include "platform/config/key_source.h"
#include "rtl_models/document/document.h"

namespace warpline {

/// Where a key was last set, so that a rule broken later can point at it.
struct KeyOrigin {
  const Document* document = nullptr;
  Place place;
  KeySource source;
};
using KeyOrigins = std::map<std::string, KeyOrigin>;

[[nodiscard]] inline std::string join_path(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

/// Copies a document's keys into the fields of the same names. A value may stand by itself, or in a table
/// that says where it comes from: `{ value = 64, source = "a document" }`. What a table says so holds for
/// those of its values, and of its tables, that say nothing.
class ConfigBinder {
 public:
  /// `scope`: what stands before the paths in messages, such as "gpu.".
  ConfigBinder(const Document& document, std::string scope, KeyOrigins& origins, Diagnostics& faults)
      : document_(document), scope_(std::move(scope)), origins_(origins), faults_(faults) {}

  /// `also`: keys of this table that are known, and read elsewhere.
  template <class T>
  void bind(const Value& table, T& target, const std::string& path, std::vector<std::string> also = {}) {
    std::vector<std::string>& known = also;
    const KeySource around = source_;
    if (const KeySource own = source_of(table, scope_ + path); own.kind != KeySource::Kind::none)
      source_ = own;
    target.visit([&](const char* name, auto& field, const char*) {
      known.emplace_back(name);
      const Member* m = table.find(name);
      if (m == nullptr) return;
      const std::string key = join_path(path, name);
      KeyOrigin& origin = origins_[key];
      origin = {&document_, m->value.place, source_};
      if constexpr (kIsKey<std::decay_t<decltype(field)>>) {
        if (m->value.kind == Value::Kind::table) return assign_told(*m, field, key, origin);
      }
      assign(*m, field, key);
    });
    source_ = around;
    known.insert(known.end(), {"source", "fit", "assumed"});
    for (const Member& m : table.members)
      if (std::find(known.begin(), known.end(), m.key) == known.end()) unknown(m, path, known);
  }

 private:
  void fault(Place place, std::string message, std::string hint = {}) {
    faults_.push_back(document_.fault(place, std::move(message), std::move(hint)));
  }

  /// What `table` says of its values, which is at most one thing.
  KeySource source_of(const Value& table, const std::string& path) {
    using Kind = KeySource::Kind;
    KeySource found;
    const auto take = [&](const char* key, Kind kind) {
      const Member* m = table.find(key);
      if (m == nullptr) return;
      if (found.kind != Kind::none)
        return fault(m->place, path + ": has one of source, fit and assumed, not two");
      found.kind = kind;
      const std::vector<Value> one{m->value};
      for (const Value& item :
           kind == Kind::fit && m->value.kind == Value::Kind::array ? m->value.items : one) {
        if (item.kind != Value::Kind::text || item.text.empty())
          return fault(item.place, path + "." + key +
                                       (kind == Kind::fit ? ": must be an array of the names of rows"
                                                          : ": must be a string that is not empty"));
        found.text += (found.text.empty() ? "" : ", ") + item.text;
      }
      if (found.text.empty()) fault(m->value.place, path + "." + key + ": names no row");
    };
    take("source", Kind::document);
    take("fit", Kind::fit);
    take("assumed", Kind::assumed);
    return found;
  }

  /// A value that says where it comes from.
  template <class T>
  void assign_told(const Member& m, T& field, const std::string& path, KeyOrigin& origin) {
    const Member* value = m.value.find("value");
    if (value == nullptr)
      return fault(m.value.place, scope_ + path + ": a table in place of a value needs the key \"value\"",
                   R"(for instance { value = 16, source = "a document" })");
    for (const Member& other : m.value.members) {
      const std::vector<std::string> known = {"value", "source", "fit", "assumed"};
      if (std::find(known.begin(), known.end(), other.key) == known.end()) unknown(other, path, known);
    }
    if (const KeySource own = source_of(m.value, scope_ + path); own.kind != KeySource::Kind::none)
      origin.source = own;
    origin.place = value->value.place;
    assign(*value, field, path);
  }

  void unknown(const Member& m, const std::string& path, const std::vector<std::string>& known) {
    std::string hint = did_you_mean(m.key, known);
    if (path.empty() && m.key + "." == scope_) {
      hint = "keys are written without the " + scope_ + " in front";
    } else if (hint.empty() && scope_ == "gpu.") {
      const std::string tail = "." + m.key;
      for (const std::string& leaf : config_keys())
        if (leaf.size() > tail.size() && leaf.compare(leaf.size() - tail.size(), tail.size(), tail) == 0) {
          hint = "did you mean \"" + leaf + "\"?";
          break;
        }
    }
    fault(m.place, scope_ + join_path(path, m.key) + ": unknown key", hint);
  }

  void wrong_type(const Member& m, const std::string& path, const char* wanted) {
    fault(m.value.place, scope_ + path + ": must be " + wanted + ", not " + std::string(m.value.kind_name()));
  }

  void assign(const Member& m, bool& field, const std::string& path) {
    if (m.value.kind != Value::Kind::boolean) return wrong_type(m, path, "true or false");
    field = m.value.boolean;
  }
  void assign(const Member& m, std::string& field, const std::string& path) {
    if (m.value.kind != Value::Kind::text) return wrong_type(m, path, "a string");
    field = m.value.text;
  }
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  void assign(const Member& m, T& field, const std::string& path) {
    if (m.value.kind != Value::Kind::integer) return wrong_type(m, path, "an integer");
    const std::int64_t n = m.value.integer;
    if (n < 0) return fault(m.value.place, scope_ + path + ": must not be negative");
    if (static_cast<std::uint64_t>(n) > std::numeric_limits<T>::max())
      return fault(m.value.place,
                   scope_ + path + ": must be at most " + std::to_string(std::numeric_limits<T>::max()));
    field = static_cast<T>(n);
  }
  void assign(const Member& m, std::vector<std::uint64_t>& field, const std::string& path) {
    if (m.value.kind != Value::Kind::array) return wrong_type(m, path, "an array of integers");
    field.clear();
    for (const Value& item : m.value.items) {
      if (item.kind != Value::Kind::integer || item.integer < 0) {
        fault(item.place, scope_ + path + ": every element must be an integer that is not negative");
        continue;
      }
      field.push_back(static_cast<std::uint64_t>(item.integer));
    }
  }
  template <class T, std::enable_if_t<std::is_class_v<T>, int> = 0>
  void assign(const Member& m, T& field, const std::string& path) {
    if (m.value.kind != Value::Kind::table) return wrong_type(m, path, "a table");
    bind(m.value, field, path);
  }

  const Document& document_;
  std::string scope_;
  KeyOrigins& origins_;
  Diagnostics& faults_;
  KeySource source_;  ///< of the tables around
};

}  // namespace warpline
