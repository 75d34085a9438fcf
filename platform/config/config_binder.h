#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "platform/config/config_entries.h"
#include "rtl_models/document/document.h"

namespace warpline {

/// Where a key was last set, so that a rule broken later can point at it.
struct KeyOrigin {
  const Document* document = nullptr;
  Place place;
};
using KeyOrigins = std::map<std::string, KeyOrigin>;

[[nodiscard]] inline std::string join_path(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

/// Copies a document's keys into the fields of the same names.
class ConfigBinder {
 public:
  /// `scope`: what stands before the paths in messages, such as "gpu.".
  ConfigBinder(const Document& document, std::string scope, KeyOrigins& origins, Diagnostics& faults)
      : document_(document), scope_(std::move(scope)), origins_(origins), faults_(faults) {}

  /// `also`: keys of this table that are known, and read elsewhere.
  template <class T>
  void bind(const Value& table, T& target, const std::string& path, std::vector<std::string> also = {}) {
    std::vector<std::string>& known = also;
    target.visit([&](const char* name, auto& field, const char*) {
      known.emplace_back(name);
      const Member* m = table.find(name);
      if (m == nullptr) return;
      origins_[join_path(path, name)] = {&document_, m->value.place};
      assign(*m, field, join_path(path, name));
    });
    for (const Member& m : table.members)
      if (std::find(known.begin(), known.end(), m.key) == known.end()) unknown(m, path, known);
  }

 private:
  void fault(Place place, std::string message, std::string hint = {}) {
    faults_.push_back(document_.fault(place, std::move(message), std::move(hint)));
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
};

}  // namespace warpline
