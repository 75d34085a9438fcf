#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

namespace warpline {

/// Finds members of one list by name, however many there are.
class NameIndex {
 public:
  /// The number of the first of `all` that is called so, or all.size(). Pre: always the same list, which
  /// since the last call has at most grown at its end.
  template <class All>
  [[nodiscard]] std::size_t number_of(const std::string& name, const All& all) {
    for (; known_ < all.size(); ++known_) numbers_.emplace(all[known_].name, known_);
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? all.size() : found->second;
  }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::size_t known_ = 0;  ///< of the list
};

}  // namespace warpline
