#include "platform/observe/vcd_writer.h"

#include <algorithm>
#include <numeric>

#include "rtl_models/base/text.h"

namespace warpline {
namespace {

/// When cycle `c` of a clock of `mhz` starts, rounded up: exactly where SystemC has it at its usual
/// resolution.
std::uint64_t picoseconds(Cycle c, unsigned mhz) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{c} * 1'000'000 + mhz - 1) / mhz);
}

using Path = std::vector<std::string_view>;

/// The n-th identifier code, of printable characters: the first ones are the shortest.
std::string code_of(std::size_t n) {
  constexpr std::size_t kFirst = '!', kCount = '~' - '!' + 1;
  std::string code;
  do {
    code += static_cast<char>(kFirst + n % kCount);
    n /= kCount;
  } while (n-- != 0);
  return code;
}

unsigned bits_of(std::uint64_t most) {
  return most < 2 ? 1 : 64 - static_cast<unsigned>(__builtin_clzll(most));
}

/// "sm[2]" before "sm[10]": names in their order, numbers by value.
bool natural_less(const Path& a, const Path& b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(), [](std::string_view x, std::string_view y) {
        const std::size_t bx = x.find('['), by = y.find('[');
        if (bx == x.npos || by == y.npos || x.substr(0, bx) != y.substr(0, by)) return x < y;
        return x.size() != y.size() ? x.size() < y.size() : x < y;
      });
}

}  // namespace

void VcdWriter::declare(const std::vector<Signal>& signals) {
  file_.write("$comment Warpline: what a netlist held, cycle by cycle $end\n$timescale 1 ps $end\n");
  std::vector<Path> paths;
  for (const Signal& s : signals) {
    paths.push_back(split(s.path, '.'));
    variables_.push_back({code_of(variables_.size()), bits_of(s.most)});
  }
  std::vector<std::size_t> order(signals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // A scope is opened once: all signals of a block stand together, and of each level the variables first.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const auto scope = [&](std::size_t i) { return Path(paths[i].begin(), paths[i].end() - 1); };
    return natural_less(scope(a), scope(b));
  });
  Path open;
  file_.write("$scope module gpu $end\n");
  for (const std::size_t i : order) {
    const Path& path = paths[i];
    std::size_t common = 0;
    while (common < open.size() && common + 1 < path.size() && open[common] == path[common]) ++common;
    for (; open.size() > common; open.pop_back()) file_.write("$upscope $end\n");
    for (; common + 1 < path.size(); ++common) {
      open.push_back(path[common]);
      file_.write("$scope module " + std::string(path[common]) + " $end\n");
    }
    const Variable& v = variables_[i];
    file_.write("$var wire " + std::to_string(v.bits) + ' ' + v.code + ' ' + std::string(path.back()) +
                (v.bits > 1 ? " [" + std::to_string(v.bits - 1) + ":0]" : "") + " $end\n");
  }
  for (std::size_t n = open.size() + 1; n != 0; --n) file_.write("$upscope $end\n");
  file_.write("$enddefinitions $end\n");
}

void VcdWriter::start(Cycle first, const std::vector<Signal>& signals,
                      const std::vector<std::uint64_t>& values) {
  declare(signals);
  write_time(first);
  file_.write("$dumpvars\n");
  for (std::size_t i = 0; i < values.size(); ++i) write_value(variables_[i], values[i]);
  file_.write("$end\n");
}

void VcdWriter::write_time(Cycle cycle) {
  if (cycle == time_) return;
  time_ = cycle;
  file_.write('#' + std::to_string(picoseconds(cycle, mhz_)) + '\n');
}

void VcdWriter::write_value(const Variable& variable, std::uint64_t value) {
  char text[80];
  char* end = text;
  if (variable.bits == 1) {
    *end++ = static_cast<char>('0' + (value & 1U));
  } else {
    *end++ = 'b';
    const unsigned bits = bits_of(value);
    for (unsigned b = bits; b-- != 0;) *end++ = static_cast<char>('0' + (value >> b & 1U));
    *end++ = ' ';
  }
  end = std::copy(variable.code.begin(), variable.code.end(), end);
  *end++ = '\n';
  file_.write({text, static_cast<std::size_t>(end - text)});
}

void VcdWriter::change(Cycle cycle, std::uint32_t signal, std::uint64_t value) {
  write_time(cycle);
  write_value(variables_[signal], value);
}

void VcdWriter::finish(Cycle last) {
  write_time(last + 1);
}

}  // namespace warpline
