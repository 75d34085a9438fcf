#include "rtl_models/sim/ranks.h"

namespace warpline {
namespace {

void put_text(std::string& to, const std::string& text) {
  put_value(to, static_cast<std::uint64_t>(text.size()));
  to += text;
}
std::string take_text(std::string_view& from) {
  const auto bytes = take_value<std::uint64_t>(from);
  if (bytes > from.size()) throw ExchangeError("a message between ranks is cut off");
  std::string text(from.substr(0, bytes));
  from.remove_prefix(bytes);
  return text;
}

void put_wait(std::string& to, const Wait& w, const RequestFerry& ferry) {
  put_text(to, w.who);
  put_text(to, w.what);
  put_value(to, static_cast<std::uint64_t>(w.on.size()));
  for (const std::string& on : w.on) put_text(to, on);
  put_value(to, ferry.name_of(w.answers.maker));
  put_value(to, w.answers.token);
  put_value(to, w.answers.warp);
  put_value(to, static_cast<std::uint8_t>(w.answers.writes));
}
Wait take_wait(std::string_view& from, RequestFerry& ferry) {
  Wait w;
  w.who = take_text(from);
  w.what = take_text(from);
  for (auto n = take_value<std::uint64_t>(from); n != 0; --n) w.on.push_back(take_text(from));
  w.answers.maker = ferry.maker_of(take_value<RequestFerry::Maker>(from));
  w.answers.token = take_value<unsigned>(from);
  w.answers.warp = take_value<unsigned>(from);
  w.answers.writes = take_value<std::uint8_t>(from) != 0;
  return w;
}

std::string packed(const SteppedStandstill& s, const RequestFerry& ferry) {
  std::string to;
  put_value(to, static_cast<std::uint64_t>(s.after.size()));
  SteppedStandstill::Length before;
  for (const SteppedStandstill::Length& after : s.after) {
    put_value(to, static_cast<std::uint32_t>(after.rows - before.rows));
    put_value(to, static_cast<std::uint32_t>(after.waits - before.waits));
    before = after;
  }
  for (const InFlight& row : s.all.in_flight) {
    ferry.put_shown(to, *row.request);
    put_text(to, row.holder);
    put_text(to, row.at);
    put_wait(to, row.wait, ferry);
  }
  for (const Wait& w : s.all.waits) put_wait(to, w, ferry);
  return to;
}

SteppedStandstill unpacked(std::string_view from, std::size_t steps, RequestFerry& ferry) {
  SteppedStandstill s;
  if (take_value<std::uint64_t>(from) != steps) throw ExchangeError("another rank has another machine");
  SteppedStandstill::Length length;
  for (std::size_t n = 0; n < steps; ++n) {
    length.rows += take_value<std::uint32_t>(from);
    length.waits += take_value<std::uint32_t>(from);
    s.after.push_back(length);
  }
  for (std::size_t n = 0; n < length.rows; ++n) {
    const Request& request = ferry.take_shown(from);
    std::string holder = take_text(from);
    std::string at = take_text(from);
    s.all.in_flight.emplace_back(request, std::move(holder), std::move(at), std::string());
    s.all.in_flight.back().wait = take_wait(from, ferry);
  }
  for (std::size_t n = 0; n < length.waits; ++n) s.all.waits.push_back(take_wait(from, ferry));
  return s;
}

}  // namespace

Standstill merged(SteppedStandstill own, Ranks& ranks) {
  Exchange& exchange = ranks.exchange;
  const std::vector<std::string> told = exchange.tell("what is in flight", packed(own, ranks.ferry));
  const std::size_t steps = own.after.size();
  std::vector<SteppedStandstill> all(exchange.ranks());
  for (unsigned r = 0; r < exchange.ranks(); ++r)
    if (r != exchange.rank()) all[r] = unpacked(told[r], steps, ranks.ferry);
  all[exchange.rank()] = std::move(own);
  Standstill out;
  SteppedStandstill::Length none;
  for (std::size_t n = 0; n < steps; ++n)
    for (SteppedStandstill& s : all) {
      const SteppedStandstill::Length& from = n == 0 ? none : s.after[n - 1];
      for (std::size_t i = from.rows; i < s.after[n].rows; ++i)
        out.in_flight.push_back(std::move(s.all.in_flight[i]));
      for (std::size_t i = from.waits; i < s.after[n].waits; ++i)
        out.waits.push_back(std::move(s.all.waits[i]));
    }
  return out;
}

}  // namespace warpline
