#pragma once

#include <cstdint>
#include <vector>

#include "rtl_models/base/types.h"

namespace warpline {

/// GPUs that a multicast object has at most.
inline constexpr unsigned kMaxReplicas = 8;

/// What a GPU gives to a multicast object.
struct MulticastReplica {
  unsigned gpu = 0;
  PhysicalAddress physical;  ///< in its video memory, a multiple of 128
  std::uint16_t region = 0;  ///< the declared buffer, for that GPU's counters; 0: none
  template <class Archive>
  void archive(Archive& a) {
    a(gpu, physical, region);
  }
};

/// Memory of several GPUs under one address: a replica in the video memory of each.
struct MulticastObject {
  std::uint64_t offset = 0;  ///< of its first byte in Aperture::multicast, a multiple of 256
  std::uint64_t bytes = 0;
  std::vector<MulticastReplica> replicas;  ///< by rising number of the GPU
  template <class Archive>
  void archive(Archive& a) {
    a(offset, bytes, replicas);
  }
};

/// The multicast objects of a platform, as a driver sets up the switches between its GPUs. It changes between
/// runs only.
class MulticastTable {
 public:
  /// Returns the address of an object over `replicas`. Pre: 1 to 8 of them, by rising number of the GPU, each
  /// a multiple of 256 in video memory; bytes > 0.
  PhysicalAddress add(std::uint64_t bytes, std::vector<MulticastReplica> replicas);
  /// The object that has the first byte of `line`; null: there is none.
  [[nodiscard]] const MulticastObject* find(PhysicalAddress line) const;
  [[nodiscard]] const std::vector<MulticastObject>& objects() const { return objects_; }
  template <class Archive>
  void archive(Archive& a) {
    a(objects_);
    for (const MulticastObject& o : objects_)
      if (!is_sound(o)) a.misfit("has a multicast object that no driver makes");
  }

 private:
  [[nodiscard]] static bool is_sound(const MulticastObject& object);

  std::vector<MulticastObject> objects_;  ///< by rising offset
};

}  // namespace warpline
