#include "rtl_models/sim/request_ferry.h"

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

/// What a copy carries of the request that was lent.
void* as_carried(std::uint32_t number) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));
}
std::uint32_t number_in(const Request& copy) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(copy.carried));
}

/// All of an atomic block but the lanes that are not there.
struct BlockHead {
  AtomicOperation operation;
  DataType type;
  MbarrierOperation mbarrier;
  MbarrierForm mbarrier_form;
  std::uint8_t vector;
  bool wide_sums, of_mbarriers;
  unsigned count;
};

void put_block(std::string& to, const AtomicBlock& b) {
  put_value(to, BlockHead{b.operation, b.type, b.mbarrier, b.mbarrier_form, b.vector, b.wide_sums,
                          b.of_mbarriers, b.count});
  for (unsigned i = 0; i < b.count; ++i) {
    put_value(to, b.lanes.at(i));
    put_value(to, b.high.at(i));
  }
}

void take_block(std::string_view& from, AtomicBlock& b) {
  const auto head = take_value<BlockHead>(from);
  if (head.count > b.lanes.size()) throw ExchangeError("a request from another rank has too many lanes");
  b.operation = head.operation;
  b.type = head.type;
  b.mbarrier = head.mbarrier;
  b.mbarrier_form = head.mbarrier_form;
  b.vector = head.vector;
  b.wide_sums = head.wide_sums;
  b.of_mbarriers = head.of_mbarriers;
  b.count = head.count;
  for (unsigned i = 0; i < b.count; ++i) {
    b.lanes.at(i) = take_value<LaneAtomic>(from);
    b.high.at(i) = take_value<LaneAtomicHigh>(from);
  }
}

bool has_block(const Request& r) {
  return (r.command == Command::atomic || r.command == Command::reduce) && r.atomics != nullptr;
}

}  // namespace

RequestFerry::Maker RequestFerry::name_of(const void* maker) const {
  const auto found = names_.find(maker);
  if (found != names_.end()) return found->second;
  return {rank_, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(maker))};
}

const void* RequestFerry::maker_of(const Maker& maker) {
  if (maker.rank == rank_ || maker.address == 0)
    return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(maker.address));
  std::unique_ptr<char>& stand_in = stand_ins_[maker];
  if (stand_in == nullptr) {
    stand_in = std::make_unique<char>();
    names_.emplace(stand_in.get(), maker);
  }
  return stand_in.get();
}

void RequestFerry::put_body(std::string& to, const Request& request) const {
  put_value(to, name_of(request.maker));
  put_value(to, request);
  put_value(to, static_cast<std::uint8_t>(has_block(request)));
  if (has_block(request)) put_block(to, *request.atomics);
}

RequestFerry::Body RequestFerry::take_body(std::string_view& from, Request& request) {
  Request* const next = request.next;
  const void* const maker = request.maker;
  AtomicBlock* const atomics = request.atomics;
  void* const carried = request.carried;
  const auto name = take_value<Maker>(from);
  request = take_value<Request>(from);
  request.next = next;
  request.maker = maker;
  request.atomics = atomics;
  request.carried = carried;
  return {name, take_value<std::uint8_t>(from) != 0};
}

void RequestFerry::take_block_into(std::string_view& from, Request& request, RequestPool& pool) {
  if (request.atomics == nullptr) request.atomics = pool.allocate_atomics();
  take_block(from, *request.atomics);
}

void RequestFerry::put(std::string& to, const RequestMessage& message, RequestPool& /*pool*/) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(lent_.size()));
    lent_.push_back(nullptr);
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  lent_[number] = message.request;
  put_value(to, number);
  put_body(to, *message.request);
}

void RequestFerry::put(std::string& to, const ResponseMessage& message, RequestPool& pool) {
  put_value(to, number_in(*message.request));
  put_body(to, *message.request);
  WARPLINE_EXPECT(borrowed_ != 0, "a request that was borrowed goes back");
  --borrowed_;
  pool.release(message.request);
}

void RequestFerry::take(std::string_view& from, unsigned /*rank*/, RequestMessage& message,
                        RequestPool& pool) {
  const auto number = take_value<std::uint32_t>(from);
  Request* const copy = pool.allocate();
  const Body body = take_body(from, *copy);
  copy->maker = maker_of(body.maker);
  copy->carried = as_carried(number);
  if (body.has_block) take_block_into(from, *copy, pool);
  ++borrowed_;
  message.request = copy;
}

void RequestFerry::take(std::string_view& from, unsigned rank, ResponseMessage& message, RequestPool& pool) {
  const auto number = take_value<std::uint32_t>(from);
  if (number >= lent_.size() || lent_[number] == nullptr)
    throw ExchangeError("rank " + std::to_string(rank) + " gives back what it was not lent");
  message.request = std::exchange(lent_[number], nullptr);
  free_.push_back(number);
  if (take_body(from, *message.request).has_block) take_block_into(from, *message.request, pool);
}

const Request& RequestFerry::take_shown(std::string_view& from) {
  Request& copy = shown_.emplace_back();
  const Body body = take_body(from, copy);
  copy.maker = maker_of(body.maker);
  if (body.has_block) take_block(from, *(copy.atomics = &shown_blocks_.emplace_back()));
  return copy;
}

}  // namespace warpline
