#include "platform/profile/profile_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "rtl_models/base/glob.h"
#include "rtl_models/base/plain_name.h"
#include "rtl_models/base/text.h"
#include "rtl_models/sm/stall_reason.h"

namespace warpline {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// "-" where there is nothing of which it could be a part.
std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f}%", share(part, whole));
}

std::string average(std::uint64_t sum, std::uint64_t count) {
  return count == 0 ? "-" : fmt::format("{:.1f}", static_cast<double>(sum) / static_cast<double>(count));
}

const char* description_of(const std::string& reason) {
  const auto found = std::find_if(kStallReasonTexts.begin(), kStallReasonTexts.end(),
                                  [&reason](const StallReasonText& t) { return reason == t.name; });
  return found == kStallReasonTexts.end() ? "" : found->description;
}

/// Most cycles first.
std::vector<std::pair<std::string, std::uint64_t>> sorted(
    const std::map<std::string, std::uint64_t>& stalls) {
  std::vector<std::pair<std::string, std::uint64_t>> out(stalls.begin(), stalls.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

/// Rows of texts below a heading: the last column to the left, the others to the right.
class Columns {
 public:
  explicit Columns(std::vector<std::string> heading) { add(std::move(heading)); }
  void add(std::vector<std::string> row) {
    widths_.resize(std::max(widths_.size(), row.size()));
    for (std::size_t n = 0; n < row.size(); ++n) widths_[n] = std::max(widths_[n], row[n].size());
    rows_.push_back(std::move(row));
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (const auto& row : rows_) {
      for (std::size_t n = 0; n + 1 < row.size(); ++n) out += fmt::format("  {:>{}}", row[n], widths_[n]);
      out += "  " + row.back() + "\n";
    }
    return out;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> widths_;
};

void add(std::map<std::string, std::uint64_t>& to, const std::map<std::string, std::uint64_t>& from) {
  for (const auto& [name, value] : from) to[name] += value;
}

/// The lines of CUDA that the kernel's come from, in order of file and line. What comes from none is one.
std::vector<ProfileLine> by_cuda_line(const std::vector<ProfileLine>& lines) {
  std::map<std::pair<std::string, unsigned long>, ProfileLine> of;
  for (const ProfileLine& line : lines) {
    const std::size_t colon = line.cuda.rfind(':');
    const std::pair<std::string, unsigned long> place{
        line.cuda.substr(0, colon == std::string::npos ? 0 : colon),
        colon == std::string::npos ? 0 : std::strtoul(line.cuda.c_str() + colon + 1, nullptr, 10)};
    ProfileLine& sum = of[place];
    sum.where = line.cuda.empty() ? "of no line of CUDA" : line.cuda;
    sum.text = line.cuda_text;
    sum.issued += line.issued;
    sum.lanes += line.lanes;
    add(sum.stalls, line.stalls);
    sum.memory.add(line.memory);
  }
  std::vector<ProfileLine> out;
  for (auto& [place, line] : of) out.push_back(std::move(line));
  return out;
}

std::vector<std::string> row_of(const ProfileLine& line, std::uint64_t warp_cycles) {
  const ProfileLine::Memory& m = line.memory;
  const auto answered = [&m](const char* level) {
    const auto found = m.answered.find(level);
    return found == m.answered.end() ? std::uint64_t{0} : found->second;
  };
  const std::uint64_t below = answered("l2") + answered("dram") + answered("link");
  std::string main = "-";
  for (const auto& [reason, cycles] : sorted(line.stalls))
    if (reason != name_of(StallReason::selected) && cycles != 0) {
      main = fmt::format("{} {:.0f}%", reason, share(cycles, line.stalled()));
      break;
    }
  const bool memory = m.accesses != 0;
  return {percent(line.stalled(), warp_cycles),
          main,
          grouped(line.issued),
          average(line.lanes, line.issued),
          m.asking != 0 ? average(m.sectors, m.asking) : "",
          m.asking != 0 ? fmt::format("{:.0f}%", share(m.asking_bytes, m.sectors * kSectorBytes)) : "",
          memory && answered("first_level") + below != 0
              ? percent(answered("first_level"), answered("first_level") + below)
              : "",
          memory && below != 0 ? percent(answered("l2"), below) : "",
          m.shared != 0 ? average(m.shared_conflicts, m.shared) : "",
          memory ? average(m.latency, m.accesses) : "",
          memory ? grouped(m.percentile(95)) : "",
          printable(line.where + (line.text.empty() ? "" : "  " + line.text))};
}

std::string view_of(const ProfiledKernel& kernel, const ProfileViewOptions& options) {
  const std::string plain = printable(plain_name(kernel.name));
  std::string out = fmt::format("kernel {}: {} warps, {} warp-cycles\n\n", plain, grouped(kernel.warps),
                                grouped(kernel.warp_cycles));
  Columns reasons({"warp-cycles", "share", "reason", "a warp waits for, or does"});
  for (const auto& [reason, cycles] : sorted(kernel.stalls))
    reasons.add({grouped(cycles), percent(cycles, kernel.warp_cycles), reason, description_of(reason)});
  out += reasons.text() + "\n";
  std::vector<ProfileLine> lines = options.cuda ? by_cuda_line(kernel.lines) : kernel.lines;
  const std::size_t all = lines.size();
  if (!options.source) {
    std::stable_sort(lines.begin(), lines.end(),
                     [](const ProfileLine& a, const ProfileLine& b) { return a.stalled() > b.stalled(); });
    lines.resize(std::min(lines.size(), options.lines));
  }
  Columns table({"stalled", "mostly", "issued", "lanes", "sectors", "used", "L1 hits", "L2 hits", "conflicts",
                 "latency", "p95", "line"});
  for (const ProfileLine& line : lines) table.add(row_of(line, kernel.warp_cycles));
  out += table.text();
  if (lines.size() < all)
    out += fmt::format("  {} more lines: --lines {}, or --source for all in their order\n",
                       all - lines.size(), all);
  return out;
}

}  // namespace

Result<std::string> profile_view(const ProfileFile& profile, const ProfileViewOptions& options) {
  std::string out;
  std::vector<std::string> names;
  bool has_cuda = false;
  for (const ProfiledKernel& kernel : profile.kernels) {
    names.push_back(plain_name(kernel.name));
    if (!options.kernel.empty() && !glob_matches(options.kernel, kernel.name) &&
        !glob_matches(options.kernel, names.back()))
      continue;
    has_cuda = has_cuda || std::any_of(kernel.lines.begin(), kernel.lines.end(),
                                       [](const ProfileLine& line) { return !line.cuda.empty(); });
    out += (out.empty() ? "" : "\n") + view_of(kernel, options);
  }
  if (profile.kernels.empty()) return std::string("no kernel ran\n");
  if (out.empty()) {
    const std::string near = near_miss(options.kernel, names);
    return Diagnostic::about("--kernel", "no kernel is called \"" + options.kernel + "\"",
                             near.empty() ? "the first is \"" + names.front() + "\"" : "is it " + near + "?");
  }
  if (options.cuda && !has_cuda)
    return Diagnostic::about("--cuda", "no line of the program says where in CUDA it is from",
                             "compile it with nvcc -lineinfo");
  return out;
}

}  // namespace warpline
