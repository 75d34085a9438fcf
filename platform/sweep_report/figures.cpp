#include "platform/sweep_report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/sweep_report/html.h"

namespace warpline::sweep {
namespace {

using Source = FigureSource;
using Ratio = std::pair<double, double>;
using Kind = FigureKind;

constexpr double kSector = 32, kLine = 128, kLanes = 32;

/// How many of something all GPUs have, whose counters are summed.
double all(Source& s, const char* key) {
  return s.key("gpus") * s.key(key);
}

/// Beats, of one a cycle of L2's clock through each of so many ports.
Ratio port_share(Source& s, double beats, const char* ports) {
  return {beats, all(s, ports) * s.cycles_of("l2")};
}

Figure hits(const std::string& name, const std::string& block, std::vector<std::string> near) {
  return {name + " hit rate",
          "sectors found valid, of those looked up",
          Kind::share,
          "",
          std::move(near),
          [part = block + ".sector_hits", whole = block + ".sector_accesses"](Source& s) -> Ratio {
            return {s.counter(part.c_str()), s.counter(whole.c_str())};
          }};
}

Figure bytes(const std::string& name, const std::string& meaning, std::vector<std::string> near,
             std::function<double(Source&)> of) {
  return {name, meaning,         Kind::bytes,
          "",   std::move(near), [of = std::move(of)](Source& s) -> Ratio { return {of(s), 1}; }};
}

std::vector<Figure> all_figures() {
  std::vector<Figure> out;
  out.push_back(
      {"issue slots of SMs",
       "warp instructions issued, of those that all partitions could issue",
       Kind::busy,
       "",
       {"sms", "sm."},
       [](Source& s) -> Ratio {
         return {s.counter("sm.instructions"), all(s, "sms") * s.key("sm.partitions") * s.cycles_of("sm")};
       }});
  out.back().tells = Figure::Tells::speed;
  out.push_back(
      {"tensor pipes",
       "cycles that products of matrices took them",
       Kind::busy,
       "",
       {"sm.tensor"},
       [](Source& s) -> Ratio {
         return {s.counter("sm.tensor_cycles"), all(s, "sms") * s.key("sm.partitions") * s.cycles_of("sm")};
       }});
  out.push_back({"shared memory",
                 "passes over its banks, of one a cycle in each SM",
                 Kind::busy,
                 "",
                 {"sm.shared"},
                 [](Source& s) -> Ratio {
                   return {s.counter("sm.lsu.shared_passes"), all(s, "sms") * s.cycles_of("sm")};
                 }});
  out.push_back({"ports from crossbar to L1",
                 "beats of replies, of one a cycle to each SM",
                 Kind::busy,
                 "",
                 {"sms", "hops.l1_lg_crossbar", "crossbar"},
                 [](Source& s) { return port_share(s, s.counter("crossbar.reply_beats"), "sms"); }});
  out.push_back({"request ports of L2 slices",
                 "beats of requests, of one a cycle to each slice",
                 Kind::busy,
                 "",
                 {"l2.slices"},
                 [](Source& s) {
                   return port_share(s, s.counter("crossbar.beats") - s.counter("crossbar.reply_beats"),
                                     "l2.slices");
                 }});
  out.push_back({"reply ports of L2 slices",
                 "beats of replies, acknowledgements too, of one a cycle from each slice",
                 Kind::busy,
                 "",
                 {"l2.slices", "hops.crossbar_l2"},
                 [](Source& s) { return port_share(s, s.counter("crossbar.reply_beats"), "l2.slices"); }});
  out.push_back({"DRAM data buses",
                 "cycles in which they move data, all channels together",
                 Kind::busy,
                 "",
                 {"dram."},
                 [](Source& s) -> Ratio {
                   return {s.counter("dram.busy_cycles"), all(s, "dram.channels") * s.cycles_of("dram")};
                 }});
  out.push_back({"busiest DRAM data bus",
                 "the same of the channel that moves most",
                 Kind::busy,
                 "",
                 {"dram.channels"},
                 [](Source& s) -> Ratio {
                   const double most = s.counter("dram[max].busy_cycles");
                   return {most, most == 0 ? 0 : s.cycles_of("dram")};
                 }});
  out.push_back(
      {"link to the host, down",
       "bytes, of what it can carry",
       Kind::busy,
       "",
       {"pcie"},
       [](Source& s) -> Ratio {
         return {s.counter("pcie.bytes_down"), all(s, "pcie.bytes_per_cycle") * s.cycles_of("link")};
       }});
  out.push_back({"link to the host, up",
                 "bytes, of what it can carry",
                 Kind::busy,
                 "",
                 {"pcie"},
                 [](Source& s) -> Ratio {
                   return {s.counter("pcie.bytes_up"), all(s, "pcie.bytes_per_cycle") * s.cycles_of("link")};
                 }});
  out.push_back(hits("L1", "l1_lg", {"l1_lg", "sms"}));
  out.push_back(hits("texture cache", "texture", {"texture"}));
  out.push_back(hits("constant cache", "constant", {"constant"}));
  out.back().tells = Figure::Tells::little;
  out.push_back(hits("instruction cache", "instruction", {"instruction"}));
  out.back().tells = Figure::Tells::little;
  out.push_back(hits("L2", "l2", {"l2.sets", "l2.ways", "l2.replacement", "l2."}));
  out.push_back({"DRAM row hit rate",
                 "requests served from a row opened for another",
                 Kind::share,
                 "",
                 {"dram."},
                 [](Source& s) -> Ratio {
                   const double hit = s.counter("dram.row_hits");
                   return {hit, hit + s.counter("dram.row_misses") + s.counter("dram.row_conflicts")};
                 }});
  out.push_back({"TLB hit rate",
                 "requests whose page a TLB had",
                 Kind::share,
                 "",
                 {"crossbar.translation"},
                 [](Source& s) -> Ratio {
                   const double hit = s.counter("crossbar.translation.first_hits") +
                                      s.counter("crossbar.translation.second_hits");
                   return {hit, hit + s.counter("crossbar.translation.walks") +
                                    s.counter("crossbar.translation.merges")};
                 }});
  out.push_back({"lanes active",
                 "thread instructions, of 32 a warp instruction",
                 Kind::share,
                 "",
                 {},
                 [](Source& s) -> Ratio {
                   return {s.counter("sm.thread_instructions"), kLanes * s.counter("sm.instructions")};
                 }});
  out.push_back(bytes("L2 capacity", "slices, sets, ways and lines of 128 bytes multiplied",
                      {"l2.slices", "l2.sets", "l2.ways"}, [](Source& s) {
                        return s.key("l2.slices") * s.key("l2.sets") * s.key("l2.ways") * kLine;
                      }));
  out.back().tells = Figure::Tells::setting;
  out.push_back(bytes("read from L2", "by L1 and the other caches of SMs", {"l1_lg"},
                      [](Source& s) { return s.counter("crossbar.response_sectors") * kSector; }));
  out.push_back(bytes("written to L2", "by SMs", {},
                      [](Source& s) { return s.counter("crossbar.request_sectors") * kSector; }));
  out.push_back(bytes("read from DRAM", "in whole sectors", {"l2.sets", "l2.ways"},
                      [](Source& s) { return s.counter("dram.bytes_read"); }));
  out.push_back(bytes("written to DRAM", "in whole sectors", {"l2.sets", "l2.ways"},
                      [](Source& s) { return s.counter("dram.bytes_written"); }));
  out.push_back({"DRAM bandwidth in use",
                 "bytes moved over the time of the run",
                 Kind::number,
                 "GB/s",
                 {"dram."},
                 [](Source& s) -> Ratio {
                   return {s.counter("dram.bytes_read") + s.counter("dram.bytes_written"), s.time_ns()};
                 }});
  out.back().tells = Figure::Tells::speed;
  out.push_back({"crossbar conflicts",
                 "turns lost to another message, for each message",
                 Kind::number,
                 "per message",
                 {"l2.slices", "crossbar", "sms"},
                 [](Source& s) -> Ratio {
                   return {s.counter("crossbar.conflicts"),
                           s.counter("crossbar.request_messages") + s.counter("crossbar.response_messages")};
                 }});
  out.push_back({"warp instructions per cycle",
                 "of all SMs together",
                 Kind::number,
                 "",
                 {"sms", "sm."},
                 [](Source& s) -> Ratio {
                   return {s.counter("sm.instructions"), s.cycles_of("sm")};
                 }});
  out.back().tells = Figure::Tells::speed;
  return out;
}

}  // namespace

const std::vector<Figure>& figures() {
  static const std::vector<Figure> kAll = all_figures();
  return kAll;
}

std::string figure_text(const Figure& figure, double value) {
  if (std::isnan(value)) return "\u2013";
  switch (figure.kind) {
    case FigureKind::busy:
    case FigureKind::share: return percent_text(value);
    case FigureKind::bytes: return bytes_text(value);
    case FigureKind::number: break;
  }
  return number_text(value) + (figure.unit.empty() ? "" : " " + figure.unit);
}

}  // namespace warpline::sweep
