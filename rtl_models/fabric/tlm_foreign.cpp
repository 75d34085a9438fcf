#include "warpline/fabric/tlm_foreign.h"

#include <algorithm>

namespace warpline {
namespace {

/// The response status that TLM has for a payload that cannot be one of our requests; OK if it can.
tlm::tlm_response_status fault_of(const tlm::tlm_generic_payload& p) {
  const std::uint64_t length = p.get_data_length();
  if (length == 0 || p.get_data_ptr() == nullptr) return tlm::TLM_GENERIC_ERROR_RESPONSE;
  if (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_length() == 0)
    return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (p.get_streaming_width() < length || p.get_address() % kLineBytes + length > kLineBytes)
    return tlm::TLM_BURST_ERROR_RESPONSE;
  return tlm::TLM_OK_RESPONSE;
}

bool enabled(const tlm::tlm_generic_payload& p, unsigned i) {
  const unsigned char* enables = p.get_byte_enable_ptr();
  return enables == nullptr || enables[i % p.get_byte_enable_length()] == TLM_BYTE_ENABLED;
}

/// Whether a read or write moves a byte at all.
bool any_enabled(const tlm::tlm_generic_payload& p) {
  const unsigned moved = std::min(p.get_data_length(), p.get_byte_enable_length());
  if (p.get_byte_enable_ptr() == nullptr) return true;
  return std::find(p.get_byte_enable_ptr(), p.get_byte_enable_ptr() + moved, TLM_BYTE_ENABLED) !=
         p.get_byte_enable_ptr() + moved;
}

/// Whether a payload asks for what TLM has no command for; `model`: the request it is a copy of, or null.
bool beyond_tlm(const tlm::tlm_generic_payload& p, const Request* model) {
  return p.get_command() == tlm::TLM_IGNORE_COMMAND && model != nullptr && model->command != Command::read &&
         model->command != Command::write;
}

/// Whether the payload is answered at once, and if so, sets its response status.
bool answered_at_once(tlm::tlm_generic_payload& p, const Request* model) {
  if (beyond_tlm(p, model)) return false;
  const tlm::tlm_response_status fault =
      p.get_command() == tlm::TLM_IGNORE_COMMAND ? tlm::TLM_COMMAND_ERROR_RESPONSE : fault_of(p);
  if (fault == tlm::TLM_OK_RESPONSE && any_enabled(p)) return false;
  p.set_response_status(fault);
  return true;
}

/// Makes `r` the atomic, reduction or maintenance that `model` is.
void copy_command(Request& r, const Request& model, RequestPool& pool) {
  r.command = model.command;
  r.maintenance = model.maintenance;
  if (model.command == Command::maintain) return;
  r.atomics = pool.allocate_atomics();
  *r.atomics = *model.atomics;
}

/// Makes `r` the read or write of the payload's bytes, the first of which is byte `offset` of the line.
void take_bytes(Request& r, const tlm::tlm_generic_payload& p, unsigned offset, bool with_data) {
  r.command = p.is_read() ? Command::read : Command::write;
  r.bytes = {};
  for (unsigned i = 0; i < p.get_data_length(); ++i) {
    if (!enabled(p, i)) continue;
    r.bytes.set(offset + i, 1);
    if (with_data && r.command == Command::write) r.data[offset + i] = p.get_data_ptr()[i];
  }
  r.sectors = r.bytes.sectors();
}

}  // namespace

Request* ForeignPayloads::request_for(const tlm::tlm_generic_payload& payload, const Request* model) {
  Request* r = model != nullptr ? pool_.allocate_child(*model, this) : pool_.allocate();
  r->maker = this;
  r->line = PhysicalAddress{payload.get_address() & ~std::uint64_t{kLineBytes - 1}};
  if (model == nullptr) {
    r->id = kForeignIds | ++adopted_;
    r->virtual_line = VirtualAddress{r->line.value};
  }
  return r;
}

Request* ForeignPayloads::adopt(tlm::tlm_generic_payload& payload, bool with_data) {
  auto* qualifiers = payload.get_extension<RequestExtension>();
  if (qualifiers != nullptr && qualifiers->request == nullptr) qualifiers = nullptr;
  const Request* model = qualifiers != nullptr ? qualifiers->request : nullptr;
  if (answered_at_once(payload, model)) return nullptr;
  Request* r = request_for(payload, model);
  Foreign& f = *foreign_.emplace(foreign_.end());
  f.hop.payload = &payload;
  f.hop.enter(*r);
  f.qualifiers = qualifiers;
  f.offset = static_cast<unsigned>(payload.get_address() % kLineBytes);
  if (payload.has_mm()) payload.acquire();
  if (beyond_tlm(payload, model)) {
    copy_command(*r, *model, pool_);
    qualifiers->accepted = true;
  } else {
    take_bytes(*r, payload, f.offset, with_data);
  }
  return r;
}

void ForeignPayloads::answer(SocketHop& hop, bool with_data) {
  const auto f =
      std::find_if(foreign_.begin(), foreign_.end(), [&hop](const Foreign& x) { return &x.hop == &hop; });
  tlm::tlm_generic_payload& payload = *hop.payload;
  Request& r = *hop.request;
  if (r.command == Command::read && r.status == Status::ok && with_data) {
    for (unsigned i = 0; i < payload.get_data_length(); ++i)
      if (enabled(payload, i)) payload.get_data_ptr()[i] = r.data[f->offset + i];
  } else if (r.command == Command::atomic) {
    *f->qualifiers->request->atomics = *r.atomics;
  }
  if (f->qualifiers != nullptr) f->qualifiers->request->status = r.status;
  hop.leave();
  pool_.release(&r);
  foreign_.erase(f);
}

}  // namespace warpline
