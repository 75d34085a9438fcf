#include "drive.h"

#include <cstring>

#include "wl_nvme_regs.h"

namespace {

constexpr unsigned kPage = 4096;
constexpr unsigned kAdminEntries = 16;
constexpr unsigned kMostLooks = 100'000;  ///< before a drive is given up
constexpr std::uint64_t kLook = 100;      ///< nanoseconds from one look at memory or a register to the next

template <class T>
void put(std::uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <class T>
T get(const std::uint8_t* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

void DriveQueue::submit(const Command& command, std::uint16_t id) {
  std::uint8_t* const entry = submissions_.bytes + std::size_t{WL_NVME_COMMAND_BYTES} * tail_;
  std::memset(entry, 0, WL_NVME_COMMAND_BYTES);
  put(entry + WL_NVME_COMMAND_OPCODE_OFFSET, static_cast<std::uint8_t>(command.opcode));
  put(entry + WL_NVME_COMMAND_ID_OFFSET, id);
  put(entry + WL_NVME_COMMAND_NAMESPACE_OFFSET, command.nsid);
  put(entry + WL_NVME_COMMAND_DATA1_OFFSET, command.data1);
  put(entry + WL_NVME_COMMAND_DATA2_OFFSET, command.data2);
  put(entry + WL_NVME_COMMAND_DWORD10_OFFSET, command.dword10);
  put(entry + WL_NVME_COMMAND_DWORD11_OFFSET, command.dword11);
  put(entry + WL_NVME_COMMAND_DWORD12_OFFSET, command.dword12);
  tail_ = (tail_ + 1) % entries_;
  host_.store(registers_ + WL_NVME_SQ_TAIL_DOORBELL_OFFSET(number_), 4, tail_);
}

bool DriveQueue::take(Completion& out) {
  const std::uint8_t* const entry = completions_.bytes + std::size_t{WL_NVME_COMPLETION_BYTES} * head_;
  const auto status = get<std::uint16_t>(entry + WL_NVME_COMPLETION_STATUS_OFFSET);
  if ((status & WL_NVME_COMPLETION_STATUS_PHASE_MASK) != phase_) return false;
  out.id = get<std::uint16_t>(entry + WL_NVME_COMPLETION_ID_OFFSET);
  out.status = (status & WL_NVME_COMPLETION_STATUS_CODE_MASK) >> WL_NVME_COMPLETION_STATUS_CODE_SHIFT;
  head_ = (head_ + 1) % entries_;
  if (head_ == 0) phase_ ^= 1U;
  host_.store(registers_ + WL_NVME_CQ_HEAD_DOORBELL_OFFSET(number_), 4, head_);
  return true;
}

unsigned DriveQueue::run(const Command& command) {
  submit(command, 0);
  Completion done;
  for (unsigned looks = 0; !take(done); ++looks) {
    if (looks == kMostLooks) return kNoAnswer;
    host_.delay_ns(kLook);
  }
  return done.status;
}

Drive::Drive(warpline::Host& host, unsigned device)
    : host_(host), device_(device), registers_(host.devices()[device].bars[0].address) {}

Shared Drive::share(std::size_t bytes) {
  Shared out;
  bytes = (bytes + kPage - 1) / kPage * kPage;
  out.bytes = static_cast<std::uint8_t*>(host_.allocate(bytes, kPage));
  std::memset(out.bytes, 0, bytes);
  out.bus = host_.map_dma(device_, out.bytes, bytes, WL_DMA_BOTH).value();
  return out;
}

DriveQueue Drive::new_queue(unsigned number, unsigned entries) {
  const Shared submissions = share(std::size_t{WL_NVME_COMMAND_BYTES} * entries);
  const Shared completions = share(std::size_t{WL_NVME_COMPLETION_BYTES} * entries);
  return {host_, registers_, number, entries, submissions, completions};
}

bool Drive::becomes(bool ready) {
  for (unsigned looks = 0; looks != kMostLooks; ++looks) {
    if (((host_.load(registers_ + WL_NVME_CSTS_OFFSET, 4) & WL_NVME_CSTS_RDY_MASK) != 0) == ready)
      return true;
    host_.delay_ns(kLook);
  }
  return false;
}

bool Drive::start() {
  host_.store(registers_ + WL_NVME_CC_OFFSET, 4, 0);
  if (!becomes(false)) return false;
  admin_.emplace(new_queue(0, kAdminEntries));
  const std::uint32_t last = kAdminEntries - 1;
  host_.store(registers_ + WL_NVME_AQA_OFFSET, 4,
              last << WL_NVME_AQA_ACQS_SHIFT | last << WL_NVME_AQA_ASQS_SHIFT);
  host_.store(registers_ + WL_NVME_ASQ_OFFSET, 8, admin_->submissions());
  host_.store(registers_ + WL_NVME_ACQ_OFFSET, 8, admin_->completions());
  // Entries of 2^6 and 2^4 bytes, memory pages of 4 KiB.
  host_.store(registers_ + WL_NVME_CC_OFFSET, 4,
              6U << WL_NVME_CC_IOSQES_SHIFT | 4U << WL_NVME_CC_IOCQES_SHIFT | WL_NVME_CC_EN_MASK);
  return becomes(true);
}

bool Drive::create(unsigned number, unsigned entries, std::uint64_t submissions, std::uint64_t completions) {
  constexpr std::uint32_t kContiguous = 1;
  Command command;
  command.opcode = WL_NVME_ADMIN_OPCODE_CREATE_CQ;
  command.data1 = completions;
  command.dword10 = (entries - 1) << 16U | number;
  command.dword11 = kContiguous;
  if (admin_->run(command) != 0) return false;
  command.opcode = WL_NVME_ADMIN_OPCODE_CREATE_SQ;
  command.data1 = submissions;
  command.dword11 = number << 16U | kContiguous;
  return admin_->run(command) == 0;
}
