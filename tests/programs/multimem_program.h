#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/machine/gpu_platform.h"
#include "rtl_models/base/random.h"

namespace warpline::test {

/// A machine of `least` to 4 GPUs, with switches between them.
[[nodiscard]] GpuConfig machine_of_gpus(Random& random, unsigned least = 1);

/// A random program of multimem instructions on several GPUs at once, without races, and what it must leave,
/// told by a twin that knows nothing of the model. In each phase all GPUs run a grid at the same time. Every
/// column of a multicast object has elements of one type, a slot of 16 bytes for each thread, and in a phase
/// it is one GPU's alone, or all add to it, or each GPU stores to its own replica of it.
class MultimemProgram {
 public:
  /// `gpus`: that the machine has.
  MultimemProgram(Random& random, unsigned gpus);

  /// What is left in each object's replicas, and of what every GPU has loaded, byte for byte; and the time.
  struct Left {
    std::vector<std::vector<std::uint8_t>> memory;
    Cycle cycles = 0;
  };
  /// Runs all phases on a platform that nothing was allocated on before.
  [[nodiscard]] Left run(GpuPlatform& platform) const;
  [[nodiscard]] const std::vector<std::vector<std::uint8_t>>& wanted() const { return wanted_; }

 private:
  static constexpr unsigned kSlot = 16;
  enum class Base : std::uint8_t { unsigned_, signed_, bits, half, brain, single, dbl };
  /// Elements of a slot, as an instruction names them.
  struct Form {
    std::string type;  ///< "f16x2"
    unsigned size = 4, vector = 1;
    Base base = Base::bits;
    [[nodiscard]] bool floats() const { return base >= Base::half; }
    [[nodiscard]] unsigned bytes() const { return size * vector; }
  };
  struct Object {
    std::vector<unsigned> gpus;
    std::vector<Form> columns;
  };
  struct Operation {
    enum class Kind : std::uint8_t { store, load, reduce, unicast_store } kind = Kind::store;
    unsigned object = 0, column = 0;
    std::string operation, order;  ///< "add", ".relaxed.gpu"
    bool wide = false, generic = false;
    unsigned given = 0;   ///< of a store or reduction: where its values are
    unsigned result = 0;  ///< of a load: where its go
    unsigned lanes = 0;   ///< threads below it take part
  };
  /// What the GPUs do, each its own list.
  using Phase = std::vector<std::vector<Operation>>;

  [[nodiscard]] static std::vector<Form> forms();
  [[nodiscard]] unsigned slots() const { return threads_ * ctas_; }
  void draw_objects(Random& random);
  void draw_phase(Random& random);
  Operation draw_operation(Random& random, unsigned object, unsigned column, bool shared);
  [[nodiscard]] std::vector<std::uint8_t> nice_values(Random& random, const Form& form) const;
  [[nodiscard]] std::string text_of(const std::vector<Operation>& operations) const;
  void perform(unsigned gpu, const Operation& o);
  [[nodiscard]] static std::uint64_t reduced(const Form& form, const Operation& o,
                                             const std::vector<std::uint64_t>& values);
  [[nodiscard]] static std::uint64_t combined(const Form& form, const std::string& operation, std::uint64_t a,
                                              std::uint64_t b);

  unsigned gpus_, threads_ = 32, ctas_ = 1;
  std::vector<Object> objects_;
  std::vector<Phase> phases_;
  std::vector<std::vector<std::uint8_t>> given_;    ///< a slot for each thread
  std::vector<std::vector<std::uint8_t>> initial_;  ///< of objects' replicas, object after object
  std::vector<unsigned> results_;                   ///< of each: the GPU whose it is
  /// Replicas as initial_, then results.
  std::vector<std::vector<std::uint8_t>> wanted_;
};

}  // namespace warpline::test
