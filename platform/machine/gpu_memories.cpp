#include "platform/machine/gpu_memories.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"

namespace warpline {
namespace {

constexpr std::uint64_t kMulticastBase = 0x7C00'0000'0000ULL;
constexpr std::uint64_t kPeerBase = 0x7D00'0000'0000ULL;
constexpr std::uint64_t kSysmemBase = 0x7E00'0000'0000ULL;
constexpr std::uint64_t kVidmemBase = 0x7F00'0000'0000ULL;
/// From one GPU's video memory to the next one's: as much as there can be.
constexpr std::uint64_t kVidmemStride = 0x0100'0000'0000ULL;
/// In a process that shares memory with GPUs: where the bytes lie, system memory first, and where the
/// addresses of video memory begin. Libraries, heap and stack of a process lie above 0x5500'0000'0000.
constexpr std::uint64_t kImageBase = 0x1800'0000'0000ULL;
constexpr std::uint64_t kReservedBase = 0x3000'0000'0000ULL;
/// Pages of the process at an address become its own, and keep their content.
void take_back(std::uint64_t address, std::uint64_t bytes) {
  void* const pages = reinterpret_cast<void*>(address);
  void* const kept =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (kept == MAP_FAILED) throw std::bad_alloc();
  std::memcpy(kept, pages, bytes);
  // Moved there in one step, so that no thread finds the place empty.
  if (mremap(kept, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == MAP_FAILED) throw std::bad_alloc();
}

/// Offsets beyond what map_everything() maps.
constexpr std::uint64_t kUnbackedCode = std::uint64_t{1} << 57U;
constexpr std::uint64_t kUnbackedLocal = std::uint64_t{1} << 58U;

}  // namespace

GpuMemories::GpuMemories(const GpuConfig& config, bool in_process, bool page_slack)
    : config_(config), in_process_(in_process), page_slack_(page_slack), gpus_(config.gpus) {
  for (unsigned gpu = 0; gpu < gpus(); ++gpu) {
    Gpu& g = gpus_[gpu];
    g.base = kVidmemBase + gpu * kVidmemStride;
    if (!in_process) continue;
    g.reserved =
        std::make_unique<ReservedAddresses>(config.vidmem_bytes, kReservedBase + gpu * kVidmemStride);
    g.base = g.reserved->first();
  }
  if (config.peer_bytes != 0) peer_ = std::make_unique<MemoryDevice>(config.peer_bytes);
}

GpuMemories::Room GpuMemories::room(Aperture aperture, unsigned gpu) {
  switch (aperture) {
    case Aperture::sysmem: return {kSysmemBase, config_.sysmem_bytes, sysmem_buffers_};
    case Aperture::peer: return {kPeerBase, config_.peer_bytes, peer_buffers_};
    case Aperture::multicast:
      WARPLINE_EXPECT(false, "a multicast object is bound to memory that is allocated");
    case Aperture::vidmem: break;
  }
  Gpu& g = gpus_[gpu];
  return {g.base, config_.vidmem_bytes - g.code_used, g.buffers};
}

std::uint64_t GpuMemories::taken_by(std::uint64_t bytes) {
  return aligned_down(std::max<std::uint64_t>(bytes, 1) + kBufferAlignment - 1);
}

void GpuMemories::Buffers::release(std::uint64_t offset, std::uint64_t bytes) {
  auto next = holes.lower_bound(offset);
  if (next != holes.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = holes.erase(next);
  }
  if (next != holes.begin())
    if (const auto before = std::prev(next); before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      holes.erase(before);
    }
  if (offset + bytes == used) {
    used = offset;
  } else {
    holes.emplace(offset, bytes);
  }
}

std::optional<Mapping> GpuMemories::take(std::uint64_t bytes, Aperture aperture, unsigned gpu) {
  const Room room = this->room(aperture, gpu);
  if (bytes > room.bytes) return std::nullopt;
  const std::uint64_t taken = taken_by(bytes);
  Buffers& buffers = room.buffers;
  std::uint64_t offset = buffers.used;
  const auto hole = std::find_if(buffers.holes.begin(), buffers.holes.end(),
                                 [&](const auto& h) { return h.second >= taken; });
  if (hole != buffers.holes.end()) {
    offset = hole->first;
    if (hole->second != taken) buffers.holes.emplace(offset + taken, hole->second - taken);
    buffers.holes.erase(hole);
  } else {
    if (taken > room.bytes - buffers.used) return std::nullopt;
    buffers.used += taken;
  }
  Mapping m;
  m.base = room.base + offset;
  m.bytes = bytes;
  m.physical = physical(aperture, offset);
  return m;
}

void GpuMemories::set_slack(unsigned gpu) {
  if (!page_slack_) return;
  constexpr std::uint64_t kPages = 2U << 20U;
  Gpu& g = gpus_[gpu];
  const std::uint64_t first = std::uint64_t{ConstantBanks::kBanks} * ConstantBanks::kBankBytes;
  const std::uint64_t whole = (g.buffers.used + kPages - 1) / kPages * kPages;
  // Near the end lies code, and before it the local memory of grids.
  const bool fits = whole <= config_.vidmem_bytes / 4 * 3;
  Mapping slack;
  slack.base = g.base + first;
  slack.bytes = (fits ? whole : g.buffers.used) - first;
  slack.physical = physical(Aperture::vidmem, first);
  g.space.set_slack(0, slack);
  if (!in_process_ || gpus() != 1) return;
  slack.base = reinterpret_cast<std::uintptr_t>(vidmem(gpu).at(first));
  g.space.set_slack(1, slack);
}

void GpuMemories::map_on_gpus(const Mapping& mapping, unsigned gpu) {
  if (aperture_of(mapping.physical) == Aperture::vidmem) {
    gpus_[gpu].space.map(mapping);
    set_slack(gpu);
  } else {
    for (Gpu& g : gpus_) g.space.map(mapping);
  }
}

std::uint64_t GpuMemories::allocate(const std::string& name, std::uint64_t bytes, Aperture aperture,
                                    unsigned gpu) {
  std::optional<Mapping> m = take(bytes, aperture, gpu);
  if (!m) return 0;
  if (!name.empty()) {
    buffers_.push_back(name);
    m->region = static_cast<std::uint16_t>(std::min<std::size_t>(buffers_.size(), 0xFFFF));
    names_[m->base] = "buffer " + name;
  }
  map_on_gpus(*m, gpu);
  return m->base;
}

std::uint64_t GpuMemories::allocate_shared(std::uint64_t bytes, Aperture aperture, unsigned gpu) {
  WARPLINE_EXPECT(in_process_ && aperture != Aperture::peer,
                  "memory is shared with the process that drives it");
  std::optional<Mapping> m = take(bytes, aperture, gpu);
  if (!m) return 0;
  m->base = reinterpret_cast<std::uintptr_t>(image(aperture, gpu).at(offset_in_aperture(m->physical)));
  map_on_gpus(*m, gpu);
  return m->base;
}

bool GpuMemories::share(std::uint64_t address, std::uint64_t bytes) {
  WARPLINE_EXPECT(in_process_ && address % kPage == 0 && bytes % kPage == 0 && bytes != 0,
                  "whole pages of the process that drives GPUs are shared with them");
  // A page more, as buffers do not begin at pages.
  std::optional<Mapping> m = take(bytes + kPage, Aperture::sysmem, 0);
  if (!m) return false;
  const std::uint64_t taken = offset_in_aperture(m->physical);
  const std::uint64_t offset = (taken + kPage - 1) / kPage * kPage;
  if (!sysmem().lend(offset, bytes, reinterpret_cast<void*>(address))) {
    sysmem_buffers_.release(taken, taken_by(bytes + kPage));
    return false;
  }
  shared_[address] = {taken, bytes + kPage};
  m->base = address;
  m->bytes = bytes;
  m->physical = physical(Aperture::sysmem, offset);
  map_on_gpus(*m, 0);
  return true;
}

bool GpuMemories::unshare(std::uint64_t address) {
  const auto found = shared_.find(address);
  if (found == shared_.end()) return false;
  for (Gpu& g : gpus_) g.space.unmap(address);
  take_back(address, found->second.bytes - kPage);
  sysmem_buffers_.release(found->second.offset, taken_by(found->second.bytes));
  names_.erase(address);
  shared_.erase(found);
  return true;
}

bool GpuMemories::free(std::uint64_t address) {
  std::optional<Mapping> freed;
  for (unsigned gpu = 0; gpu < gpus(); ++gpu) {
    const std::optional<Mapping> unmapped = gpus_[gpu].space.unmap(address);
    if (!unmapped) continue;
    const bool own = aperture_of(unmapped->physical) == Aperture::vidmem;
    // On others than the GPU that has it, it was what lies behind that one's BAR.
    if (own || !freed) freed = unmapped;
    if (!own) continue;
    gpus_[gpu].buffers.release(offset_in_aperture(freed->physical), taken_by(freed->bytes));
    set_slack(gpu);
  }
  if (!freed) return false;
  names_.erase(address);
  const std::uint64_t offset = offset_in_aperture(freed->physical);
  if (aperture_of(freed->physical) == Aperture::sysmem)
    sysmem_buffers_.release(offset, taken_by(freed->bytes));
  if (aperture_of(freed->physical) == Aperture::peer && peer_ != nullptr)
    peer_buffers_.release(offset, taken_by(freed->bytes));
  return true;
}

void GpuMemories::after_fork() {
  for (const auto& [address, part] : shared_) take_back(address, part.bytes - kPage);
}

std::optional<PhysicalAddress> GpuMemories::allocate_unmapped(std::uint64_t bytes, unsigned gpu) {
  const std::optional<Mapping> m = take(bytes, Aperture::vidmem, gpu);
  return m ? std::optional(m->physical) : std::nullopt;
}

void GpuMemories::map_at(std::uint64_t address, std::uint64_t bytes, PhysicalAddress physical, unsigned gpu) {
  WARPLINE_EXPECT(address % kBufferAlignment == 0 && bytes != 0, "what is mapped begins where a buffer may");
  Mapping m;
  m.base = address;
  m.bytes = bytes;
  m.physical = physical;
  map_on_gpus(m, gpu);
}

void GpuMemories::map_bus_at(std::uint64_t address, std::uint64_t bytes, std::uint64_t bus, unsigned gpu,
                             bool is_memory) {
  WARPLINE_EXPECT(address % kBufferAlignment == 0 && bus % kBufferAlignment == 0 && bytes != 0,
                  "what is mapped begins where a buffer may");
  Mapping m;
  m.base = address;
  m.bytes = bytes;
  m.physical = physical(Aperture::peer, bus);
  if (!is_memory) {
    m.device = true;
    m.kind = MappingKind::uncached;
  }
  gpus_[gpu].space.map(m);
}

bool GpuMemories::unmap(std::uint64_t address, unsigned gpu) {
  const bool unmapped = gpus_[gpu].space.unmap(address).has_value();
  const auto has_it = [address](const Gpu& g) {
    const Mapping* hint = nullptr;
    const Mapping* const m = g.space.find(VirtualAddress{address}, 1, hint);
    return m != nullptr && m->base == address;
  };
  if (std::none_of(gpus_.begin(), gpus_.end(), has_it)) names_.erase(address);
  return unmapped;
}

void GpuMemories::free_unmapped(PhysicalAddress physical, std::uint64_t bytes, unsigned gpu) {
  gpus_[gpu].buffers.release(offset_in_aperture(physical), taken_by(bytes));
}

std::uint64_t GpuMemories::unallocated_vidmem(unsigned gpu) const {
  std::uint64_t bytes = free_vidmem(gpu);
  for (const auto& [offset, hole] : gpus_[gpu].buffers.holes) bytes += hole;
  return bytes;
}

std::uint64_t GpuMemories::allocate_below_4g(std::uint64_t bytes, unsigned gpu) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 32U;
  if (config_.wls_window == 0) return allocate("", bytes, Aperture::vidmem, gpu);
  const std::uint64_t left = kEnd - config_.wls_window - below_4g_used_;
  if (bytes > left || taken_by(bytes) > left) return 0;
  std::optional<Mapping> m = take(bytes, Aperture::vidmem, gpu);
  if (!m) return 0;
  m->base = config_.wls_window + below_4g_used_;
  below_4g_used_ += taken_by(bytes);
  gpus_[gpu].space.map(*m);
  return m->base;
}

std::uint64_t GpuMemories::map(Aperture aperture, std::uint64_t offset, std::uint64_t bytes,
                               bool prefetchable) {
  WARPLINE_EXPECT(aperture != Aperture::vidmem, "video memory is mapped where it is allocated");
  WARPLINE_EXPECT(offset % kBufferAlignment == 0, "what is mapped begins where a buffer may");
  WARPLINE_EXPECT(bytes != 0 && bytes <= kMulticastBase - mapped_end_,
                  "there are addresses for what is mapped");
  Mapping m;
  // Lines, sectors and pages lie in it as they do on the bus.
  m.base = mapped_end_ + offset % kPage;
  m.bytes = bytes;
  m.physical = physical(aperture, offset);
  m.device = aperture == Aperture::peer;
  if (m.device && !prefetchable) m.kind = MappingKind::uncached;
  mapped_end_ = (m.base + bytes + kPage - 1) / kPage * kPage;
  for (Gpu& g : gpus_) g.space.map(m);
  return m.base;
}

std::uint64_t GpuMemories::bind_multicast(const std::string& name, std::uint64_t bytes,
                                          const std::vector<std::uint64_t>& replicas) {
  std::map<unsigned, Mapping> parts;  // by GPU
  for (const std::uint64_t address : replicas)
    for (unsigned gpu = 0; gpu < gpus_.size(); ++gpu) {
      const Mapping* hint = nullptr;
      const Mapping* const m = gpus_[gpu].space.find(VirtualAddress{address}, 1, hint);
      if (m == nullptr || aperture_of(m->physical) != Aperture::vidmem) continue;
      WARPLINE_EXPECT(m->base == address && bytes <= m->bytes, "a replica is memory that was allocated");
      parts.emplace(gpu, *m);
    }
  WARPLINE_EXPECT(!parts.empty() && parts.size() == replicas.size(),
                  "every replica lies in the video memory of a GPU of its own");
  std::vector<MulticastReplica> bound;
  for (const auto& [gpu, m] : parts) bound.push_back({gpu, m.physical, m.region});
  Mapping m;
  m.bytes = bytes;
  m.physical = multicasts_.add(bytes, std::move(bound));
  m.base = kMulticastBase + offset_in_aperture(m.physical);
  m.kind = MappingKind::multicast;
  for (const auto& part : parts) gpus_[part.first].space.map(m);
  if (!name.empty()) names_[m.base] = "multicast object " + name;
  return m.base;
}

std::string GpuMemories::name_of(const Mapping& mapping) const {
  if (const auto found = names_.find(mapping.base); found != names_.end()) return found->second;
  if (mapping.bytes == AddressSpace::kEverything) return {};
  const std::string at = " at " + hexadecimal(mapping.base);
  switch (aperture_of(mapping.physical)) {
    case Aperture::vidmem: break;
    case Aperture::sysmem: return "system memory" + at;
    case Aperture::peer: return "device memory" + at;
    case Aperture::multicast: return "a multicast object" + at;
  }
  return "video memory" + at;
}

std::string GpuMemories::name_at(unsigned gpu, PhysicalAddress address) const {
  for (const Mapping& m : gpus_[gpu].space.mappings())
    if (address.value - m.physical.value < m.bytes) return name_of(m);
  return {};
}

void GpuMemories::name_constant(unsigned gpu, Named part) {
  std::vector<Named>& all = gpus_[gpu].constants;
  const auto overlaps = [&part](const Named& n) {
    return n.base < part.base + part.bytes && part.base < n.base + n.bytes;
  };
  all.erase(std::remove_if(all.begin(), all.end(), overlaps), all.end());
  all.push_back(std::move(part));
}

void GpuMemories::map_everything() {
  for (Gpu& g : gpus_) g.space.map_everything();
}

std::uint64_t GpuMemories::code_to_place(unsigned gpu, const std::string& name, std::uint64_t bytes,
                                         bool backed) const {
  const Gpu& g = gpus_[gpu];
  if (!backed || bytes == 0 || g.code.count({name, bytes}) != 0) return 0;
  const std::uint64_t end = config_.vidmem_bytes - g.code_used;
  return bytes > end ? bytes : end - aligned_down(end - bytes);
}

std::optional<std::uint64_t> GpuMemories::place_code(unsigned gpu, const std::string& name,
                                                     std::uint64_t bytes, bool backed) {
  Gpu& g = gpus_[gpu];
  if (const auto known = g.code.find({name, bytes}); known != g.code.end()) return known->second;
  const std::uint64_t taken = code_to_place(gpu, name, bytes, backed);
  if (taken > free_vidmem(gpu)) return std::nullopt;
  g.code_used += taken;
  std::uint64_t at = config_.vidmem_bytes - g.code_used;
  if (!backed) {
    at = kUnbackedCode + g.unbacked_code;
    g.unbacked_code += aligned_down(bytes + kBufferAlignment - 1);
  }
  g.code[{name, bytes}] = at;
  return at;
}

void GpuMemories::forget_code(unsigned gpu) {
  Gpu& g = gpus_[gpu];
  g.code.clear();
  g.code_used = g.unbacked_code = 0;
}

std::uint64_t GpuMemories::local_base(unsigned gpu, std::uint64_t bytes, bool backed) const {
  return backed ? aligned_down(config_.vidmem_bytes - gpus_[gpu].code_used - bytes) : kUnbackedLocal;
}

MemoryImage& GpuMemories::vidmem(unsigned gpu) {
  std::unique_ptr<MemoryImage>& image = gpus_[gpu].vidmem;
  if (image == nullptr)
    image = std::make_unique<MemoryImage>(config_.vidmem_bytes,
                                          in_process_ ? kImageBase + (gpu + 1) * kVidmemStride : 0);
  return *image;
}

MemoryImage& GpuMemories::sysmem() {
  if (sysmem_ == nullptr)
    sysmem_ = std::make_unique<MemoryImage>(config_.sysmem_bytes, in_process_ ? kImageBase : 0, in_process_);
  return *sysmem_;
}

void GpuMemories::Gpu::note_write(std::uint64_t first, std::uint64_t count) {
  std::uint64_t end = first + count;
  // Ranges that it touches become one with it: writes one after the other, as most are, are one.
  auto next = written.upper_bound(first);
  if (next != written.begin() && std::prev(next)->second >= first) {
    --next;
    first = next->first;
  }
  while (next != written.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = written.erase(next);
  }
  written.emplace(first, end);
}

std::uint8_t* GpuMemories::bytes_at(std::uint64_t address, std::size_t count, bool writes) {
  for (unsigned gpu = 0; gpu < gpus_.size(); ++gpu) {
    const Mapping* hint = nullptr;
    const Mapping* m = gpus_[gpu].space.find(VirtualAddress{address}, 1, hint);
    if (m == nullptr || count > m->bytes - (address - m->base)) continue;
    const PhysicalAddress p = m->translate(VirtualAddress{address});
    switch (aperture_of(p)) {
      case Aperture::vidmem:
        if (writes) gpus_[gpu].note_write(offset_in_aperture(p), count);
        return vidmem(gpu).at(offset_in_aperture(p));
      case Aperture::sysmem: return sysmem().at(offset_in_aperture(p));
      case Aperture::peer:
        if (peer_ == nullptr) continue;  // another GPU's, as this one reaches it
        return peer_->image().at(offset_in_aperture(p));
      case Aperture::multicast: break;  // the host writes replicas by their own addresses
    }
  }
  WARPLINE_EXPECT(false, "the host touches mapped memory only, and devices by their root ports");
  return nullptr;
}

std::optional<unsigned> GpuMemories::vidmem_at(std::uint64_t address) const {
  for (unsigned gpu = 0; gpu < gpus(); ++gpu) {
    const Mapping* hint = nullptr;
    const Mapping* const m = gpus_[gpu].space.find(VirtualAddress{address}, 1, hint);
    if (m != nullptr && aperture_of(m->translate(VirtualAddress{address})) == Aperture::vidmem) return gpu;
  }
  return std::nullopt;
}

std::size_t GpuMemories::contiguous(std::uint64_t address, std::size_t count) const {
  for (const Gpu& g : gpus_) {
    const Mapping* hint = nullptr;
    if (const Mapping* const m = g.space.find(VirtualAddress{address}, 1, hint); m != nullptr)
      return std::min<std::uint64_t>(count, m->bytes - (address - m->base));
  }
  WARPLINE_EXPECT(false, "the host touches mapped memory only");
  return 0;
}

void GpuMemories::write(std::uint64_t address, const void* bytes, std::size_t count) {
  const auto* from = static_cast<const std::uint8_t*>(bytes);
  while (count != 0) {
    const std::size_t part = contiguous(address, count);
    std::memcpy(bytes_at(address, part, true), from, part);
    address += part;
    from += part;
    count -= part;
  }
}

void GpuMemories::read(std::uint64_t address, void* bytes, std::size_t count) {
  auto* to = static_cast<std::uint8_t*>(bytes);
  while (count != 0) {
    const std::size_t part = contiguous(address, count);
    std::memcpy(to, bytes_at(address, part, false), part);
    address += part;
    to += part;
    count -= part;
  }
}

void GpuMemories::write_constant(unsigned gpu, std::uint64_t address, const void* bytes, std::size_t count) {
  constexpr std::uint64_t kBytes = std::uint64_t{ConstantBanks::kBanks} * ConstantBanks::kBankBytes;
  WARPLINE_EXPECT(address <= kBytes && count <= kBytes - address, "constant addresses lie in the banks");
  if (count == 0) return;
  gpus_[gpu].note_write(address, count);
  std::memcpy(vidmem(gpu).at(address), bytes, count);
}

MemoryImage& GpuMemories::image(Aperture aperture, unsigned gpu) {
  switch (aperture) {
    case Aperture::vidmem:
    case Aperture::multicast: break;
    case Aperture::sysmem: return sysmem();
    case Aperture::peer: return peer()->image();
  }
  return vidmem(gpu);
}

}  // namespace warpline
