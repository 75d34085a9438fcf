#pragma once

#include <initializer_list>

#include "rtl_models/pcie/packets/tlp.h"

namespace warpline::test {

inline const std::initializer_list<TlpKind> kAllTlpKinds = {
    TlpKind::memory_read,      TlpKind::memory_write, TlpKind::fetch_add,    TlpKind::swap,
    TlpKind::compare_and_swap, TlpKind::config_read,  TlpKind::config_write, TlpKind::completion};

/// A well-formed packet for `bytes` bytes, whose payload counts up from 1.
inline Tlp packet(TlpKind kind, std::uint64_t address, std::uint32_t bytes) {
  Tlp tlp;
  tlp.kind = kind;
  tlp.address = address;
  tlp.bytes = bytes;
  if (kind == TlpKind::completion) tlp.remaining = bytes;
  const bool carries = kind != TlpKind::memory_read && kind != TlpKind::config_read;
  const unsigned payload = kind == TlpKind::compare_and_swap ? 2 * bytes : carries ? bytes : 0;
  for (unsigned i = 0; i < payload; ++i) tlp.data.push_back(static_cast<std::uint8_t>(i + 1));
  return tlp;
}

}  // namespace warpline::test
