#pragma once

#include <string>
#include <vector>

#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline {

/// Calls `read` for each table of an array of them, such as [[symbol]]. What is none is a fault; `each` says
/// then what an element must be.
template <class Read>
void each_table(const Document& document, const Member& array, const std::string& each, Diagnostics& faults,
                Read&& read) {
  if (array.value.kind != Value::Kind::array)
    faults.push_back(document.fault(array.place, array.key + ": must be [[" + array.key + "]] tables"));
  for (const Value& item : array.value.items) {
    if (item.kind == Value::Kind::table) {
      read(item);
    } else {
      faults.push_back(document.fault(item.place, array.key + ": must be " + each));
    }
  }
}

/// That one of `keys` which the table has; null, and a fault, where it has none or several. `what`: how the
/// fault begins.
inline const Member* only_one(TableReader& reader, const std::string& what,
                              const std::vector<std::string>& keys) {
  const Member* only = nullptr;
  unsigned given = 0;
  for (const std::string& key : keys)
    if (const Member* m = reader.find(key)) {
      only = m;
      ++given;
    }
  if (given == 1) return only;
  reader.fault(reader.place(), what + " must say exactly one of " + joined(keys));
  return nullptr;
}

}  // namespace warpline
