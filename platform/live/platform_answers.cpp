#include "platform/live/platform_answers.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "platform/machine/gpu_memories.h"
#include "platform/machine/gpu_platform.h"
#include "platform/machine/netlist.h"
#include "platform/machine/netlist_backend.h"
#include "platform/machine/system.h"
#include "rtl_models/base/glob.h"
#include "rtl_models/base/text.h"
#include "rtl_models/sim/engine.h"
#include "rtl_models/sim/gauge_visitor.h"
#include "rtl_models/sim/wait_graph.h"

namespace warpline::live {
namespace {

using Json = nlohmann::ordered_json;

/// Readings of counters that are kept for later differences.
constexpr std::size_t kReadings = 8;

Answer answered(const Json& json) {
  return {200, json.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

/// How many rows of so many are shown.
std::size_t shown(std::size_t rows, std::size_t top) {
  return top == 0 ? rows : std::min(rows, top);
}

const char* name_of(Aperture aperture) {
  switch (aperture) {
    case Aperture::vidmem: return "video memory";
    case Aperture::sysmem: return "system memory";
    case Aperture::peer: return "peer memory";
    case Aperture::multicast: return "multicast object";
  }
  return "";
}

const char* name_of(EvictionClass eviction) {
  switch (eviction) {
    case EvictionClass::first: return "evict_first";
    case EvictionClass::normal: return "evict_normal";
    case EvictionClass::last: return "evict_last";
  }
  return "";
}

const char* name_of(LineKind kind) {
  switch (kind) {
    case LineKind::global: return "global";
    case LineKind::local: return "local";
    case LineKind::surface: return "surface";
  }
  return "";
}

/// The numbers of the sectors in a mask.
Json sectors_of(SectorMask mask) {
  Json out = Json::array();
  for (unsigned s = 0; s < kSectorsPerLine; ++s)
    if ((mask >> s & 1U) != 0) out.push_back(s);
  return out;
}

std::string hexadecimal_bytes(const std::uint8_t* bytes) {
  std::string out;
  for (unsigned n = 0; n < kLineBytes; ++n) {
    out += "0123456789abcdef"[bytes[n] >> 4U];
    out += "0123456789abcdef"[bytes[n] & 15U];
  }
  return out;
}

/// What is to be said of a cache that has something of the line. `memory`: the line's bytes where all caches
/// get them from; null: there are none.
Json cache_row(const std::string& cache, const LineView& view, const std::uint8_t* memory) {
  Json row = {{"cache", cache}, {"present", view.present}};
  if (view.present) {
    row["kind"] = name_of(view.kind);
    row["valid"] = sectors_of(view.valid);
    row["dirty"] = sectors_of(view.dirty.sectors());
    row["dirty_bytes"] = view.dirty.count();
    row["class"] = name_of(view.eviction);
  }
  row["awaited"] = sectors_of(view.awaited);
  if (view.copied != 0) row["copied"] = sectors_of(view.copied);
  if (view.bytes == nullptr || memory == nullptr) return row;
  row["bytes"] = hexadecimal_bytes(view.bytes);
  SectorMask differing = 0;
  for (unsigned n = 0; n < kLineBytes; ++n)
    if (view.bytes[n] != memory[n] && (view.valid >> n / kSectorBytes & 1U) != 0)
      differing = static_cast<SectorMask>(differing | 1U << n / kSectorBytes);
  row["differs"] = sectors_of(differing);
  return row;
}

/// Collects the gauges of one block after the other.
class GaugeRows final : public GaugeVisitor {
 public:
  struct Row {
    std::string block;
    std::string name;
    std::uint64_t value = 0, most = 0;
    std::string description;
    [[nodiscard]] double share() const {
      return most == 0 || most == kUnlimitedGauge ? 0
                                                  : static_cast<double>(value) / static_cast<double>(most);
    }
  };
  void enter(const std::string& block) { block_ = block; }
  void gauge(std::string_view name, std::uint64_t value, std::uint64_t most,
             std::string_view description) override {
    rows_.push_back({block_, std::string(name), value, most, std::string(description)});
  }
  [[nodiscard]] std::vector<Row>& rows() { return rows_; }

 private:
  std::string block_;
  std::vector<Row> rows_;
};

Answer no_such_gpu(unsigned gpu) {
  return refusal(404, "there is no GPU " + std::to_string(gpu));
}

/// What there is at most; null: there is no such limit.
Json most_of(std::uint64_t most, bool unlimited) {
  return unlimited ? Json() : Json(most);
}

}  // namespace

Answer refusal(unsigned status, const std::string& sentence) {
  return {status, Json{{"error", sentence}}.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

Answer PlatformAnswers::answer(const Question& question) {
  switch (question.kind) {
    case Question::Kind::counters: return counters(question);
    case Question::Kind::queues: return queues(question);
    case Question::Kind::waits: return waits(question);
    case Question::Kind::line: return line(question);
    case Question::Kind::memory: return memory(question);
    default: return refusal(400, "a platform does not answer that");
  }
}

PlatformAnswers::Ctas PlatformAnswers::ctas(const std::vector<unsigned>& gpus) const {
  Ctas sum;
  for (const unsigned gpu : gpus) {
    const WorkDistributor& d = platform_.system().gpu(gpu).distributor();
    sum.done += d.done();
    sum.total += d.total();
  }
  return sum;
}

std::uint64_t PlatformAnswers::instructions() const {
  std::uint64_t sum = 0;
  for (unsigned gpu = 0; gpu < platform_.system().gpus(); ++gpu)
    for (const Netlist::SmCluster& c : platform_.system().gpu(gpu).clusters())
      sum += c.sm->counters().instructions;
  return sum;
}

Answer PlatformAnswers::counters(const Question& question) {
  Reading now{platform_.now(), table_.read([this](CounterVisitor& v) { platform_.visit(v); })};
  // Without an earlier answer, or with one that is not kept any more: since the beginning.
  const auto kept = std::find_if(readings_.begin(), readings_.end(),
                                 [&](const Reading& r) { return r.cycle == question.since; });
  const Reading* const before = kept == readings_.end() ? nullptr : &*kept;
  struct Row {
    std::size_t entry;
    std::uint64_t delta;
  };
  std::vector<Row> rows;
  const std::vector<CounterTable::Entry>& entries = table_.entries();
  for (std::size_t n = 0; n < entries.size(); ++n) {
    const bool wanted = question.match.empty() ? total_path(entries[n].path) == entries[n].path
                                               : glob_matches(question.match, entries[n].path);
    if (wanted) rows.push_back({n, now.values[n] - (before == nullptr ? 0 : before->values[n])});
  }
  if (question.top != 0)
    std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.delta > b.delta; });
  Json json = {
      {"cycle", now.cycle}, {"since", before == nullptr ? 0 : before->cycle}, {"in_all", rows.size()}};
  Json& list = json["counters"] = Json::array();
  for (std::size_t n = 0; n < shown(rows.size(), question.top); ++n) {
    const CounterTable::Entry& e = entries[rows[n].entry];
    list.push_back({{"name", e.path},
                    {"value", now.values[rows[n].entry]},
                    {"delta", rows[n].delta},
                    {"unit", e.unit},
                    {"description", e.description}});
  }
  if (readings_.empty() || readings_.back().cycle != now.cycle) readings_.push_back(std::move(now));
  if (readings_.size() > kReadings) readings_.pop_front();
  return answered(json);
}

Answer PlatformAnswers::queues(const Question& question) const {
  GaugeRows visitor;
  for (const Component* c : platform_.backend().engine().components()) {
    visitor.enter(c->name());
    c->visit_gauges(visitor);
  }
  struct Sum {
    std::uint64_t value = 0, most = 0, blocks = 0, fullest = 0;
    bool unlimited = false;
    const std::string* description = nullptr;
  };
  std::vector<GaugeRows::Row>& rows = visitor.rows();
  // Of blocks, total_path() makes the kind: "gpu[1].l2[3]" is an "l2".
  std::map<std::string, Sum> sums;
  for (const GaugeRows::Row& r : rows) {
    Sum& sum = sums[total_path(r.block) + "." + total_path(r.name)];
    sum.value += r.value;
    sum.most += r.most;
    sum.fullest = std::max(sum.fullest, r.value);
    sum.unlimited |= r.most == kUnlimitedGauge;
    sum.description = &r.description;
    ++sum.blocks;
  }
  Json json = {{"cycle", platform_.now()}, {"in_all", rows.size()}};
  Json& kinds = json["kinds"] = Json::array();
  for (const auto& [name, sum] : sums)
    kinds.push_back({{"name", name},
                     {"value", sum.value},
                     {"most", most_of(sum.most, sum.unlimited)},
                     {"blocks", sum.blocks},
                     {"fullest", sum.fullest},
                     {"description", *sum.description}});
  if (!question.match.empty())
    rows.erase(std::remove_if(rows.begin(), rows.end(),
                              [&](const GaugeRows::Row& r) {
                                return !glob_matches(question.match, r.block + "." + r.name);
                              }),
               rows.end());
  std::stable_sort(rows.begin(), rows.end(), [](const GaugeRows::Row& a, const GaugeRows::Row& b) {
    return a.share() != b.share() ? a.share() > b.share() : a.value > b.value;
  });
  Json& list = json["queues"] = Json::array();
  for (std::size_t n = 0; n < shown(rows.size(), question.top); ++n)
    list.push_back({{"name", rows[n].block + "." + rows[n].name},
                    {"value", rows[n].value},
                    {"most", most_of(rows[n].most, rows[n].most == kUnlimitedGauge)}});
  return answered(json);
}

Answer PlatformAnswers::waits(const Question& question) const {
  const Standstill standstill = platform_.standstill();
  Json json = {{"cycle", platform_.now()},
               {"in_flight", standstill.in_flight.size()},
               {"waiting", standstill.waits.size()}};
  Json& requests = json["requests"] = Json::array();
  for (std::size_t n = 0; n < shown(standstill.in_flight.size(), question.top); ++n) {
    const InFlight& r = standstill.in_flight[n];
    requests.push_back({{"made", r.made == kNever ? Json() : Json(r.made)},
                        {"what", r.what},
                        {"at", r.at},
                        {"waits_for", r.wait.what},
                        {"on", r.wait.on}});
  }
  Json& waits = json["waits"] = Json::array();
  for (std::size_t n = 0; n < shown(standstill.waits.size(), question.top); ++n) {
    const Wait& w = standstill.waits[n];
    waits.push_back({{"who", w.who}, {"waits_for", w.what}, {"on", w.on}});
  }
  // How many wait for whom, by kinds of blocks: what a thousand rows come to.
  std::map<std::pair<std::string, std::string>, std::uint64_t> edges;
  const auto block = [](const std::string& who) { return total_path(who.substr(0, who.find(' '))); };
  const auto add = [&](const std::string& from, const std::vector<std::string>& on) {
    for (const std::string& to : on) ++edges[{block(from), block(to)}];
  };
  for (const InFlight& r : standstill.in_flight) add(r.holder, r.wait.on);
  for (const Wait& w : standstill.waits) add(w.who, w.on);
  std::vector<std::pair<std::uint64_t, std::pair<std::string, std::string>>> sorted;
  for (const auto& [edge, count] : edges) sorted.emplace_back(count, edge);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Json& kinds = json["kinds"] = Json::array();
  for (const auto& [count, edge] : sorted)
    kinds.push_back({{"from", edge.first}, {"to", edge.second}, {"count", count}});
  // Of a model that goes on, a circle means only that it is busy.
  Json& circle = json["circle"] = Json::array();
  if (standstill.dead || standstill.repeats)
    for (const WaitEdge& e : circle_of(standstill))
      circle.push_back({{"from", e.from}, {"to", e.to}, {"why", e.why}});
  return answered(json);
}

Answer PlatformAnswers::memory(const Question& question) const {
  if (question.gpu >= platform_.config().gpus) return no_such_gpu(question.gpu);
  Json json = {{"gpu", question.gpu}};
  Json& list = json["memory"] = Json::array();
  for (const Mapping& m : platform_.memory().space(question.gpu).mappings())
    list.push_back({{"address", hexadecimal(m.base)},
                    {"bytes", m.bytes},
                    {"name", platform_.memory().name_of(m)},
                    {"memory", name_of(aperture_of(m.physical))}});
  return answered(json);
}

Answer PlatformAnswers::line(const Question& question) const {
  if (question.gpu >= platform_.config().gpus) return no_such_gpu(question.gpu);
  const VirtualAddress line = line_of(VirtualAddress{question.address});
  const auto physical = platform_.physical_of(question.address, question.gpu);
  if (!physical)
    return refusal(404, "nothing is mapped at " + hexadecimal(question.address) + " of GPU " +
                            std::to_string(question.gpu) +
                            ", or a multicast object, which lies in several places");
  const PhysicalAddress at = line_of(*physical);
  const Aperture aperture = aperture_of(at);
  Netlist& gpu = platform_.system().gpu(question.gpu);
  Json json = {{"cycle", platform_.now()},
               {"address", hexadecimal(line.value)},
               {"gpu", question.gpu},
               {"memory", name_of(aperture)},
               {"offset", hexadecimal(offset_in_aperture(at))}};

  std::array<std::uint8_t, kLineBytes> bytes{};
  MemoryImage* const image = aperture == Aperture::vidmem   ? gpu.vidmem()
                             : aperture == Aperture::sysmem ? gpu.sysmem()
                                                            : nullptr;
  const bool has_bytes = image != nullptr && offset_in_aperture(at) + kLineBytes <= image->size();
  if (has_bytes) std::copy_n(image->at(offset_in_aperture(at)), kLineBytes, bytes.begin());
  const bool has_slice =
      !gpu.lacks_slices() && (aperture == Aperture::vidmem || aperture == Aperture::sysmem);
  const unsigned slice = gpu.crossbar().core().slice_of(at);
  // Of system memory L2 has copies of its own; what it has of video memory are the memory's bytes.
  if (has_slice && has_bytes && aperture == Aperture::sysmem)
    gpu.slice(slice).core().overlay(at, bytes.data(), kLineBytes);
  const std::uint8_t* const memory = has_bytes ? bytes.data() : nullptr;
  json["bytes"] = has_bytes ? Json(hexadecimal_bytes(bytes.data())) : Json();

  Json& caches = json["caches"] = Json::array();
  std::size_t looked_at = 0;
  const auto look = [&](auto& cache, std::uint64_t tag) {
    const LineView view = cache.path().look(tag);
    if (view.present || view.awaited != 0) caches.push_back(cache_row(cache.name(), view, memory));
  };
  for (const Netlist::SmCluster& c : gpu.clusters()) {
    for (const bool surface : {false, true}) {
      look(*c.l1_lg, tag_of(line, surface));
      if (c.texture != nullptr) look(*c.texture, tag_of(line, surface));
    }
    looked_at += c.texture != nullptr ? 2 : 1;
  }
  if (has_slice) {
    const LineView view = gpu.slice(slice).core().look(at);
    caches.push_back(cache_row(gpu.slice(slice).name(), view, memory));
    ++looked_at;
  }
  json["looked_at"] = looked_at;
  if (has_slice && !gpu.lacks_channels() && aperture == Aperture::vidmem) {
    const unsigned number = dram_channels_of(platform_.config(), slice)[gpu.slice(slice).dram_port_of(at)];
    const DramCore& dram = gpu.channel(number).core();
    const DramPlace place = dram.place_of(at);
    json["dram"] = {{"channel", gpu.channel(number).name()},
                    {"bank", place.bank},
                    {"row", place.row},
                    {"open", dram.is_open(place)},
                    {"other_row_open", dram.has_open_row(place.bank) && !dram.is_open(place)}};
  }
  Json& requests = json["requests"] = Json::array();
  for (const InFlight& r : platform_.in_flight())
    if (r.request->line == at)
      requests.push_back({{"what", r.what}, {"at", r.at}, {"waits_for", r.wait.what}});
  return answered(json);
}

}  // namespace warpline::live
