#include "run.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "drive.h"
#include "host_traffic.h"
#include "warpline/platform/config/load_gpu.h"
#include "warpline/platform/host/host_machine.h"
#include "warpline/platform/machine/pcie_system.h"
#include "warpline/platform/observe/watcher.h"
#include "warpline/platform/programs/ptx/module.h"
#include "warpline/rtl_models/sm/kernel.h"
#include "wl_nvme_regs.h"

namespace {

constexpr unsigned kPage = 4096, kBlockBytes = 512;
constexpr unsigned kKernelQueue = 1, kHostQueue = 2;  // and the one behind it
constexpr std::uint32_t kAdd = 0x01000193;            // what the kernel adds to each word
constexpr warpline::Cycle kLook = 200;                // the host looks at its queues so often

// The kernel's parameters, as kernels/nvme_io.cu has them.
struct KernelQueue {
  std::uint64_t submissions, completions, tail_doorbell, head_doorbell, progress;
  std::uint32_t entries, page_bytes;
};
struct KernelBuffers {
  std::uint64_t data, data_bus, lists, lists_bus;
  std::uint32_t count, padding;
};
struct KernelWork {
  std::uint64_t from, to, chunks, patience;
  std::uint32_t nsid, block_bytes, blocks, add;
};
struct KernelReport {
  std::uint64_t written, failed, sum, failure;
};
struct Parameters {
  KernelQueue queue;
  KernelBuffers buffers;
  KernelWork work;
  std::uint64_t report;
};

static_assert(offsetof(Parameters, buffers) == 48 && offsetof(Parameters, work) == 88 &&
                  offsetof(Parameters, report) == 136 && sizeof(KernelReport) == 32,
              "as the kernel has them");

std::string text_of(const warpline::Diagnostics& faults) {
  std::string out;
  for (const warpline::Diagnostic& d : faults) out += d.text() + "\n";
  return out;
}

/// A GPU, a drive and the host of both.
class Machine {
 public:
  Machine(const warpline::GpuConfig& config, const warpline::RunOptions& options) : gpu_(config, options) {}

  /// Finds the devices, and lets each of the two reach the other. Returns why it cannot.
  std::string set_up(const Scenario& scenario) {
    gpu_.build();
    if (!scenario.timeline.empty()) {
      warpline::WatchOptions watched;
      watched.timeline = scenario.timeline;
      watched.probes = scenario.probes;
      watcher_ = &gpu_.attach(warpline::make_watcher(gpu_, watched));
      if (const auto faults = watcher_->start(); !faults.empty()) return text_of(faults);
    }
    host_.emplace(*gpu_.pcie());
    host_->enumerate();
    drive_ = gpu_.pcie()->peers();
    card_ = gpu_.pcie()->functions();
    // The GPU's memory lies behind the longest of its BARs.
    const auto& bars = host_->devices()[card_].bars;
    memory_bar_ = static_cast<unsigned>(
        std::max_element(bars.begin(), bars.end(),
                         [](const auto& a, const auto& b) { return a.bytes < b.bytes; }) -
        bars.begin());
    if (!host_->open_bar(drive_, card_, memory_bar_) || !host_->open_bar(card_, drive_, 0))
      return "GPU and drive do not reach each other\n";
    const warpline::HostDevice::Bar& registers = host_->devices()[drive_].bars[0];
    registers_ =
        gpu_.map(warpline::Aperture::peer, registers.address, registers.bytes, registers.prefetchable);
    return {};
  }

  /// Video memory, zeros, whole pages: as kernels and as the drive have it.
  struct Video {
    std::uint64_t address = 0, bus = 0;
  };
  Video video(std::uint64_t bytes) {
    Video out;
    out.address = gpu_.allocate("", bytes + kPage);
    const std::uint64_t bus = host_->devices()[card_].bars[memory_bar_].address +
                              warpline::offset_in_aperture(gpu_.physical_of(out.address).value());
    out.bus = (bus + kPage - 1) / kPage * kPage;
    out.address += out.bus - bus;
    return out;
  }

  warpline::GpuPlatform& gpu() { return gpu_; }
  warpline::HostMachine& host() { return *host_; }
  [[nodiscard]] unsigned drive() const { return drive_; }
  /// The drive's registers, as kernels have them.
  [[nodiscard]] std::uint64_t registers() const { return registers_; }
  /// Why what was watched is not in its file; empty: it is.
  std::string finish() {
    std::string out;
    if (watcher_ != nullptr)
      for (const std::string& failure : watcher_->finish()) out += failure + "\n";
    return out;
  }

 private:
  warpline::GpuPlatform gpu_;
  std::optional<warpline::HostMachine> host_;
  warpline::Watcher* watcher_ = nullptr;
  unsigned drive_ = 0, card_ = 0, memory_bar_ = 0;
  std::uint64_t registers_ = 0;
};

/// The host's way to fill the drive and to look at it, a chunk at a time. What fails is tried again.
class Contents {
 public:
  Contents(Drive& drive, DriveQueue& queue, unsigned blocks)
      : queue_(queue), bytes_(std::size_t{blocks} * kBlockBytes) {
    memory_ = drive.share(bytes_);
    list_ = drive.share(kPage);
    for (std::uint64_t page = 1; page * kPage < bytes_; ++page) {
      const std::uint64_t bus = memory_.bus + page * kPage;
      std::memcpy(list_.bytes + 8 * (page - 1), &bus, 8);
    }
  }
  [[nodiscard]] bool write(std::uint64_t block, const std::uint32_t* words) {
    std::memcpy(memory_.bytes, words, bytes_);
    return run(WL_NVME_NVM_OPCODE_WRITE, block);
  }
  [[nodiscard]] bool read(std::uint64_t block, std::uint32_t* words) {
    if (!run(WL_NVME_NVM_OPCODE_READ, block)) return false;
    std::memcpy(words, memory_.bytes, bytes_);
    return true;
  }

 private:
  bool run(unsigned opcode, std::uint64_t block) {
    Command command;
    command.opcode = opcode;
    command.nsid = 1;
    command.data1 = memory_.bus;
    if (bytes_ > kPage) command.data2 = bytes_ <= 2 * kPage ? memory_.bus + kPage : list_.bus;
    command.dword10 = static_cast<std::uint32_t>(block);
    command.dword11 = static_cast<std::uint32_t>(block >> 32U);
    command.dword12 = static_cast<std::uint32_t>(bytes_ / kBlockBytes - 1);
    for (unsigned tries = 0; tries != 10; ++tries) {
      const unsigned status = queue_.run(command);
      if (status == 0 || status == DriveQueue::kNoAnswer) return status == 0;
    }
    return false;
  }
  DriveQueue& queue_;
  std::size_t bytes_;
  Shared memory_, list_;
};

}  // namespace

Outcome run(const Scenario& scenario) {
  Outcome out;
  std::vector<std::string> settings{"pcie_system.peers=0", "peer_bytes=0", "pcie_system.nvme.count=1"};
  settings.insert(settings.end(), scenario.settings.begin(), scenario.settings.end());
  const auto config = warpline::load_gpu("mini", settings);
  if (!config.ok()) return out.failure = text_of(config.faults()), out;
  std::ifstream file(scenario.kernel);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) return out.failure = scenario.kernel + ": cannot be read\n", out;
  const auto module = warpline::ptx::parse(text, scenario.kernel);
  if (!module.ok()) return out.failure = text_of(module.faults()), out;

  Machine machine(config.value(), scenario.options);
  if (out.failure = machine.set_up(scenario); !out.failure.empty()) return out;
  warpline::GpuPlatform& gpu = machine.gpu();
  Drive drive(machine.host(), machine.drive());

  // The kernel's queue pair and all its data are in video memory.
  const std::uint64_t stride = (std::uint64_t{scenario.blocks} * kBlockBytes + kPage - 1) / kPage * kPage;
  const auto submissions = machine.video(std::uint64_t{WL_NVME_COMMAND_BYTES} * scenario.entries);
  const auto completions = machine.video(std::uint64_t{WL_NVME_COMPLETION_BYTES} * scenario.entries);
  const auto data = machine.video(stride * scenario.buffers);
  const auto lists = machine.video(std::uint64_t{kPage} * scenario.buffers);
  const std::uint64_t progress = gpu.allocate("", 16), report = gpu.allocate("", sizeof(KernelReport));
  if (!drive.start()) return out.failure = "the drive does not get ready\n", out;
  DriveQueue first = drive.new_queue(kHostQueue, 16), second = drive.new_queue(kHostQueue + 1, 8);
  if (!drive.create(kKernelQueue, scenario.entries, submissions.bus, completions.bus) ||
      !drive.create(first) || !drive.create(second))
    return out.failure = "the drive makes no queues\n", out;

  // From block 0 on lies what the kernel reads, then what it writes, then what is the host's.
  const std::uint64_t blocks = std::uint64_t{scenario.chunks} * scenario.blocks;
  const std::size_t words = std::size_t{scenario.blocks} * kBlockBytes / 4;
  const auto word = [](std::uint64_t i) { return static_cast<std::uint32_t>(i * 2654435761U + 12345); };
  std::vector<std::uint32_t> chunk(words);
  std::uint64_t sum = 0;
  Contents contents(drive, first, scenario.blocks);
  for (unsigned n = 0; n != scenario.chunks; ++n) {
    for (std::size_t i = 0; i != words; ++i) sum += chunk[i] = word(n * words + i);
    if (!contents.write(std::uint64_t{n} * scenario.blocks, chunk.data()))
      out.failure = "the drive takes no data\n";
  }

  const unsigned pages = scenario.host_pages;
  HostTraffic traffic[] = {{drive, first, 2 * blocks, pages},
                           {drive, second, 2 * blocks + std::uint64_t{HostTraffic::kBlocks} * pages, pages}};
  unsigned begun = 0;
  for (unsigned launch = 0; launch != scenario.launches && out.failure.empty(); ++launch) {
    const unsigned end = scenario.chunks * (launch + 1) / scenario.launches;
    Parameters p{};
    p.queue = {submissions.address,
               completions.address,
               machine.registers() + WL_NVME_SQ_TAIL_DOORBELL_OFFSET(kKernelQueue),
               machine.registers() + WL_NVME_CQ_HEAD_DOORBELL_OFFSET(kKernelQueue),
               progress,
               scenario.entries,
               kPage};
    p.buffers = {data.address, data.bus, lists.address, lists.bus, scenario.buffers, 0};
    const std::uint64_t from = std::uint64_t{begun} * scenario.blocks;
    p.work = {from, blocks + from, end - begun, scenario.patience, 1, kBlockBytes, scenario.blocks, kAdd};
    p.report = report;
    std::vector<std::uint8_t> parameters(sizeof p);
    std::memcpy(parameters.data(), &p, sizeof p);
    const auto kernel =
        module.value()->make_kernel("nvme_io", {1, 1, 1}, {scenario.threads, 1, 1}, 0, parameters);
    gpu.start({warpline::GridLaunch{kernel.get()}});
    while (gpu.running()) {
      for (HostTraffic& t : traffic) t.step();
      machine.host().pass(kLook);
    }
    out.cycles += gpu.finish().cycles;
    if (!gpu.faults().empty()) out.failure = "the kernel: " + gpu.faults().front().kind + "\n";
    begun = end;
  }
  unsigned idle = 0;
  while (out.failure.empty() && !(traffic[0].is_done() && traffic[1].is_done())) {
    for (HostTraffic& t : traffic)
      if (t.step()) idle = 0;
    if (++idle == 50'000) out.failure = "the drive does not answer\n";
    machine.host().pass(kLook);
  }
  out.microseconds = gpu.time_ns(out.cycles) / 1000;
  for (const HostTraffic& t : traffic) {
    out.host_failed += t.failed();
    out.host_wrong += t.wrong();
  }

  KernelReport told{};
  gpu.read(report, &told, sizeof told);
  out.written = told.written;
  out.failed = told.failed;
  out.failure_word = told.failure;
  out.sum_is_right = told.sum == sum;
  for (unsigned n = 0; n != scenario.chunks && out.failure.empty(); ++n) {
    if (!contents.read(blocks + std::uint64_t{n} * scenario.blocks, chunk.data()))
      out.failure = "the drive gives no data\n";
    for (std::size_t i = 0; i != words; ++i) out.wrong_words += chunk[i] != word(n * words + i) + kAdd;
  }
  out.failure += machine.finish();
  return out;
}
