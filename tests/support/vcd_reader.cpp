#include "tests/support/vcd_reader.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace warpline::test {
namespace {

class Parser {
 public:
  explicit Parser(const std::string& text) : in_(text) {}

  Vcd parse() {
    header();
    body();
    for (const auto& [path, signal] : vcd_.signals)
      if (signal.changes.empty()) fail(path + " has no value");
    return std::move(vcd_);
  }

 private:
  [[noreturn]] static void fail(const std::string& what) { throw std::runtime_error("VCD: " + what); }
  std::string word() {
    std::string w;
    if (!(in_ >> w)) fail("ends too early");
    return w;
  }
  std::vector<std::string> to_end() {
    std::vector<std::string> words;
    for (std::string w = word(); w != "$end"; w = word()) words.push_back(w);
    return words;
  }

  void header() {
    std::vector<std::string> scopes;
    for (;;) {
      const std::string keyword = word();
      const std::vector<std::string> words = to_end();
      if (keyword == "$enddefinitions") break;
      if (keyword == "$timescale") {
        for (const std::string& w : words) vcd_.timescale += w;
      } else if (keyword == "$scope") {
        if (words.size() != 2 || words[0] != "module") fail("a scope has a kind and a name");
        scopes.push_back(words[1]);
        std::string path;
        for (const std::string& s : scopes) path += s + ".";
        if (++opened_[path] != 1) fail("scope " + path + " is opened twice");
      } else if (keyword == "$upscope") {
        if (scopes.empty()) fail("a scope is closed that is not open");
        scopes.pop_back();
      } else if (keyword == "$var") {
        variable(words, scopes);
      } else if (keyword != "$comment" && keyword != "$date" && keyword != "$version") {
        fail("unknown keyword " + keyword);
      }
    }
    if (!scopes.empty()) fail("a scope is left open");
    if (vcd_.timescale.empty()) fail("no time scale");
  }

  void variable(const std::vector<std::string>& words, const std::vector<std::string>& scopes) {
    if (words.size() < 4 || words.size() > 5) fail("a variable has type, size, code, name and range");
    if (scopes.empty()) fail("a variable lies in a scope");
    std::string path;
    for (const std::string& s : scopes) path += s + ".";
    path += words[3];
    const unsigned bits = static_cast<unsigned>(std::stoul(words[1]));
    if (words.size() == 5 && words[4] != "[" + std::to_string(bits - 1) + ":0]") fail("range of " + path);
    const auto [signal, is_new] = vcd_.signals.emplace(path, VcdSignal{bits, {}});
    if (!is_new) fail(path + " is declared twice");
    if (!by_code_.emplace(words[2], &signal->second).second) fail("code " + words[2] + " is used twice");
  }

  void body() {
    bool timed = false;
    std::string token;
    while (in_ >> token) {
      if (token[0] == '#') {
        const std::uint64_t next = std::stoull(token.substr(1));
        if (timed && next <= time_) fail("time goes from " + std::to_string(time_) + " to " + token);
        if (!timed) vcd_.begin = next;
        timed = true;
        time_ = vcd_.end = next;
      } else if (token[0] == 'b') {
        change(token.substr(1), word());
      } else if (token[0] == '0' || token[0] == '1') {
        change(token.substr(0, 1), token.substr(1));
      } else if (token != "$dumpvars" && token != "$end") {
        fail("cannot read " + token);
      }
    }
    if (!timed) fail("no time at all");
  }

  [[nodiscard]] std::string name_of(const VcdSignal& signal) const {
    for (const auto& [path, s] : vcd_.signals)
      if (&s == &signal) return path;
    return "";
  }
  void change(const std::string& digits, const std::string& code) {
    const auto at = by_code_.find(code);
    if (at == by_code_.end()) fail("code " + code + " is not declared");
    VcdSignal& s = *at->second;
    if (digits.size() > s.bits) fail("a value of " + digits + " in " + std::to_string(s.bits) + " bits");
    std::uint64_t value = 0;
    for (const char d : digits) {
      if (d != '0' && d != '1') fail("digit " + std::string(1, d));
      value = value << 1U | static_cast<std::uint64_t>(d - '0');
    }
    if (!s.changes.empty()) {
      if (s.changes.back().second == value)
        fail("no change of " + name_of(s) + " at " + std::to_string(time_));
      if (s.changes.back().first == time_ && time_ != vcd_.begin)
        fail("two changes of " + name_of(s) + " at once");
    }
    s.changes.emplace_back(time_, value);
  }

  std::istringstream in_;
  Vcd vcd_;
  std::uint64_t time_ = 0;
  std::map<std::string, unsigned> opened_;
  std::map<std::string, VcdSignal*> by_code_;
};

}  // namespace

std::uint64_t VcdSignal::at(std::uint64_t time) const {
  const auto after = std::upper_bound(changes.begin(), changes.end(), time,
                                      [](std::uint64_t t, const auto& c) { return t < c.first; });
  if (after == changes.begin()) throw std::runtime_error("VCD: asked for a time before the dump");
  return (after - 1)->second;
}

std::uint64_t VcdSignal::most() const {
  std::uint64_t most = 0;
  for (const auto& [time, value] : changes) most = std::max(most, value);
  return most;
}

std::uint64_t VcdSignal::integral(std::uint64_t end) const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::uint64_t until = i + 1 < changes.size() ? changes[i + 1].first : end;
    sum += changes[i].second * (until - changes[i].first);
  }
  return sum;
}

Vcd parse_vcd(const std::string& text) {
  return Parser(text).parse();
}

}  // namespace warpline::test
