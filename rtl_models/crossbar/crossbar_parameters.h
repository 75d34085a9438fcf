#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"
#include "rtl_models/translation/translation_parameters.h"

namespace warpline {

/// The network between SMs and L2 slices: SMs share the ports of their texture processing cluster (TPC),
/// those the ports of their graphics processing cluster (GPC), and from each GPC it is nearer to some slices
/// than to others. Bandwidths are bytes per cycle of the crossbar, each way; 0: no limit.
struct WARPLINE_PUBLIC NetworkParameters {
  unsigned tpc_request = 0;  ///< of the SMs of a TPC together
  unsigned tpc_reply = 0;
  unsigned gpc_request = 0;  ///< of the SMs of a GPC together
  unsigned gpc_reply = 0;
  unsigned slice_reply = 0;  ///< from one slice to one SM
  unsigned group_reply = 0;  ///< from one group of slices to one GPC
  /// Replies with one line to SMs of one GPC within so many cycles pass its port together, as one.
  unsigned share_window = 0;
  /// Groups of slices, such as those of a memory partition: slice s of n is in group s * groups / n.
  unsigned groups = 1;
  unsigned header = 8;  ///< bytes of a message beside its data
  unsigned queue = 64;  ///< messages of one client, or of one slice, that are in it at once
  /// Cycles that a request to a slice takes more than one over the shortest way: the sum of three. GPC g and
  /// group k have the number g * groups + k of `gpc_distance`; of the other two, the TPC's number in its GPC
  /// and the slice's in its group count, each modulo how many numbers there are. Empty: 0.
  std::vector<std::uint64_t> gpc_distance, tpc_distance, slice_distance;

  /// Whether there is one: without, nothing between SMs and slices is shared but the slices.
  [[nodiscard]] bool present() const {
    return (tpc_request | tpc_reply | gpc_request | gpc_reply | slice_reply | group_reply) != 0 ||
           !gpc_distance.empty() || !tpc_distance.empty() || !slice_distance.empty();
  }
  [[nodiscard]] Problems problems(const std::string& path) const {
    constexpr unsigned kMostBytes = 4096;
    constexpr std::uint64_t kMostCycles = 10000;
    constexpr std::size_t kMostNumbers = 65536;
    Rules rules(path);
    const auto bandwidth = [&](unsigned bytes, const char* name) {
      rules.need(bytes <= kMostBytes, name, "must be at most 4096 bytes per cycle");
    };
    bandwidth(tpc_request, "tpc_request");
    bandwidth(tpc_reply, "tpc_reply");
    bandwidth(gpc_request, "gpc_request");
    bandwidth(gpc_reply, "gpc_reply");
    bandwidth(slice_reply, "slice_reply");
    bandwidth(group_reply, "group_reply");
    rules.need(share_window <= kMostCycles, "share_window", "must be at most 10000 cycles");
    rules.need(groups >= 1 && groups <= 4096, "groups", "must be 1 to 4096");
    rules.need(header >= 1 && header <= 128, "header", "must be 1 to 128 bytes");
    rules.need(queue >= 1 && queue <= 65536, "queue", "must be 1 to 65536 messages");
    const auto distance = [&](const std::vector<std::uint64_t>& list, const char* name) {
      bool near = list.size() <= kMostNumbers;
      for (const std::uint64_t cycles : list) near = near && cycles <= kMostCycles;
      rules.need(near, name, "must be at most 65536 numbers of at most 10000 cycles");
    };
    distance(gpc_distance, "gpc_distance");
    distance(tpc_distance, "tpc_distance");
    distance(slice_distance, "slice_distance");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("tpc_request", tpc_request, "bytes per cycle from the SMs of a TPC; 0: no limit");
    f("tpc_reply", tpc_reply, "bytes per cycle to the SMs of a TPC; 0: no limit");
    f("gpc_request", gpc_request, "bytes per cycle from the SMs of a GPC; 0: no limit");
    f("gpc_reply", gpc_reply, "bytes per cycle to the SMs of a GPC; 0: no limit");
    f("slice_reply", slice_reply, "bytes per cycle from one slice to one SM; 0: no limit");
    f("group_reply", group_reply, "bytes per cycle from one group of slices to one GPC; 0: no limit");
    f("share_window", share_window,
      "cycles in which replies with one line to SMs of one GPC pass its port as one; 0: never");
    f("groups", groups,
      "groups of slices, as of a memory partition: slice s of n is in group s * groups / n");
    f("header", header, "bytes of a message beside its data");
    f("queue", queue, "messages of one client, or of one slice, that are in the network at once");
    f("gpc_distance", gpc_distance,
      "cycles more than over the shortest way: for each GPC in turn, one number for each group of slices");
    f("tpc_distance", tpc_distance, "cycles more by the TPC's number in its GPC, modulo these");
    f("slice_distance", slice_distance, "cycles more by the slice's number in its group, modulo these");
  }
};

/// Where a client of a crossbar sits in the network.
struct WARPLINE_PUBLIC NetworkPlace {
  static constexpr unsigned kOutside = ~0U;
  unsigned sm = kOutside;  ///< kOutside: in none, as a link; then the rest means nothing
  unsigned tpc = 0;        ///< of the GPU's
  unsigned gpc = 0;
};

/// How physical lines spread over L2 slices, and what lies between.
struct WARPLINE_PUBLIC CrossbarParameters {
  /// Bit i of the hash is the parity of (line number AND mask i). Slice = (line number / 2^slice_shift XOR
  /// hash) mod slices. Masks that cover only bits beside the slice number make it a permutation.
  std::vector<std::uint64_t> hash_masks;
  unsigned slice_shift = 0;
  NetworkParameters network{};
  TranslationParameters translation{};  ///< where SMs' requests enter the network

  /// Whether something is on the way between SMs and slices.
  [[nodiscard]] bool has_way() const { return network.present() || translation.present(); }
  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(hash_masks.size() <= 16, "hash_masks", "must be at most 16 masks");
    rules.need(slice_shift <= 32, "slice_shift", "must be at most 32 bits");
    rules.add(network.problems(path + ".network"));
    rules.add(translation.problems(path + ".translation"));
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("hash_masks", hash_masks,
      "slice = (line number / 2^slice_shift XOR parities of these masks) mod slices");
    f("slice_shift", slice_shift, "bit of the line number at which the slice number begins");
    f("network", network, "between the SMs and the slices");
    f("translation", translation, "TLBs, where requests of SMs enter the network");
  }
};

/// Widths of the channels that leave a crossbar, bytes per beat: what its beats are counted by.
struct WARPLINE_PUBLIC CrossbarWidths {
  unsigned request = 32;   ///< towards the slices
  unsigned response = 32;  ///< towards the clients
};

}  // namespace warpline
