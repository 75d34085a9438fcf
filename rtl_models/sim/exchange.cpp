#include "rtl_models/sim/exchange.h"

#include <cstring>

#include "rtl_models/base/contract.h"

namespace warpline {
namespace {

/// What a message ends with: which call it is of, and how long its purpose is, which stands before that.
struct Label {
  std::uint64_t call = 0;
  std::uint64_t purpose_bytes = 0;
};

template <class T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::vector<std::string> Exchange::trade(std::string_view purpose, std::vector<std::string> to) {
  WARPLINE_EXPECT(to.size() == ranks(), "there is a message for every rank");
  const Label own{++calls_, purpose.size()};
  for (std::string& message : to) {
    message += purpose;
    append(message, own);
  }
  std::vector<std::string> from = carry(std::move(to));
  for (unsigned r = 0; r < ranks(); ++r) {
    if (r == rank()) {
      from[r].clear();
      continue;
    }
    std::string& message = from[r];
    const std::string who = "rank " + std::to_string(r);
    Label label;
    if (message.size() < sizeof label) throw ExchangeError(who + " has sent what is no message");
    std::memcpy(&label, message.data() + message.size() - sizeof label, sizeof label);
    message.resize(message.size() - sizeof label);
    if (label.purpose_bytes > message.size()) throw ExchangeError(who + " has sent what is no message");
    const std::size_t bytes = message.size() - label.purpose_bytes;
    const std::string theirs = message.substr(bytes);
    if (label.call != own.call || theirs != purpose)
      throw ExchangeError(who + " is at \"" + theirs + "\" where rank " + std::to_string(rank()) +
                          " is at \"" + std::string(purpose) + "\": ranks have to do the same");
    message.resize(bytes);
  }
  return from;
}

std::vector<std::string> Exchange::tell(std::string_view purpose, const std::string& all) {
  return trade(purpose, std::vector<std::string>(ranks(), all));
}

std::string Exchange::hear(std::string_view purpose, unsigned root, std::string said) {
  if (rank() == root) {
    static_cast<void>(tell(purpose, said));
    return said;
  }
  return std::move(trade(purpose, std::vector<std::string>(ranks())).at(root));
}

bool Exchange::all(std::string_view purpose, bool here) {
  bool everywhere = here;
  const std::vector<std::string> said = tell(purpose, here ? "y" : "n");
  for (unsigned r = 0; r < ranks(); ++r)
    if (r != rank() && said[r] != "y") everywhere = false;
  return everywhere;
}

std::uint64_t Exchange::sum(std::string_view purpose, std::uint64_t here) {
  std::string own;
  append(own, here);
  const std::vector<std::string> said = tell(purpose, own);
  std::uint64_t sum = here;
  for (unsigned r = 0; r < ranks(); ++r) {
    if (r == rank()) continue;
    std::uint64_t there = 0;
    if (said[r].size() != sizeof there)
      throw ExchangeError("rank " + std::to_string(r) + " has told no number");
    std::memcpy(&there, said[r].data(), sizeof there);
    sum += there;
  }
  return sum;
}

}  // namespace warpline
