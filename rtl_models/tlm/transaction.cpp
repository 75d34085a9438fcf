#include "rtl_models/tlm/transaction.h"

#include <algorithm>
#include <new>

namespace warpline {

void Transaction::describe_anew(const Request& r, bool with_data) {
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  payload.set_dmi_allowed(false);
  payload.set_byte_enable_ptr(nullptr);
  payload.set_byte_enable_length(0);
  if (shown) {
    extension.request = const_cast<Request*>(&r);
    extension.accepted = false;
    extension.request_end = kNever;
  }
  const bool moves_bytes = r.command == Command::read || r.command == Command::write;
  payload.set_command(r.command == Command::read    ? tlm::TLM_READ_COMMAND
                      : r.command == Command::write ? tlm::TLM_WRITE_COMMAND
                                                    : tlm::TLM_IGNORE_COMMAND);
  // From the first to the last sector touched, or byte where only these may be; byte enables where not all
  // in between are.
  const unsigned touched = moves_bytes && r.sectors != 0 ? r.sectors : 1U;
  const bool exact = moves_bytes && r.exact;
  const unsigned first = exact ? r.bytes.first() : first_byte(static_cast<SectorMask>(touched));
  const unsigned end =
      exact ? r.bytes.end() : (32U - static_cast<unsigned>(__builtin_clz(touched))) * kSectorBytes;
  address = r.line.value + first;
  command = payload.get_command();
  payload.set_address(address);
  payload.set_data_ptr(&bytes.data[first]);
  payload.set_data_length(end - first);
  payload.set_streaming_width(end - first);
  reads = !shown && r.command == Command::read && !exact ? r.sectors : SectorMask{0};
  if (!moves_bytes) return;
  const bool by_byte = exact || r.command == Command::write;
  const ByteMask moved = by_byte ? r.bytes : ByteMask::of_sectors(r.sectors);
  if (with_data && r.command == Command::write) copy_masked(bytes.data.data(), r.data.data(), moved);
  ByteMask span;
  span.set(first, end - first);
  if ((moved & span) == span) return;
  for (unsigned i = first; i < end; ++i)
    bytes.enables[i] = moved.test(i) ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
  payload.set_byte_enable_ptr(&bytes.enables[first]);
  payload.set_byte_enable_length(end - first);
}

TransactionPool::~TransactionPool() {
  for (std::size_t i = 0; i < std::min(made_, kSideBySide); ++i) side_by_side(i)->~Transaction();
}

Transaction& TransactionPool::make() {
  auto& memory = static_cast<tlm::tlm_mm_interface&>(*this);
  const std::size_t i = made_++;
  if (i >= kSideBySide) return others_.emplace_back(memory).transaction;
  if (arena_ == nullptr) {
    arena_ = std::make_unique<MemoryImage>(kSideBySide * sizeof(Transaction));
    bytes_ = std::make_unique<MemoryImage>(kSideBySide * sizeof(PayloadBytes));
  }
  auto* bytes = new (bytes_->at(i * sizeof(PayloadBytes))) PayloadBytes;
  auto* t = new (side_by_side(i)) Transaction(memory, *bytes);
  payload_offset_ = reinterpret_cast<const char*>(&t->payload) - reinterpret_cast<const char*>(t);
  bytes_made_ += sizeof(Transaction);
  if (i == 0) first_payload_ = reinterpret_cast<std::uintptr_t>(&t->payload);
  return *t;
}

Transaction* TransactionPool::find_by_extension(tlm::tlm_generic_payload& payload) {
  const auto* extension = payload.get_extension<RequestExtension>();
  Transaction* t = extension != nullptr ? extension->transaction : nullptr;
  return t != nullptr && &t->payload == &payload && t->request != nullptr ? t : nullptr;
}

Transaction& TransactionPool::take(Cycle now) {
  for (; !ripening_.empty() && ripening_.front().from <= now; ripening_.pop_front())
    free_.push_back(ripening_.front().transaction);
  Transaction* t = nullptr;
  if (free_.empty()) {
    t = &make();
  } else {
    t = free_.back();  // the one used last is the one the host's caches hold
    free_.pop_back();
  }
  t->payload.acquire();
  return *t;
}

void TransactionPool::ripen() {
  for (const Ripening& r : ripening_) free_.push_back(r.transaction);
  ripening_.clear();
}

void TransactionPool::give_back(Transaction& transaction, Cycle from) {
  transaction.at = from;
  transaction.owner = 0;
  transaction.request = nullptr;
  if (transaction.shown) transaction.extension.request = nullptr;
  transaction.payload.release();
}

void TransactionPool::free(tlm::tlm_generic_payload* payload) {
  Transaction* t = transaction_of(*payload);
  if (t->shown) payload->reset();  // extensions that others have added go
  if (t->at == 0) {
    free_.push_back(t);
  } else {
    ripening_.push_back({t->at, t});
  }
}

}  // namespace warpline
