#pragma once

#include <string>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline::test {

/// Damages text the way files get damaged: cut off, bytes flipped, pieces lost, doubled or exchanged, and
/// words replaced by others that a grammar or an allocator may stumble over. The same seed does the same
/// damage.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(splitmix64(seed)) {}
  /// `text` after one to three mutations.
  [[nodiscard]] std::string mutate(std::string text);

 private:
  void mutate_once(std::string& text);
  /// A position in [0, size), or 0.
  [[nodiscard]] std::size_t place(std::size_t size) { return size == 0 ? 0 : random_.below(size); }
  [[nodiscard]] std::string awkward_word();
  /// What nests in itself, up to 65,536 deep.
  [[nodiscard]] std::string nested();

  Random random_;
};

}  // namespace warpline::test
