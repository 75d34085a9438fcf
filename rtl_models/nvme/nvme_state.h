#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "rtl_models/nvme/nvme_events.h"
#include "rtl_models/nvme/nvme_faults.h"
#include "rtl_models/nvme/nvme_features.h"
#include "rtl_models/nvme/nvme_log.h"
#include "rtl_models/nvme/nvme_namespace.h"
#include "rtl_models/nvme/nvme_pages.h"
#include "rtl_models/nvme/nvme_queues.h"

namespace warpline {

/// What the commands of a controller work on.
struct NvmeState {
  NvmeState(const NvmeParameters& its_parameters, unsigned controller, std::uint16_t vendor,
            std::vector<std::unique_ptr<BlockStore>> stores)
      : parameters(its_parameters),
        pages(its_parameters, controller, vendor),
        queues(its_parameters.queues + 1),
        features(its_parameters),
        faults(its_parameters),
        errors(NvmePages::kErrors) {
    for (auto& store : stores)
      spaces.emplace_back(std::move(store), its_parameters.block_bytes == 512 ? 0 : 1);
  }
  /// The active namespace of that number; null: it is none.
  [[nodiscard]] NvmeNamespace* find(std::uint32_t nsid) {
    return has(nsid) && spaces[nsid - 1].active() ? &spaces[nsid - 1] : nullptr;
  }
  /// Whether there may be a namespace of that number.
  [[nodiscard]] bool has(std::uint32_t nsid) const { return nsid != 0 && nsid <= spaces.size(); }
  /// A reset by CC.EN.
  void reset() {
    queues.forget();
    features.reset();
    events.forget();
    timestamp = 0;
    timestamp_at = 0;
    timestamp_set = false;
  }
  template <class Archive>
  void archive(Archive& a) {
    a(queues, features, events, faults, errors, counters, page_bytes, timestamp, timestamp_at, timestamp_set);
    if (!is_memory_page(page_bytes)) a.misfit("has memory pages that cannot be");
    if (!queues.lie_well(page_bytes)) a.misfit("has a queue that cannot be");
    a.fixed(spaces);
    std::vector<std::uint32_t> list(changed.begin(), changed.end());
    a(list);
    changed = {list.begin(), list.end()};
    for (const std::uint32_t nsid : changed)
      if (!has(nsid)) a.misfit("has a namespace that is none");
  }

  NvmeParameters parameters;
  NvmePages pages;
  NvmeQueues queues;
  std::vector<NvmeNamespace> spaces;
  NvmeFeatures features;
  NvmeEvents events;
  NvmeFaults faults;
  NvmeErrorLog errors;
  NvmeCounters counters;
  std::set<std::uint32_t> changed;  ///< namespaces, for the log page of those
  std::uint32_t page_bytes = 4096;  ///< of a memory page
  std::uint64_t timestamp = 0;      ///< as the host set it, milliseconds
  Cycle timestamp_at = 0;           ///< and when
  bool timestamp_set = false;
};

inline constexpr std::uint32_t kAllNamespaces = 0xFFFF'FFFF;

}  // namespace warpline
