// Random blocks under random accesses, against a block that keeps one array of bits and reads its
// description anew each time.
#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "rtl_models/base/random.h"
#include "rtl_models/registers/register_file.h"
#include "tests/support/environment.h"

namespace warpline::test {
namespace register_file_fuzz_test {

constexpr std::uint32_t kBlockBytes = 0x100;

/// A description made at random. Deques, so that what is pointed to stays where it is.
struct RandomBlock {
  std::deque<std::vector<FieldDescription>> fields;
  std::vector<RegisterDescription> registers;
  RegisterMap map{};

  explicit RandomBlock(Random& random) {
    std::uint32_t offset = 0;
    while (offset < kBlockBytes) {
      offset += 4 * static_cast<std::uint32_t>(random.below(3));
      RegisterDescription r{};
      r.bytes = random.below(2) == 0 ? 4 : 8;
      offset = (offset + r.bytes - 1) / r.bytes * r.bytes;
      r.name = "R";
      r.offset = offset;
      r.count = static_cast<std::uint16_t>(1 + random.below(3) / 2 * random.below(4));
      r.stride = r.bytes * static_cast<std::uint32_t>(1 + random.below(3));
      r.kept = random.below(4) == 0;
      offset += (r.count - 1U) * r.stride + r.bytes;
      if (offset > kBlockBytes) break;
      const std::vector<FieldDescription>& f = fields.emplace_back(random_fields(random, r.bytes * 8U));
      r.fields = f.data();
      r.field_count = static_cast<unsigned>(f.size());
      registers.push_back(r);
    }
    map = {"random", kBlockBytes, registers.data(), static_cast<unsigned>(registers.size())};
  }

  static std::vector<FieldDescription> random_fields(Random& random, unsigned width) {
    const auto only = static_cast<FieldAccess>(random.below(6));
    const bool mixed = random.below(3) != 0;
    std::vector<FieldDescription> made;
    for (auto low = static_cast<unsigned>(random.below(4)); low < width;) {
      const auto bits = static_cast<unsigned>(1 + random.below(width - low));
      const FieldAccess access = mixed ? static_cast<FieldAccess>(random.below(6)) : only;
      const BitField at{static_cast<std::uint8_t>(low), static_cast<std::uint8_t>(bits)};
      made.push_back({"F", at, access, at.in(random.next()), ""});
      low += bits + static_cast<unsigned>(random.below(5));
    }
    return made;
  }
};

/// The block bit by bit.
class NaiveBlock {
 public:
  explicit NaiveBlock(const RegisterMap& map) : map_(map) { reset(true); }

  void reset(bool all) {
    for_each_field([&](const RegisterDescription& r, const FieldDescription& f, std::size_t first) {
      if (r.kept && !all) return;
      for (unsigned i = 0; i < f.at.bits; ++i) bits_.at(first + i) = (f.reset >> i & 1U) != 0;
    });
  }
  RegisterFile::Read read(std::uint64_t offset, unsigned bytes, bool effects) {
    RegisterFile::Read result{outcome(offset, bytes, false), 0};
    if (result.outcome != AccessOutcome::done) return result;
    for (unsigned i = 0; i < bytes * 8; ++i) {
      const FieldDescription* const f = field_of(offset * 8 + i);
      if (f == nullptr || f->access == FieldAccess::write_only) continue;
      result.value |= std::uint64_t{bits_.at(offset * 8 + i)} << i;
      if (effects && f->access == FieldAccess::read_to_clear) bits_.at(offset * 8 + i) = false;
    }
    return result;
  }
  AccessOutcome write(std::uint64_t offset, unsigned bytes, std::uint64_t value) {
    const AccessOutcome result = outcome(offset, bytes, true);
    if (result != AccessOutcome::done) return result;
    for (unsigned i = 0; i < bytes * 8; ++i) {
      const FieldDescription* const f = field_of(offset * 8 + i);
      if (f == nullptr) continue;
      const bool one = (value >> i & 1U) != 0;
      if (f->access == FieldAccess::read_write || f->access == FieldAccess::write_only)
        bits_.at(offset * 8 + i) = one;
      if (f->access == FieldAccess::write_one_to_clear && one) bits_.at(offset * 8 + i) = false;
    }
    return result;
  }
  void set(const RegisterDescription& r, unsigned element, std::uint64_t value, bool raise) {
    for (unsigned i = 0; i < r.bytes * 8U; ++i) {
      const std::size_t bit = (r.offset + std::size_t{element} * r.stride) * 8 + i;
      if (field_of(bit) == nullptr) continue;
      bits_.at(bit) = (value >> i & 1U) != 0 || (raise && bits_.at(bit));
    }
  }
  std::uint64_t get(const RegisterDescription& r, unsigned element) const {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < r.bytes * 8U; ++i)
      value |= std::uint64_t{bits_.at((r.offset + std::size_t{element} * r.stride) * 8 + i)} << i;
    return value;
  }

 private:
  /// Calls f(register, field, bit of the block where the field begins) for every element.
  template <class F>
  void for_each_field(F f) const {
    for (unsigned i = 0; i < map_.register_count; ++i) {
      const RegisterDescription& r = map_.registers[i];
      for (unsigned e = 0; e < r.count; ++e)
        for (unsigned k = 0; k < r.field_count; ++k)
          f(r, r.fields[k], (r.offset + std::size_t{e} * r.stride) * 8 + r.fields[k].at.low);
    }
  }
  const FieldDescription* field_of(std::uint64_t bit) const {
    const FieldDescription* found = nullptr;
    for_each_field([&](const RegisterDescription&, const FieldDescription& f, std::size_t first) {
      if (bit >= first && bit < first + f.at.bits) found = &f;
    });
    return found;
  }
  AccessOutcome outcome(std::uint64_t offset, unsigned bytes, bool writes) const {
    for (unsigned i = 0; i < map_.register_count; ++i) {
      const RegisterDescription& r = map_.registers[i];
      for (unsigned e = 0; e < r.count; ++e) {
        const std::uint64_t first = r.offset + std::uint64_t{e} * r.stride;
        if (offset < first || offset >= first + r.bytes) continue;
        if (bytes != 4 && bytes != r.bytes) return AccessOutcome::wrong_size;
        if (offset != first && !(bytes == 4 && offset == first + 4)) return AccessOutcome::misaligned;
        bool readable = false, writable = false;
        for (unsigned k = 0; k < r.field_count; ++k) {
          const FieldAccess a = r.fields[k].access;
          readable = readable || a != FieldAccess::write_only;
          writable = writable || a == FieldAccess::read_write || a == FieldAccess::write_only ||
                     a == FieldAccess::write_one_to_clear;
        }
        if (writes && !writable) return AccessOutcome::read_only;
        return !writes && !readable ? AccessOutcome::write_only : AccessOutcome::done;
      }
    }
    return AccessOutcome::no_register;
  }

  const RegisterMap& map_;
  std::vector<bool> bits_ = std::vector<bool>(kBlockBytes * 8);
};

/// An access of mostly sensible place and size.
struct Access {
  std::uint64_t offset;
  unsigned bytes;
  explicit Access(Random& random)
      : offset(random.below(kBlockBytes + 16)), bytes(random.below(2) == 0 ? 4 : 8) {
    if (random.below(8) == 0) bytes = static_cast<unsigned>(random.below(17));
    if (random.below(8) != 0) offset &= ~std::uint64_t{3};
  }
};

void run(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  const RandomBlock block(random);
  RegisterFile file(block.map);
  NaiveBlock naive(block.map);
  for (unsigned step = 0; step < 300; ++step) {
    const Access a(random);
    const std::uint64_t value = random.next();
    const RegisterDescription& r = block.registers[random.below(block.registers.size())];
    const auto index = static_cast<unsigned>(&r - block.registers.data());
    const auto element = static_cast<unsigned>(random.below(r.count));
    switch (random.below(8)) {
      case 0: file.set(index, value, element), naive.set(r, element, value, false); break;
      case 1: file.raise(index, value, element), naive.set(r, element, value, true); break;
      case 2:
        if (random.below(20) == 0) file.reset(), naive.reset(false);
        if (random.below(20) == 0) file.power_on(), naive.reset(true);
        break;
      case 3:
      case 4:
        ASSERT_EQ(file.write(a.offset, a.bytes, value), naive.write(a.offset, a.bytes, value))
            << "step " << step;
        break;
      default: {
        const bool effects = random.below(2) == 0;
        const RegisterFile::Read got = effects ? file.read(a.offset, a.bytes) : file.peek(a.offset, a.bytes);
        const RegisterFile::Read expected = naive.read(a.offset, a.bytes, effects);
        ASSERT_EQ(got.outcome, expected.outcome) << "step " << step;
        ASSERT_EQ(got.value, expected.value) << "step " << step;
      }
    }
    ASSERT_EQ(file.get(index, element), naive.get(r, element)) << "step " << step;
  }
}

TEST(RegisterFileFuzz, RandomBlocksAreWhatTheirDescriptionSays) {
  const std::uint64_t blocks = from_environment("WARPLINE_REGISTER_BLOCKS", 250);
  for (std::uint64_t seed = 0; seed < blocks && !HasFatalFailure(); ++seed) run(seed);
}

}  // namespace register_file_fuzz_test
}  // namespace warpline::test
