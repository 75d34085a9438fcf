// The sums that hold between and within the levels of a quiescent netlist.
#include <algorithm>
#include <utility>

#include "platform/machine/netlist.h"

namespace warpline {
namespace {

class Ledger {
 public:
  void same(const std::string& what, std::uint64_t a, const std::string& with, std::uint64_t b) {
    if (a != b) faults_.push_back(what + " " + std::to_string(a) + " != " + with + " " + std::to_string(b));
  }
  std::vector<std::string> take() { return std::move(faults_); }

 private:
  std::vector<std::string> faults_;
};

template <class C>
void check_cache(Ledger& ledger, const std::string& name, const C& c) {
  ledger.same(name + ".sector_hits + sector_misses", c.sector_hits + c.sector_misses, "sector_accesses",
              c.sector_accesses);
}

}  // namespace

std::vector<std::string> Netlist::unreconciled() const {
  const std::string& gpu = place_.prefix;
  if (went_past_caches_) return {};
  Ledger ledger;
  std::uint64_t reads_out = 0, writes_out = 0, atomics_out = 0;
  for (const SmCluster& c : clusters_) {
    const LsuCounters& lsu = c.sm->lsu_counters();
    const L1LgCounters& l1 = c.l1_lg->counters();
    const std::string& name = c.sm->name();
    check_cache(ledger, name + ".l1_lg", l1);
    if (c.texture != nullptr) check_cache(ledger, name + ".texture", c.texture->counters());
    check_cache(ledger, name + ".constant", c.constant->counters());
    check_cache(ledger, name + ".instruction", c.instruction->counters());
    ledger.same(name + ".lsu.l1_lg_sectors", lsu.l1_lg_sectors,
                "l1_lg look-ups, forwarded, bypassed and atomic sectors",
                l1.sector_accesses + l1.forwarded_sectors + l1.bypassed_sectors + l1.atomic_sectors);
    if (c.texture != nullptr) {
      ledger.same(name + ".lsu.texture_sectors", lsu.texture_sectors, "texture.sector_accesses",
                  c.texture->counters().sector_accesses);
      reads_out += c.texture->counters().fetched_sectors;
    } else {
      ledger.same(name + ".lsu.texture_sectors", lsu.texture_sectors,
                  "l1_lg look-ups by ld.global.nc and texture loads",
                  l1.of(Reader::noncoherent).sectors + l1.of(Reader::texture).sectors);
    }
    ledger.same(name + ".lsu.constant_sectors", lsu.constant_sectors, "constant.sector_accesses",
                c.constant->counters().sector_accesses);
    const std::uint64_t of_loads_and_stores = lsu.global_load_sectors + lsu.global_store_sectors;
    ledger.same(name + ".lsu.global_sectors, or those of loads and stores, if they are more",
                std::max(of_loads_and_stores, lsu.global_sectors), "global_sectors", lsu.global_sectors);
    const SmCounters& sm = c.sm->counters();
    ledger.same(name + ".pipe_wait_cycles, if they are more", std::max(sm.pipe_wait_cycles, sm.pipe_cycles),
                "pipe_cycles", sm.pipe_cycles);
    const InstructionFetchCounters& fetch = c.sm->fetch_counters();
    ledger.same(name + ".fetch.sectors", fetch.sectors, "instruction.sector_accesses",
                c.instruction->counters().sector_accesses);
    ledger.same(name + ".fetch.requests + merges", fetch.requests + fetch.merges, "fetch.waits + prefetches",
                fetch.waits + fetch.prefetches);
    ledger.same(name + ".l1_lg load misses", l1.load_sectors() - l1.load_sector_hits(),
                "fetched and not prefetched + merged sectors",
                l1.fetched_sectors - l1.prefetched_sectors + l1.merged_sectors);
    const BulkCopyCounters& bulk = c.sm->bulk_copy_counters();
    reads_out += bulk.read_sectors + l1.fetched_sectors + l1.forwarded_sectors +
                 c.constant->counters().fetched_sectors + c.instruction->counters().fetched_sectors;
    writes_out += bulk.written_sectors + l1.stored_sectors + l1.writeback_sectors;
    atomics_out += bulk.reduced_sectors + l1.atomic_sectors;
  }
  if (sm_network_ != nullptr) {
    std::uint64_t asked = 0, told = 0, served = 0;
    for (const SmCluster& c : clusters_) {
      const ClusterCounters& cluster = c.sm->cluster_counters();
      asked += cluster.requests + cluster.mbarrier_requests + cluster.bulk_requests;
      told += c.sm->cluster_counters().signals;
      served += c.sm->cluster_counters().served_requests;
    }
    const SmNetworkCounters& n = sm_network_->counters();
    const std::string& name = sm_network_->name();
    ledger.same(name + ".requests", n.requests, "remote requests and signals of the SMs", asked + told);
    ledger.same(name + ".responses", n.responses, "requests", n.requests);
    // What a CTA that has ended is asked for is answered without its memory.
    if (served > asked) ledger.same("requests that SMs served", served, "remote requests", asked);
  }
  if (const Inbound* in = std::as_const(*pcie_).inbound(); in != nullptr) {
    reads_out += in->counters().read_sectors;
    writes_out += in->counters().written_sectors;
    atomics_out += in->counters().atomic_sectors;
  }
  // What SMs ask of the memory of several GPUs leaves by a switch; what all GPUs ask of this one's comes in
  // there.
  std::uint64_t left = 0;
  for (const GpuSwitch* const s : place_.switches) {
    const GpuSwitchCounters& c = s->counters(place_.number);
    ledger.same(s->port_name(place_.number) + ".responses", c.responses, "requests", c.requests);
    reads_out += c.replica_read_sectors;
    writes_out += c.replica_written_sectors;
    atomics_out += c.replica_reduced_sectors;
    left += c.asked_read_sectors + c.asked_written_sectors + c.asked_atomic_sectors;
  }
  const CrossbarCounters& x = crossbar_->counters();
  std::uint64_t walked = 0;
  if (const Translation* const translation = crossbar_->translation(); translation != nullptr) {
    const TranslationCounters& t = translation->counters();
    ledger.same(gpu + "crossbar.translation.first_hits + second_hits + walks + merges",
                t.first_hits + t.second_hits + t.walks + t.merges, "crossbar.network_requests",
                x.network_requests);
    if (translation->walks() != nullptr)
      ledger.same(gpu + "crossbar.translation.walk_reads", t.walk_reads, "walks * walk_reads of each",
                  t.walks * translation->levels());
    walked = t.walk_reads;
  }
  ledger.same(gpu + "crossbar.read_sectors_requested", x.read_sectors_requested,
              "sectors fetched by the caches, from outside and by walks", reads_out + walked);
  ledger.same(gpu + "crossbar.response_sectors + translation.walk_reads", x.response_sectors + walked,
              "read_sectors_requested", x.read_sectors_requested);
  ledger.same(gpu + "crossbar.network_replies", x.network_replies, "network_requests", x.network_requests);
  ledger.same(gpu + "crossbar.request_sectors", x.request_sectors,
              "sectors written by the caches and from outside", writes_out);
  if (lacks_slices()) return ledger.take();  // what foreign slices do, they count themselves
  std::uint64_t into_l2 = 0, fetched = 0, written_back = 0;
  for (const auto& s : slices_) {
    const L2Counters& c = s->counters();
    check_cache(ledger, s->name(), c);
    ledger.same(s->name() + ".sector_accesses", c.sector_accesses, "read + write + atomic sectors",
                c.read_sectors + c.write_sectors + c.atomic_sectors);
    into_l2 += c.sector_accesses + c.direct_sectors;
    fetched += c.fetched_sectors;
    written_back += c.writeback_sectors;
  }
  ledger.same(gpu + "l2 look-ups and direct sectors and those that left by switches", into_l2 + left,
              "sectors that entered", x.read_sectors_requested + x.request_sectors + atomics_out);
  if (lacks_channels()) return ledger.take();  // nor is it ours to count what a foreign memory does
  std::uint64_t bytes_read = 0, bytes_written = 0;
  for (const auto& d : channels_) {
    bytes_read += d->counters().bytes_read;
    bytes_written += d->counters().bytes_written;
  }
  ledger.same(gpu + "dram.bytes_read", bytes_read, "l2 fetched sectors * 32", fetched * kSectorBytes);
  ledger.same(gpu + "dram.bytes_written", bytes_written, "l2 written-back sectors * 32",
              written_back * kSectorBytes);
  return ledger.take();
}

}  // namespace warpline
