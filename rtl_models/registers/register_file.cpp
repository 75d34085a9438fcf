#include "rtl_models/registers/register_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

template <class Behaviour>
void give(Behaviour& place, Behaviour behaviour) {
  WARPLINE_EXPECT(!place, "a register has one behaviour of a kind");
  place = std::move(behaviour);
}

}  // namespace

const char* to_text(AccessOutcome outcome) {
  constexpr std::array<const char*, 6> kTexts = {"done",       "no register", "wrong size",
                                                 "misaligned", "read only",   "write only"};
  return kTexts[static_cast<std::size_t>(outcome)];
}

RegisterFile::RegisterFile(const RegisterMap& map) : map_(map), behaviours_(map.register_count) {
  WARPLINE_EXPECT(map.register_count < kHole, "a block has fewer than 65535 registers");
  for (unsigned i = 0; i < map.register_count; ++i) {
    const RegisterDescription& r = map.registers[i];
    Behaviour& b = behaviours_[i];
    b.first = values_.size();
    b.bytes = r.bytes;
    b.count = r.count;
    b.kept = r.kept;
    b.reset = reset_value(r);
    for (unsigned f = 0; f < r.field_count; ++f) add_field(b, r.fields[f]);
    b.active = b.clear_by_read != 0;
    values_.insert(values_.end(), r.count, b.reset);
    place_words(i);
  }
}

void RegisterFile::add_field(Behaviour& behaviour, const FieldDescription& field) {
  const std::uint64_t mask = field.at.mask();
  WARPLINE_EXPECT(field.at.low + field.at.bits <= behaviour.bytes * 8, "a field lies in its register");
  behaviour.held |= mask;
  if (field.access != FieldAccess::write_only) behaviour.readable |= mask;
  switch (field.access) {
    case FieldAccess::read_only:
    case FieldAccess::read_to_pop: return;
    case FieldAccess::read_write:
    case FieldAccess::write_only: behaviour.writable |= mask; return;
    case FieldAccess::write_one_to_clear: behaviour.clear_by_one |= mask; return;
    case FieldAccess::read_to_clear: behaviour.clear_by_read |= mask; return;
  }
}

void RegisterFile::place_words(unsigned index) {
  const RegisterDescription& r = map_.registers[index];
  WARPLINE_EXPECT((r.bytes == 4 || r.bytes == 8) && r.count > 0, "a register has 4 or 8 bytes");
  WARPLINE_EXPECT(r.offset % r.bytes == 0 && r.stride % r.bytes == 0, "registers are aligned");
  const std::uint64_t end = r.offset + std::uint64_t{r.count - 1U} * r.stride + r.bytes;
  WARPLINE_EXPECT(end <= map_.bytes, "a register lies in its block");
  if (words_.size() < end / 4) words_.resize(end / 4);
  for (unsigned element = 0; element < r.count; ++element) {
    for (unsigned byte = 0; byte < r.bytes; byte += 4) {
      Word& word = words_[(r.offset + std::size_t{element} * r.stride + byte) / 4];
      WARPLINE_EXPECT(word.index == kHole, "registers do not overlap");
      word = {static_cast<std::uint16_t>(index), static_cast<std::uint16_t>(element)};
    }
  }
}

RegisterFile::Place RegisterFile::place_of(std::uint64_t offset, unsigned bytes) const {
  Place p;
  const Word word = offset / 4 < words_.size() ? words_[offset / 4] : Word{};
  if (word.index == kHole) {
    p.outcome = AccessOutcome::no_register;
    return p;
  }
  const unsigned whole = behaviours_[word.index].bytes;
  if (bytes != whole && bytes != 4) {
    p.outcome = AccessOutcome::wrong_size;
  } else if (offset % bytes != 0) {
    p.outcome = AccessOutcome::misaligned;
  }
  p.index = word.index;
  p.element = word.element;
  p.shift = static_cast<unsigned>(offset % whole) * 8;
  p.bits = (~std::uint64_t{0} >> (bytes == 8 ? 0U : 32U)) << p.shift;
  return p;
}

RegisterFile::Read RegisterFile::read(std::uint64_t offset, unsigned bytes) {
  const Place p = place_of(offset, bytes);
  if (p.outcome != AccessOutcome::done) return {p.outcome, 0};
  const Behaviour& b = behaviours_[p.index];
  if (b.readable == 0) return {AccessOutcome::write_only, 0};
  std::uint64_t& value = values_[b.first + p.element];
  if (!b.active) return {AccessOutcome::done, (value & b.readable & p.bits) >> p.shift};
  if (b.on_look) value = b.on_look(p.element) & b.held;
  const Read result{AccessOutcome::done, (value & b.readable & p.bits) >> p.shift};
  value &= ~(b.clear_by_read & p.bits);
  if (b.on_read) b.on_read(p.element, p.bits);
  return result;
}

RegisterFile::Read RegisterFile::peek(std::uint64_t offset, unsigned bytes) const {
  const Place p = place_of(offset, bytes);
  if (p.outcome != AccessOutcome::done) return {p.outcome, 0};
  const Behaviour& b = behaviours_[p.index];
  if (b.readable == 0) return {AccessOutcome::write_only, 0};
  const std::uint64_t value = b.on_look ? b.on_look(p.element) : values_[b.first + p.element];
  return {AccessOutcome::done, (value & b.readable & p.bits) >> p.shift};
}

AccessOutcome RegisterFile::write(std::uint64_t offset, unsigned bytes, std::uint64_t value) {
  const Place p = place_of(offset, bytes);
  if (p.outcome != AccessOutcome::done) return p.outcome;
  const Behaviour& b = behaviours_[p.index];
  if ((b.writable | b.clear_by_one) == 0) return AccessOutcome::read_only;
  std::uint64_t& held = values_[b.first + p.element];
  if (b.on_look) held = b.on_look(p.element) & b.held;
  const std::uint64_t before = held;
  const std::uint64_t written = (value << p.shift) & p.bits;
  held = (before & ~(b.writable & p.bits) & ~(written & b.clear_by_one)) | (written & b.writable);
  if (b.on_write) b.on_write({p.element, p.bits, before, held});
  return AccessOutcome::done;
}

std::size_t RegisterFile::at(unsigned index, unsigned element) const {
  WARPLINE_EXPECT(index < behaviours_.size() && element < behaviours_[index].count, "there is that register");
  return behaviours_[index].first + element;
}

void RegisterFile::on_write(unsigned index, OnWrite behaviour) {
  give(behaviours_.at(index).on_write, std::move(behaviour));
}

void RegisterFile::on_look(unsigned index, OnLook behaviour) {
  give(behaviours_.at(index).on_look, std::move(behaviour));
  behaviours_[index].active = true;
}

void RegisterFile::on_read(unsigned index, OnRead behaviour) {
  give(behaviours_.at(index).on_read, std::move(behaviour));
  behaviours_[index].active = true;
}

void RegisterFile::restore(const Behaviour& b) {
  std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(b.first), b.count, b.reset);
}

}  // namespace warpline
