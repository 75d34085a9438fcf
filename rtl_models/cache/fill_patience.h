#pragma once

namespace warpline {

/// Ends the wait of a fill that hits keep out. Where answers leave slowly, hits fill the queue of answers up
/// to their own limit, which is above that of fills: warps that poll could keep out for ever the very line
/// that they wait for. After so many answers, requests wait until a fill has been taken.
///
/// Nothing of this needs saving: a cache at rest has taken all its fills.
class FillPatience {
 public:
  /// A fill has been taken.
  void taken() { passed_ = 0; }
  /// In each tick, before an answer leaves: whether a fill is there that could not be taken.
  void note(bool waits) { waits_ = waits; }
  /// An answer has left.
  void sent() { passed_ += waits_ ? 1 : 0; }
  /// Whether requests have to wait.
  [[nodiscard]] bool exhausted() const { return waits_ && passed_ >= kPatience; }

 private:
  static constexpr unsigned kPatience = 8;  ///< answers; assumed
  bool waits_ = false;
  unsigned passed_ = 0;
};

}  // namespace warpline
