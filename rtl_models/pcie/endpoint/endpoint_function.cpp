#include "rtl_models/pcie/endpoint/endpoint_function.h"

#include <vector>

#include "rtl_models/pcie/packets/tlp_rules.h"

namespace warpline {

BusAccess EndpointFunction::perform(const BarHit& where, Tlp& tlp, Cycle now) {
  BusAccess logged;
  logged.cycle = now;
  logged.bar = static_cast<std::uint8_t>(where.bar);
  logged.requester = tlp.requester.value;
  logged.bytes = tlp.bytes;
  logged.offset = where.offset;
  const bool reads = tlp.kind == TlpKind::memory_read;
  logged.kind = !reads ? (tlp.posted() ? AccessKind::write : AccessKind::atomic)
                       : (tlp.bytes == 0 ? AccessKind::flush : AccessKind::read);
  if (!reads) logged.value = first_bytes(tlp.data);
  if (tlp.bytes == 0) {
    tlp.data.clear();
  } else {
    logged.outcome = access(where, tlp, now);
  }
  if (reads) logged.value = first_bytes(tlp.data);
  log_.add(logged);
  if (observer_ != nullptr) observer_->accessed(logged);
  return logged;
}

AccessOutcome EndpointFunction::access_registers(RegisterFile& registers, const BarHit& where, Tlp& tlp,
                                                 bool takes_writes) {
  if (tlp.kind == TlpKind::memory_read) {
    const RegisterFile::Read read = registers.read(where.offset, tlp.bytes);
    tlp.carry(read.value);
    return read.outcome;
  }
  if (tlp.posted())
    return takes_writes ? registers.write(where.offset, tlp.bytes, first_bytes(tlp.data))
                        : AccessOutcome::done;
  tlp.carry(0);
  return AccessOutcome::wrong_size;
}

AccessOutcome EndpointFunction::access_msix(const BarHit& where, Tlp& tlp) {
  MsixTable& table = *bus_.msix();
  const bool reads = tlp.kind == TlpKind::memory_read;
  const auto judge = [&] {
    if (!reads && !tlp.posted()) return AccessOutcome::wrong_size;
    if (where.offset >= table.bytes()) return AccessOutcome::no_register;
    if (tlp.bytes != 4 && tlp.bytes != 8) return AccessOutcome::wrong_size;
    if (where.offset % tlp.bytes != 0) return AccessOutcome::misaligned;
    return reads || where.offset < table.pending_offset() ? AccessOutcome::done : AccessOutcome::read_only;
  };
  const AccessOutcome outcome = judge();
  const bool done = outcome == AccessOutcome::done;
  if (!tlp.posted()) {
    tlp.carry(done ? table.read(where.offset, tlp.bytes) : 0);
  } else if (done) {
    table.write(where.offset, tlp.bytes, first_bytes(tlp.data));
  }
  return outcome;
}

void EndpointFunction::access_memory(EndpointMemory& memory, std::uint64_t offset, Tlp& tlp) {
  if (tlp.posted()) return memory.write(offset, tlp.data.data(), tlp.bytes);
  if (tlp.kind == TlpKind::memory_read) {
    tlp.data.resize(tlp.bytes);
    return memory.read(offset, tlp.data.data(), tlp.bytes);
  }
  std::vector<std::uint8_t> bytes(tlp.bytes);
  memory.read(offset, bytes.data(), bytes.size());
  perform_atomic(tlp, bytes.data());
  memory.write(offset, bytes.data(), bytes.size());
}

}  // namespace warpline
