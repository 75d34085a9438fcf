// Setting up what a launch file wants of devices, and looking at what became of them.
#include "warpline/host/launch_file_host.h"

#include <algorithm>

#include "warpline/config/element.h"
#include "warpline/regs/peer.h"

namespace warpline {
namespace {

/// A register's value as manuals have it: "0x00000001".
std::string hexadecimal(std::uint64_t bits, unsigned bytes) {
  constexpr const char* kDigits = "0123456789ABCDEF";
  std::string text = "0x";
  for (unsigned digit = 2 * bytes; digit-- != 0;) text += kDigits[bits >> 4 * digit & 15U];
  return text;
}

}  // namespace

Diagnostics LaunchFileHost::set_up(const PlacedFile& placed, std::vector<std::uint64_t>& places) {
  platform_.build();
  PcieSystem& system = *platform_.pcie();
  if (!host_) {
    const bool loose = system.is_loose();
    system.set_loose(true);
    host_.emplace(system);
    host_->enumerate();
    system.set_loose(loose);
  }
  const LaunchFile& file = placed.file;
  Diagnostics faults;
  check_reach(placed, faults);
  const auto lies_in = [&](const DevicePlace& where, std::uint64_t bytes) {
    const std::uint64_t size = host_->devices()[where.device].bars[where.bar].bytes;
    if (where.offset < size && bytes <= size - where.offset) return;
    faults.push_back(file.document->fault(
        where.place,
        "\"" + where.text + "\" lies beyond its BAR, which has " + std::to_string(size) + " bytes"));
  };
  for (const DeviceAddress& a : file.addresses)
    if (a.where) lies_in(*a.where, 1);
  for (const Launch& l : file.launches)
    for (const HostStep& s : l.host)
      if (s.target.device) lies_in(*s.target.device, size_of(s.target.type));
  if (!faults.empty()) return faults;
  for (const DeviceAddress& a : file.addresses)
    places.push_back(a.bus ? bus_address(*a.bus, placed) : mapped(*a.where));
  set_registers(placed);
  host_->forget_time();
  return {};
}

void LaunchFileHost::set_registers(const PlacedFile& placed) {
  const std::vector<LaunchRegister>& registers = placed.file.registers;
  const auto is_set = [](const LaunchRegister& r) { return r.initial.has_value(); };
  if (std::none_of(registers.begin(), registers.end(), is_set)) return;
  // A doorbell among them makes a device work, perhaps in the memory of a GPU. Pins take nothing that is
  // loosely timed: with them it costs time, before the run.
  const PcieSystem& system = *platform_.pcie();
  const bool loose = system.is_loose();
  if (platform_.takes_loose()) platform_.set_loose(true);
  for (const LaunchRegister& r : registers)
    if (r.initial) host_->store(address_of(r.where), r.where.bytes, bits_of(*r.initial, placed));
  while (!at_rest()) static_cast<void>(platform_.pcie()->run_until(platform_.pcie()->engine().next_tick()));
  if (platform_.takes_loose()) platform_.set_loose(loose);
}

void LaunchFileHost::begin() {
  const PcieSystem& system = *platform_.pcie();
  log_begins_.clear();
  for (unsigned i = 0; i < system.peers(); ++i) log_begins_.push_back(system.peer(i).core().log().total());
}

bool LaunchFileHost::at_rest() const {
  return platform_.pcie()->engine().next_tick() == kNever;
}

std::uint64_t LaunchFileHost::offset_of(std::size_t buffer, const PlacedFile& placed) const {
  return offset_in_aperture(platform_.physical_of(placed.buffers[buffer]).value());
}

std::uint64_t LaunchFileHost::behind_bar(std::size_t buffer, const PlacedFile& placed) const {
  const unsigned gpu = placed.file.buffers[buffer].gpu;
  return host_->devices()[device_of(gpu)].bars[GpuFunction::kMemoryBar].address +
         offset_in_aperture(platform_.physical_of(placed.buffers[buffer], gpu).value());
}

void LaunchFileHost::check_reach(std::size_t buffer, Place place, const PlacedFile& placed,
                                 Diagnostics& faults) const {
  const Buffer& b = placed.file.buffers[buffer];
  if (b.aperture != Aperture::vidmem) return;
  const std::uint64_t bar = host_->devices()[device_of(b.gpu)].bars[GpuFunction::kMemoryBar].bytes;
  const std::uint64_t end =
      offset_in_aperture(platform_.physical_of(placed.buffers[buffer], b.gpu).value()) + b.bytes();
  if (end <= bar) return;
  std::uint64_t enough = 4096;
  while (enough < end) enough *= 2;
  faults.push_back(placed.file.document->fault(
      place,
      "buffer \"" + b.name + "\" reaches beyond the BAR of GPU " + std::to_string(b.gpu) + ", which has " +
          std::to_string(bar) + " bytes",
      "host and devices reach all of it with --set pcie.bar_bytes=" + std::to_string(enough)));
}

/// Whether host and devices reach what the file has them reach. Each buffer is named once.
void LaunchFileHost::check_reach(const PlacedFile& placed, Diagnostics& faults) const {
  const LaunchFile& file = placed.file;
  const bool among_each_other = platform_.config().pcie_system.root.peer_to_peer;
  std::vector<bool> seen(file.buffers.size());
  const auto refuse = [&](Place place, const std::string& what) {
    faults.push_back(file.document->fault(place, what + ", and root ports pass nothing on to each other",
                                          "they do with --set pcie_system.root.peer_to_peer=true"));
  };
  const auto check_once = [&](std::size_t buffer, Place place) {
    if (seen[buffer]) return;
    seen[buffer] = true;
    check_reach(buffer, place, placed, faults);
  };
  const auto check_bus = [&](const std::optional<BusAddress>& bus) {
    if (!bus) return;
    if (!among_each_other && file.buffers[bus->buffer].aperture == Aperture::vidmem)
      refuse(bus->place, "buffer \"" + file.buffers[bus->buffer].name + "\" lies in the memory of a GPU");
    check_once(bus->buffer, bus->place);
  };
  for (const DeviceAddress& a : file.addresses) {
    check_bus(a.bus);
    if (a.where && !among_each_other)
      refuse(a.place, "kernels reach \"" + a.where->text + "\" over their link");
  }
  for (const LaunchRegister& r : file.registers)
    if (r.initial) check_bus(r.initial->bus);
  for (const Launch& l : file.launches)
    for (const HostStep& s : l.host) {
      if (s.value) check_bus(s.value->bus);
      if (!s.target.text.empty() && !s.target.device) check_once(s.target.buffer, s.place);
    }
}

std::uint64_t LaunchFileHost::bus_address(const BusAddress& bus, const PlacedFile& placed) {
  if (const Buffer& b = placed.file.buffers[bus.buffer]; b.aperture == Aperture::vidmem) {
    if (opened_.emplace(bus.device, b.gpu).second)
      WARPLINE_EXPECT(host_->open_bar(bus.device, device_of(b.gpu), GpuFunction::kMemoryBar),
                      "a buffer that is reached lies behind a BAR");
    return behind_bar(bus.buffer, placed) + bus.offset;
  }
  const std::uint64_t at = offset_of(bus.buffer, placed);
  const auto [found, fresh] = buffers_.try_emplace({bus.device, at}, 0);
  if (fresh)
    found->second = host_
                        ->map_dma(bus.device, platform_.pcie()->sysmem().at(at),
                                  placed.file.buffers[bus.buffer].bytes(), WL_DMA_BOTH)
                        .value();
  return found->second + bus.offset;
}

std::uint64_t LaunchFileHost::bits_of(const HostValue& value, const PlacedFile& placed) {
  return value.bus ? bus_address(*value.bus, placed) : value.bits;
}

std::uint64_t LaunchFileHost::address_of(const DevicePlace& where) const {
  return host_->devices()[where.device].bars[where.bar].address + where.offset;
}

/// Where kernels find it.
std::uint64_t LaunchFileHost::mapped(const DevicePlace& where) {
  const auto [found, fresh] = bars_.try_emplace({where.device, where.bar}, 0);
  if (fresh) {
    const unsigned peers = platform_.pcie()->peers();
    for (unsigned gpu = 0; gpu < platform_.config().gpus; ++gpu)
      WARPLINE_EXPECT(host_->open_bar(peers + gpu, where.device, where.bar), "BARs of 64 bits are placed");
    const HostDevice::Bar& bar = host_->devices()[where.device].bars[where.bar];
    found->second = platform_.map(Aperture::peer, bar.address, bar.bytes, bar.prefetchable);
  }
  return found->second + where.offset;
}

std::vector<std::string> LaunchFileHost::unexpected(const LaunchFile& file) {
  std::vector<std::string> out;
  for (const LaunchRegister& r : file.registers) {
    if (!r.expect) continue;
    const RegisterFile& registers = platform_.pcie()->peer(r.where.device).core().registers();
    const std::uint64_t got = registers.peek(r.where.offset, r.where.bytes).value & r.mask;
    if (got == (*r.expect & r.mask)) continue;
    out.push_back("register \"" + r.where.text + "\": got " + hexadecimal(got, r.where.bytes) + ", wanted " +
                  hexadecimal(*r.expect & r.mask, r.where.bytes));
  }
  return out;
}

std::string LaunchFileHost::access_log(bool json) {
  std::string out;
  const auto add = [&](const std::string& line) {
    out += (json && !out.empty() ? ",\n" : "") + line + (json ? "" : "\n");
  };
  const PcieSystem& system = *platform_.pcie();
  for (unsigned i = 0; i < system.peers(); ++i) {
    const AccessLog& log = system.peer(i).core().log();
    const std::string device = system.peer(i).name();
    const std::uint64_t begin = i < log_begins_.size() ? log_begins_[i] : 0;
    const std::uint64_t forgotten = log.forgotten();
    if (forgotten > begin) {
      const std::string count = std::to_string(forgotten - begin);
      add(json ? "{\"device\": \"" + device + "\", \"forgotten\": " + count + "}"
               : device + "  " + count + " older accesses were forgotten (pcie_system.peer.log_entries)");
    }
    std::uint64_t number = forgotten;
    for (const LoggedAccess& access : log.entries()) {
      if (number++ < begin) continue;
      const RegisterMap* const map = access.bar == PeerCore::kRegisterBar ? &regs::peer::kMap : nullptr;
      add(json ? "{\"device\": \"" + device + "\", " + to_json(access, map).substr(1)
               : device + "  " + to_text(access, map));
    }
  }
  return json ? "[\n" + out + "\n]\n" : out;
}

}  // namespace warpline
