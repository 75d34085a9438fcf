#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "rtl_models/base/visibility.h"
#include "rtl_models/registers/register_map.h"

namespace warpline {

/// What became of an access to a block of registers. The register is that of the access's first byte; of
/// several faults, the outcome is the one listed first here.
enum class AccessOutcome : std::uint8_t {
  done,
  no_register,  ///< a hole, or beyond the block
  wrong_size,   ///< neither the register's size, nor 4 bytes of one of 8
  misaligned,   ///< not at its start, nor at a half
  read_only,    ///< a write to a register none of whose fields takes writes
  write_only,   ///< a read of a register none of whose fields can be read
};
/// In words, for messages and logs: "no register".
WARPLINE_PUBLIC [[nodiscard]] const char* to_text(AccessOutcome outcome);

/// A write that has happened.
struct WARPLINE_PUBLIC RegisterWrite {
  unsigned element = 0;      ///< of several registers alike
  std::uint64_t bits = 0;    ///< of the register that the access covered
  std::uint64_t before = 0;  ///< what the register held
  std::uint64_t value = 0;   ///< what it holds now
};

/// The registers of a block, with the behaviour that their description gives them. The model of a device
/// adds what the description cannot say: what a write causes, what changes by itself, what follows a read.
///
/// An access takes a whole register, or of one of 8 bytes an aligned half. One that is no register's does
/// nothing, and reads 0. Bits that are write only are held like others, for the hardware; software reads 0.
class WARPLINE_PUBLIC RegisterFile {
 public:
  /// A write has happened.
  using OnWrite = std::function<void(const RegisterWrite&)>;
  /// What the register holds now, for one that changes by itself (a timer). Asked before every read, write
  /// and peek; must have no effects.
  using OnLook = std::function<std::uint64_t(unsigned element)>;
  /// A read has happened, of these bits; its value is taken. May set() what is to be read next (a queue).
  using OnRead = std::function<void(unsigned element, std::uint64_t bits)>;

  /// Every register has its reset value. Pre: the map outlives the file; its registers do not overlap and are
  /// aligned (generated maps are so).
  explicit RegisterFile(const RegisterMap& map);

  /// Software's access of `bytes` bytes at `offset`. A read returns the value in the lower bits; of a written
  /// value only the lower `bytes` count.
  struct Read {
    AccessOutcome outcome = AccessOutcome::done;
    std::uint64_t value = 0;
  };
  [[nodiscard]] Read read(std::uint64_t offset, unsigned bytes);
  AccessOutcome write(std::uint64_t offset, unsigned bytes, std::uint64_t value);
  /// What a read would return, without its effects: a debugger's.
  [[nodiscard]] Read peek(std::uint64_t offset, unsigned bytes) const;

  /// The hardware's own access to all bits of a register; no behaviour is called. Pre: there is that
  /// register. Bits of no field, and bits beyond the register, stay 0.
  [[nodiscard]] std::uint64_t get(unsigned index, unsigned element = 0) const {
    return values_[at(index, element)];
  }
  /// The same, of a register that changes by itself what it is now (OnLook).
  [[nodiscard]] std::uint64_t look(unsigned index, unsigned element = 0) const {
    const std::size_t place = at(index, element);
    const Behaviour& b = behaviours_[index];
    return b.on_look ? b.on_look(element) & b.held : values_[place];
  }
  void set(unsigned index, std::uint64_t value, unsigned element = 0) {
    const std::size_t place = at(index, element);
    values_[place] = value & behaviours_[index].held;
  }
  /// Sets bits, as an event does.
  void raise(unsigned index, std::uint64_t bits, unsigned element = 0) {
    const std::size_t place = at(index, element);
    values_[place] |= bits & behaviours_[index].held;
  }

  /// Behaviours: one of each kind for a register at most. Pre: none was given yet.
  void on_write(unsigned index, OnWrite behaviour);
  void on_look(unsigned index, OnLook behaviour);
  void on_read(unsigned index, OnRead behaviour);

  /// Brings every register to its reset value, but those that are described as kept; no behaviour is called.
  void reset() {
    for (const Behaviour& b : behaviours_)
      if (!b.kept) restore(b);
  }
  /// Brings every register to its reset value, those described as kept included.
  void power_on() {
    for (const Behaviour& b : behaviours_) restore(b);
  }
  template <class Archive>
  void archive(Archive& a) {
    a.fixed(values_);
  }
  [[nodiscard]] const RegisterMap& map() const { return map_; }

 private:
  static constexpr std::uint16_t kHole = 0xFFFF;
  /// A word of 4 bytes of the block: which register it is, or belongs to.
  struct Word {
    std::uint16_t index = kHole;
    std::uint16_t element = 0;
  };
  /// A register as accesses want to know it: masks of bits, by what accesses do to them.
  struct Behaviour {
    std::size_t first = 0;  ///< value of element 0 in values_
    std::uint64_t reset = 0;
    std::uint64_t held = 0;  ///< bits that belong to a field
    std::uint64_t readable = 0, writable = 0, clear_by_one = 0, clear_by_read = 0;
    std::uint16_t count = 1;
    std::uint8_t bytes = 4;
    bool kept = false;
    bool active = false;  ///< a read does more than return bits
    OnWrite on_write;
    OnLook on_look;
    OnRead on_read;
  };
  struct Place {
    AccessOutcome outcome = AccessOutcome::done;
    unsigned index = 0;
    unsigned element = 0;
    unsigned shift = 0;      ///< from the register's lowest bit to the access's
    std::uint64_t bits = 0;  ///< of the register that it covers
  };
  [[nodiscard]] Place place_of(std::uint64_t offset, unsigned bytes) const;
  /// The index in values_ of a register's value.
  [[nodiscard]] std::size_t at(unsigned index, unsigned element) const;
  static void add_field(Behaviour& behaviour, const FieldDescription& field);
  void place_words(unsigned index);
  void restore(const Behaviour& behaviour);

  const RegisterMap& map_;
  std::vector<Word> words_;
  std::vector<Behaviour> behaviours_;
  std::vector<std::uint64_t> values_;
};

}  // namespace warpline
