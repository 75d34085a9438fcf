#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/base/random.h"

namespace warpline {

/// The arbiters of a switch: for each output, a round robin over the inputs that ask for it. The
/// turn passes on grants only: the input after the one granted is first in the next choice, so an
/// input that asks is passed over by each other input once at most.
class Arbiter {
 public:
  static constexpr unsigned kNone = ~0U;

  Arbiter(unsigned outputs, unsigned inputs)
      : inputs_(inputs),
        words_((inputs + 63) / 64),
        asking_(std::size_t{outputs} * words_),
        outputs_(outputs),
        active_((outputs + 63) / 64) {}

  /// `input` asks for `output` until granted. Pre: it does not ask already.
  void ask(unsigned output, unsigned input) {
    asking_[output * words_ + input / 64] |= std::uint64_t{1} << (input % 64);
    if (outputs_[output].asking++ == 0) active_[output / 64] |= std::uint64_t{1} << (output % 64);
  }
  /// How many inputs ask for `output`.
  [[nodiscard]] unsigned asking(unsigned output) const { return outputs_[output].asking; }
  /// The input whose turn it is. Pre: asking(output) != 0.
  [[nodiscard]] unsigned choose(unsigned output) const {
    return choose(output, [](unsigned) { return true; });
  }
  /// The first input in turn that `fits`, or kNone.
  template <class F>
  [[nodiscard]] unsigned choose(unsigned output, F&& fits) const {
    const std::uint64_t* words = &asking_[output * words_];
    const unsigned turn = outputs_[output].turn;
    if (words_ == 1) {
      const std::uint64_t from_turn = *words & (~std::uint64_t{0} << turn);
      for (std::uint64_t part : {from_turn, *words ^ from_turn})
        for (; part != 0; part &= part - 1)
          if (const auto input = static_cast<unsigned>(__builtin_ctzll(part)); fits(input)) return input;
      return kNone;
    }
    const unsigned start = turn / 64;
    // The word with the turn is visited twice: its upper part first, its lower part last.
    for (unsigned i = 0; i <= words_; ++i) {
      const unsigned w = start + i < words_ ? start + i : start + i - words_;
      const std::uint64_t from_turn = ~std::uint64_t{0} << (turn % 64);
      std::uint64_t bits = words[w];
      if (i == 0) bits &= from_turn;
      if (i == words_) bits &= ~from_turn;
      for (; bits != 0; bits &= bits - 1) {
        const unsigned input = w * 64 + static_cast<unsigned>(__builtin_ctzll(bits));
        if (fits(input)) return input;
      }
    }
    return kNone;
  }
  /// Draws whose turn it is at each output.
  void draw_turns(Random& random) {
    for (Output& o : outputs_) o.turn = static_cast<unsigned>(random.below(inputs_));
  }
  /// Passes the turn on. Pre: `input` asks for `output`.
  void grant(unsigned output, unsigned input) {
    asking_[output * words_ + input / 64] &= ~(std::uint64_t{1} << (input % 64));
    outputs_[output].turn = input + 1 == inputs_ ? 0 : input + 1;
    if (--outputs_[output].asking == 0) active_[output / 64] &= ~(std::uint64_t{1} << (output % 64));
  }
  template <class Archive>
  void archive(Archive& a) {
    // Pre: nobody asks.
    for (Output& o : outputs_) a.index(o.turn, inputs_);
  }
  /// The turns are as at first. Pre: nobody asks.
  void restart() {
    for (Output& o : outputs_) o.turn = 0;
  }
  /// Calls visit(output) for every output that is asked for. It may grant that output.
  template <class F>
  void for_each_asked(F&& visit) const {
    for (std::size_t w = 0; w < active_.size(); ++w)
      for (std::uint64_t bits = active_[w]; bits != 0; bits &= bits - 1)
        visit(static_cast<unsigned>(w * 64 + static_cast<std::size_t>(__builtin_ctzll(bits))));
  }

 private:
  struct Output {
    unsigned asking = 0;
    unsigned turn = 0;
  };
  unsigned inputs_;
  unsigned words_;
  std::vector<std::uint64_t> asking_;  ///< words_ of one bit per input, for each output
  std::vector<Output> outputs_;
  std::vector<std::uint64_t> active_;  ///< outputs that some input asks for
};

}  // namespace warpline
