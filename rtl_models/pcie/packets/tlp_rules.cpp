#include "rtl_models/pcie/packets/tlp_rules.h"

#include <algorithm>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

bool is_atomic(TlpKind kind) {
  return kind == TlpKind::fetch_add || kind == TlpKind::swap || kind == TlpKind::compare_and_swap;
}

std::string text(std::uint64_t number) {
  return std::to_string(number);
}

/// Bytes of payload that a packet must have.
std::uint64_t due_payload(const Tlp& tlp) {
  switch (tlp.kind) {
    case TlpKind::memory_read:
    case TlpKind::config_read: return 0;
    case TlpKind::compare_and_swap: return std::uint64_t{2} * tlp.bytes;
    case TlpKind::completion: return tlp.status == CompletionStatus::successful ? tlp.bytes : 0;
    case TlpKind::memory_write:
    case TlpKind::fetch_add:
    case TlpKind::swap:
    case TlpKind::config_write: return tlp.bytes;
  }
  return 0;
}

std::string atomic_malformation(const Tlp& tlp) {
  const bool wide = tlp.kind == TlpKind::compare_and_swap && tlp.bytes == 16;
  if (tlp.bytes != 4 && tlp.bytes != 8 && !wide)
    return "there are no atomics of " + text(tlp.bytes) + " bytes of that kind";
  if (tlp.address % tlp.bytes != 0) return "the address of an atomic is no multiple of its size";
  return {};
}

std::string config_malformation(const Tlp& tlp) {
  if (tlp.address >= kBusPage) return "configuration space ends at 4096";
  if (tlp.bytes == 0 || tlp.address % 4 + tlp.bytes > 4)
    return "a configuration request is for bytes of one register";
  return {};
}

std::string completion_malformation(const Tlp& tlp) {
  if (tlp.status == CompletionStatus::successful && tlp.remaining < tlp.bytes)
    return "a completion carries " + text(tlp.bytes) + " bytes of " + text(tlp.remaining);
  return {};
}

}  // namespace

std::vector<ByteRun> split_request(std::uint64_t address, std::uint32_t bytes, unsigned most) {
  WARPLINE_EXPECT(most > 0, "a packet has room for something");
  std::vector<ByteRun> parts;
  do {
    const std::uint64_t to_page_end = kBusPage - address % kBusPage;
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>({bytes, most, to_page_end}));
    parts.push_back({address, n});
    address += n;
    bytes -= n;
  } while (bytes != 0);
  return parts;
}

bool brings_next(const Tlp& completion, std::uint64_t address, std::uint32_t left) {
  return (completion.address ^ address) % kBusPage == 0 && completion.remaining == left;
}

Tlp part_of(const Tlp& whole, const ByteRun& part) {
  Tlp piece = whole;
  const auto offset = static_cast<std::uint32_t>(part.address - whole.address);
  const auto first = whole.data.begin() + offset;
  piece.data.assign(first, first + part.bytes);
  if (whole.kind == TlpKind::completion) piece.remaining -= offset;
  piece.address = part.address;
  piece.bytes = part.bytes;
  return piece;
}

std::vector<ByteRun> split_completion(std::uint64_t address, std::uint32_t bytes, unsigned most,
                                      unsigned boundary) {
  WARPLINE_EXPECT(boundary > 0 && most >= boundary, "a completion reaches the next boundary");
  std::vector<ByteRun> parts;
  for (; bytes > most; bytes -= parts.back().bytes, address += parts.back().bytes) {
    // What lies beyond the last boundary within reach is left to the next, which then begins on it.
    const auto beyond = static_cast<std::uint32_t>((address + most) % boundary);
    parts.push_back({address, most - beyond});
  }
  parts.push_back({address, bytes});
  return parts;
}

std::string malformation(const Tlp& tlp, unsigned max_payload, unsigned max_read) {
  if (tlp.payload() != due_payload(tlp))
    return "its payload has " + text(tlp.payload()) + " bytes instead of " + text(due_payload(tlp));
  if (tlp.payload() > max_payload)
    return "its payload has " + text(tlp.payload()) + " bytes, more than " + text(max_payload);
  if (tlp.kind == TlpKind::completion) return completion_malformation(tlp);
  if (tlp.kind == TlpKind::config_read || tlp.kind == TlpKind::config_write) return config_malformation(tlp);
  if (is_atomic(tlp.kind)) return atomic_malformation(tlp);
  if (tlp.kind == TlpKind::memory_read && tlp.bytes > max_read)
    return "it asks for " + text(tlp.bytes) + " bytes, more than " + text(max_read);
  if (tlp.address % kBusPage + tlp.bytes > kBusPage) return "it crosses a boundary of 4 KiB";
  return {};
}

bool may_pass(const Tlp& later, const Tlp& earlier) {
  const TlpClass passing = class_of(later.kind), passed = class_of(earlier.kind);
  if (passed == TlpClass::non_posted) return true;
  // A plain read pushes the writes before it.
  if (passed == TlpClass::posted) return may_pass_writes(later);
  const bool same_read = later.requester == earlier.requester && later.tag == earlier.tag;
  return passing != TlpClass::completion || !same_read;
}

void perform_atomic(Tlp& tlp, std::uint8_t* memory) {
  WARPLINE_EXPECT(is_atomic(tlp.kind) && tlp.payload() == due_payload(tlp),
                  "a well-formed atomic is performed");
  std::vector<std::uint8_t> old(memory, memory + tlp.bytes);
  const std::uint8_t* operand = tlp.data.data();
  if (tlp.kind == TlpKind::fetch_add) {
    put_number(memory, tlp.bytes, number_at(memory, tlp.bytes) + number_at(operand, tlp.bytes));
  } else if (tlp.kind == TlpKind::swap) {
    std::copy_n(operand, tlp.bytes, memory);
  } else if (std::equal(old.begin(), old.end(), operand)) {
    std::copy_n(operand + tlp.bytes, tlp.bytes, memory);
  }
  tlp.data = std::move(old);
}

}  // namespace warpline
