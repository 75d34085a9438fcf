#include "host_traffic.h"

#include "wl_nvme_regs.h"

namespace {

Command of_page(unsigned opcode, const Shared& memory, std::uint64_t block) {
  Command command;
  command.opcode = opcode;
  command.nsid = 1;
  command.data1 = memory.bus;
  command.dword10 = static_cast<std::uint32_t>(block);
  command.dword11 = static_cast<std::uint32_t>(block >> 32U);
  command.dword12 = HostTraffic::kBlocks - 1;
  return command;
}

}  // namespace

HostTraffic::HostTraffic(Drive& drive, DriveQueue& queue, std::uint64_t first, unsigned pages)
    : queue_(queue), first_(first), pages_(pages) {
  for (Slot& slot : slots_) {
    slot.out = drive.share(kBlocks * kBlockBytes);
    slot.in = drive.share(kBlocks * kBlockBytes);
  }
  for (unsigned slot = 0; slot != kSlots; ++slot) write_next(slot);
}

void HostTraffic::write_next(unsigned number) {
  if (next_ == pages_) return;
  Slot& slot = slots_[number];
  slot.reads = false;
  slot.page = next_++;
  for (unsigned i = 0; i != kBlocks * kBlockBytes; ++i) slot.out.bytes[i] = byte_of(slot.page, i);
  queue_.submit(of_page(WL_NVME_NVM_OPCODE_WRITE, slot.out, first_ + std::uint64_t{kBlocks} * slot.page),
                static_cast<std::uint16_t>(number));
  ++busy_;
}

bool HostTraffic::step() {
  bool any = false;
  DriveQueue::Completion done;
  for (; queue_.take(done); any = true) {
    Slot& slot = slots_[done.id];
    --busy_;
    if (done.status != 0) {
      ++failed_;
    } else if (!slot.reads) {
      slot.reads = true;
      queue_.submit(of_page(WL_NVME_NVM_OPCODE_READ, slot.in, first_ + std::uint64_t{kBlocks} * slot.page),
                    done.id);
      ++busy_;
      continue;
    } else {
      for (unsigned i = 0; i != kBlocks * kBlockBytes; ++i)
        wrong_ += slot.in.bytes[i] != byte_of(slot.page, i);
    }
    write_next(done.id);
  }
  return any;
}
