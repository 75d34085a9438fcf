#include "platform/observe/reuse_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "platform/observe/block_kind.h"
#include "rtl_models/base/size_text.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

constexpr unsigned kGpuShift = 48;  ///< above any offset into a memory, below its aperture
constexpr std::size_t kShownSizes = 8;
constexpr std::size_t kLeastOfL2 = 8;  ///< power of two of lines: 32 KiB

/// Each GPU has a video memory of its own; all else is there once.
std::uint64_t key_of(std::uint64_t gpu, PhysicalAddress line) {
  return aperture_of(line) == Aperture::vidmem ? line.value ^ gpu << kGpuShift : line.value;
}

/// The class of a distance in lines: how many bits it has.
std::size_t class_of(std::uint64_t lines) {
  std::size_t n = 0;
  for (; lines != 0; lines >>= 1U) ++n;
  return n;
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-"
                    : fmt::format("{:.1f}%", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

void ReuseWriter::add_hop(const PortBase& request, const Component& sender) {
  const std::string from = kind_of(sender), to = kind_of(request.owner());
  Hop hop;
  hop.gpu = gpu_of(request.owner());
  if (from == "sm" && (to == "l1_lg" || to == "texture"))
    hop.level = Level::sm;
  else if (from == "crossbar" && to == "l2")
    hop.level = Level::l2;
  else if (to == "dram")
    hop.level = Level::dram;
  else
    return;
  hops_[&request] = hop;
}

void ReuseWriter::message(const MessageEvent& e) {
  const auto found = hops_.find(e.port);
  if (found == hops_.end() || e.response || e.taken) return;
  const bool is_access = e.command == Command::read || e.command == Command::write ||
                         e.command == Command::atomic || e.command == Command::reduce;
  if (!is_access) return;
  switch (found->second.level) {
    case Level::sm: return asked(found->second, e);
    case Level::l2: return reached_l2(found->second, e);
    case Level::dram: return fetched(found->second, e);
  }
}

ReuseWriter::Line& ReuseWriter::line_of(const Hop& hop, const MessageEvent& e) {
  const auto [found, fresh] = lines_.try_emplace(key_of(hop.gpu, e.line));
  if (fresh) found->second.region = row_of(hop, e);
  return found->second;
}

ReuseWriter::RowNumber ReuseWriter::row_of(const Hop& hop, const MessageEvent& e) {
  if (e.region != 0) return e.region;
  const std::string name = other_(hop.gpu, e.line);
  if (name.empty()) return 0;
  const auto known = std::find(others_.begin(), others_.end(), name);
  const auto number = static_cast<RowNumber>(known - others_.begin());
  if (known == others_.end()) others_.push_back(name);
  return kOthers + number;
}

void ReuseWriter::touch(Line& line, Region& region, Cycle cycle) {
  for (std::size_t n = 0; n < kWindows.size(); ++n) {
    const auto window = static_cast<std::uint32_t>((cycle - std::min(cycle, first_)) / kWindows[n]);
    if (line.window[n] == window + 1) continue;
    line.window[n] = window + 1;
    std::vector<std::uint32_t>& lines = region.working_set[n];
    if (lines.size() <= window) lines.resize(window + 1);
    ++lines[window];
  }
}

void ReuseWriter::count(Reuse& reuse, ReuseDistance& distances, std::uint64_t line) {
  if (const auto distance = distances.access(line))
    ++reuse.within[std::min(kClasses - 1, class_of(*distance))];
  else
    ++reuse.first;
}

void ReuseWriter::asked(const Hop& hop, const MessageEvent& e) {
  Line& line = line_of(hop, e);
  Region& region = regions_[line.region];
  const unsigned sectors = sector_count(e.sectors);
  switch (e.command) {
    case Command::read:
      ++region.read_requests;
      region.read_sectors += sectors;
      break;
    case Command::write:
      ++region.write_requests;
      region.written_sectors += sectors;
      break;
    default: ++region.atomic_requests;
  }
  const auto [sm, fresh] = sms_.try_emplace(e.maker, static_cast<unsigned>(sms_.size()));
  if (fresh) of_sm_.emplace_back();
  line.asked |= e.sectors;
  const std::size_t word = sm->second / 64;
  const std::uint64_t bit = std::uint64_t{1} << sm->second % 64;
  if (line.by.size() <= word) line.by.resize(word + 1);
  line.sms += (line.by[word] & bit) == 0;
  line.by[word] |= bit;
  touch(line, region, e.cycle);
  if (e.command == Command::read) count(region.by_sm, of_sm_[sm->second], e.line.value);
}

void ReuseWriter::reached_l2(const Hop& hop, const MessageEvent& e) {
  // Only of what is a buffer's or an SM has asked for: code and constants come this way, too.
  const auto found = lines_.find(key_of(hop.gpu, e.line));
  if (found != lines_.end()) count(regions_[found->second.region].at_l2, of_l2_[hop.gpu], e.line.value);
}

void ReuseWriter::fetched(const Hop& hop, const MessageEvent& e) {
  if (e.command != Command::read) return;
  if (e.region == 0 && lines_.count(key_of(hop.gpu, e.line)) == 0) return;
  Line& line = line_of(hop, e);
  Region& region = regions_[line.region];
  region.fetched += sector_count(e.sectors);
  region.fetched_again += sector_count(e.sectors & line.fetched);
  line.fetched |= e.sectors;
}

void ReuseWriter::settle_lines() {
  for (const auto& [at, line] : lines_) {
    Region& region = regions_[line.region];
    region.in_vain += sector_count(static_cast<SectorMask>(line.fetched & ~line.asked));
    if (line.asked == 0) continue;
    ++region.lines;
    region.sectors += sector_count(line.asked);
    ++region.shared[line.sms];
  }
  lines_.clear();
}

std::string ReuseWriter::name_of_region(RowNumber region) const {
  if (region >= kOthers) return others_[region - kOthers];
  return region == 0 || region > names_.size() ? "(no buffer)" : names_[region - 1U];
}

/// The finest windows of which there are not too many.
std::size_t ReuseWriter::scale() const {
  std::size_t n = 0;
  const auto too_many = [&](const auto& r) { return r.second.working_set[n].size() > kMostWindows; };
  while (n + 1 < kWindows.size() && std::any_of(regions_.begin(), regions_.end(), too_many)) ++n;
  return n;
}

std::string ReuseWriter::as_tables() const {
  if (regions_.empty()) return "no SM asked for anything\n";
  std::size_t widest = 6;
  for (const auto& [number, r] : regions_) widest = std::max(widest, name_of_region(number).size());
  std::string out = fmt::format(
      "what SMs asked for, and what was fetched for it\n  {:<{}}  {:>10}  {:>10}  {:>10}  {:>12}  {:>9}  "
      "{:>10}  "
      "{:>9}  {:>9}\n",
      "buffer", widest, "reads", "writes", "atomics", "touched", "of lines", "from DRAM", "again", "in vain");
  for (const auto& [number, r] : regions_)
    out += fmt::format("  {:<{}}  {:>10}  {:>10}  {:>10}  {:>10} B  {:>9}  {:>8} B  {:>9}  {:>9}\n",
                       name_of_region(number), widest, grouped(r.read_requests), grouped(r.write_requests),
                       grouped(r.atomic_requests), grouped(r.sectors * kSectorBytes),
                       percent(r.sectors, r.lines * kSectorsPerLine), grouped(r.fetched * kSectorBytes),
                       percent(r.fetched_again, r.fetched), percent(r.in_vain, r.fetched));
  out += "\nlines by the number of SMs that asked for them\n";
  out += fmt::format("  {:<{}}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}\n", "buffer", widest, "1", "2", "3-8",
                     "9-32", "more");
  for (const auto& [number, r] : regions_) {
    std::array<std::uint64_t, 5> lines{};
    for (const auto& [sms, count] : r.shared)
      lines[sms <= 2 ? sms - 1 : sms <= 8 ? 2 : sms <= 32 ? 3 : 4] += count;
    out += fmt::format("  {:<{}}", name_of_region(number), widest);
    for (const std::uint64_t n : lines) out += fmt::format("  {:>8}", percent(n, r.lines));
    out += "\n";
  }
  for (const bool l2 : {false, true}) {
    out += l2 ? "\naccesses that an L2 of so many bytes would hit, whole and least recently used\n"
              : "\nreads that an L1 of so many bytes would hit, each SM's whole and least recently used\n";
    out += fmt::format("  {:<{}}", "buffer", widest);
    for (std::size_t n = 0; n < kShownSizes; ++n)
      out += fmt::format("  {:>8}", size_text(std::uint64_t{kLineBytes} << (2 * n + (l2 ? kLeastOfL2 : 0))));
    out += fmt::format("  {:>8}\n", "first");
    for (const auto& [number, r] : regions_) {
      const Reuse& reuse = l2 ? r.at_l2 : r.by_sm;
      std::uint64_t all = reuse.first;
      for (const std::uint64_t count : reuse.within) all += count;
      out += fmt::format("  {:<{}}", name_of_region(number), widest);
      std::uint64_t within = 0;
      std::size_t next = 0;
      for (std::size_t n = 0; n < kShownSizes; ++n) {
        for (const std::size_t end = 2 * n + (l2 ? kLeastOfL2 : 0); next <= end; ++next)
          within += reuse.within[next];
        out += fmt::format("  {:>8}", percent(within, all));
      }
      out += fmt::format("  {:>8}\n", percent(reuse.first, all));
    }
  }
  const std::size_t n = scale();
  out += fmt::format("\nbytes of lines that were touched in {} cycles\n  {:<{}}  {:>12}  {:>12}\n",
                     grouped(kWindows[n]), "buffer", widest, "on average", "at most");
  for (const auto& [number, r] : regions_) {
    std::uint64_t sum = 0, most = 0;
    for (const std::uint32_t lines : r.working_set[n])
      sum += lines, most = std::max<std::uint64_t>(most, lines);
    const std::size_t windows = std::max<std::size_t>(r.working_set[n].size(), 1);
    out += fmt::format("  {:<{}}  {:>12}  {:>12}\n", name_of_region(number), widest,
                       grouped(sum * kLineBytes / windows), grouped(most * kLineBytes));
  }
  return out;
}

std::string ReuseWriter::as_json() const {
  const std::size_t n = scale();
  const auto reuse_json = [](const Reuse& reuse) {
    std::vector<std::string> classes;
    for (std::size_t c = 0; c < kClasses; ++c)
      if (reuse.within[c] != 0)
        classes.push_back(fmt::format("[{}, {}]", (std::uint64_t{1} << c) - 1, reuse.within[c]));
    return fmt::format("{{\"first\": {}, \"up_to\": [{}]}}", reuse.first, joined(classes));
  };
  std::string out = fmt::format("{{\"window_cycles\": {}, \"buffers\": [", kWindows[n]);
  const char* comma = "\n";
  for (const auto& [number, r] : regions_) {
    std::vector<std::string> shared, windows;
    for (const auto& [sms, lines] : r.shared) shared.push_back(fmt::format("[{}, {}]", sms, lines));
    for (const std::uint32_t lines : r.working_set[n]) windows.push_back(std::to_string(lines));
    out += fmt::format(
        "{}  {{\"name\": {}, \"read_requests\": {}, \"write_requests\": {}, \"atomic_requests\": {}, "
        "\"read_sectors\": {}, \"written_sectors\": {},\n   \"lines\": {}, \"sectors\": {}, "
        "\"fetched_sectors\": {}, \"fetched_again\": {}, \"fetched_in_vain\": {},\n   \"sms_of_lines\": "
        "[{}],\n"
        "   \"reuse_by_sm\": {},\n   \"reuse_at_l2\": {},\n   \"lines_by_window\": [{}]}}",
        comma, number == 0 ? "null" : json_string(name_of_region(number)), r.read_requests, r.write_requests,
        r.atomic_requests, r.read_sectors, r.written_sectors, r.lines, r.sectors, r.fetched, r.fetched_again,
        r.in_vain, joined(shared), reuse_json(r.by_sm), reuse_json(r.at_l2), joined(windows));
    comma = ",\n";
  }
  return out + "\n]}\n";
}

void ReuseWriter::finish(Cycle last) {
  settle_lines();
  // All have as many windows, those in which nothing of them was touched, too.
  for (auto& [number, region] : regions_)
    for (std::size_t n = 0; n < kWindows.size(); ++n)
      region.working_set[n].resize(std::max<std::size_t>(region.working_set[n].size(),
                                                         (last - std::min(last, first_)) / kWindows[n] + 1));
  names_ = buffers_();
  // Several inputs may have buffers of one name.
  std::map<std::string, unsigned> times;
  for (std::string& name : names_)
    if (const unsigned time = ++times[name]; time > 1) name += fmt::format(" ({})", time);
  file_.write(json_ ? as_json() : as_tables());
}

}  // namespace warpline
