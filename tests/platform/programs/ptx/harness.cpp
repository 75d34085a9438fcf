#include "tests/platform/programs/ptx/harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "rtl_models/base/random.h"
#include "rtl_models/isa/atomic.h"
#include "rtl_models/sm/address_windows.h"
#include "rtl_models/sm/copy_groups.h"
#include "rtl_models/sm/instruction_source.h"
#include "rtl_models/sm/texel_plan.h"

namespace warpline::ptx::test {
namespace {

constexpr std::uint64_t kGlobalBase = 0x10000;

}  // namespace

struct Machine::WarpSlot {
  struct Pending {
    const Instruction* instruction;
    std::unique_ptr<MemoryAccess> access;
  };
  /// An asynchronous copy that some lanes have not been seen to wait for.
  struct Copy {
    const Instruction* instruction;
    std::unique_ptr<MemoryAccess> access;
    LaneMask lanes;
    std::array<std::uint32_t, kWarpLanes> group;
  };
  std::vector<Pending> pending;
  std::vector<Copy> copies;
  std::array<std::uint32_t, kWarpLanes> groups{};  ///< that each lane has committed
  std::vector<std::uint8_t> local;
};

struct Machine::Cta {
  struct Barrier {
    std::uint32_t arrived = 0;
    std::uint32_t threads = 0;
    bool in_use = false;
  };
  const KernelInfo* info = nullptr;
  std::vector<WarpSlot> warps;
  std::vector<std::uint8_t> shared;
  std::array<Barrier, 16> barriers;
  Random random{1};
  std::uint64_t clock = 0;
};

programs::Module& Machine::load(const std::string& text) {
  auto result = parse(text, "test.ptx", schedule);
  if (!result.ok()) {
    std::string all;
    for (const Diagnostic& d : result.faults()) all += d.text();
    throw std::runtime_error(all);
  }
  module_ = std::move(result.value());
  constant_.assign(ConstantBanks::kBanks * ConstantBanks::kBankBytes, 0);
  std::uint64_t constant_at = 0;
  for (const programs::Variable& v : module_->variables()) {
    if (v.space == Space::constant) {
      constant_at = (constant_at + v.alignment - 1) / v.alignment * v.alignment;
      symbols_[v.name] = ConstantBanks::address(ConstantBanks::kModuleBank, constant_at);
      constant_at += v.initial.size();
    } else {
      symbols_[v.name] = allocate(v.initial.data(), v.initial.size());
    }
    module_->place(v.name, symbols_[v.name]);
  }
  for (const programs::Variable& v : module_->variables()) {
    const std::vector<std::uint8_t> bytes = module_->initial_bytes(v.name);
    std::uint8_t* to = v.space == Space::constant ? &constant_.at(symbols_[v.name])
                                                  : global_bytes(symbols_[v.name], bytes.size());
    std::copy(bytes.begin(), bytes.end(), to);
  }
  return *module_;
}

programs::Module& Machine::load_file(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return load(text.str());
}

std::uint64_t Machine::allocate(const void* from, std::size_t bytes) {
  const std::size_t at = (global_.size() + 255) / 256 * 256;
  global_.resize(at + bytes);
  if (bytes != 0) std::memcpy(&global_[at], from, bytes);
  return kGlobalBase + at;
}

std::uint8_t* Machine::global_bytes(std::uint64_t address, std::size_t bytes) {
  const std::uint64_t at = address - kGlobalBase;
  if (at + bytes > global_.size() || at > global_.size())
    throw std::runtime_error("unmapped address " + std::to_string(address));
  return global_.data() + at;
}

std::uint8_t* Machine::bytes_at(const MemOp& op, std::uint64_t address, unsigned lane, Cta& cta,
                                WarpSlot& warp) {
  const unsigned bytes = op.bytes_per_lane();
  if (address % bytes != 0) throw std::runtime_error("misaligned address " + std::to_string(address));
  Space space = op.space;
  if (space == Space::generic) {
    space = AddressWindows::space_of(address);
    address = AddressWindows::from_generic(space, address);
  }
  const auto within = [&](std::vector<std::uint8_t>& memory, std::uint64_t first, std::uint64_t size) {
    if (address + bytes > size || address > size) throw std::runtime_error("out of range in " + to_ptx(op));
    return memory.data() + first + address;
  };
  switch (space) {
    case Space::shared: return within(cta.shared, 0, cta.shared.size());
    case Space::local:
      return within(warp.local, std::uint64_t{lane} * cta.info->local_bytes, cta.info->local_bytes);
    case Space::constant: return within(constant_, 0, constant_.size());
    case Space::param:
      return within(const_cast<std::vector<std::uint8_t>&>(cta.info->parameters), 0,
                    cta.info->parameters.size());
    default: return global_bytes(address, bytes);
  }
}

/// What the instruction does to an image, as its core says; faults end the test.
void Machine::image_access(const Instruction& i, MemoryAccess& a, unsigned lane) {
  const ImageForm& form = i.mem.image;
  const Image* image = images.find(a.address[lane]);
  const auto refuse = [&](const char* why) { throw std::runtime_error(why + (" in " + to_ptx(i.mem))); };
  if (i.mem.kind == MemKind::image_query) {
    if (image == nullptr && form.query < ImageQuery::is_texture) refuse("no image");
    std::uint32_t level = 0;
    if (form.sampling == Sampling::level) std::memcpy(&level, a.lane_data(lane), sizeof level);
    const std::uint32_t answer = image == nullptr ? 0 : answer_query(form.query, *image, level);
    std::memcpy(a.lane_data(lane), &answer, sizeof answer);
    return;
  }
  if (image == nullptr) refuse("no image");
  const ImageCoordinates at = a.coordinates(lane, true);
  if (i.mem.kind == MemKind::texture_load) {
    SampleOperands operands;
    std::memcpy(&operands, a.lane_data(lane), sizeof operands);
    TexelPlan plan;
    if (const auto fault = plan_texels(i.mem, *image, at, operands, plan)) refuse(name_of(*fault).data());
    TexelBytes texels{};
    for (unsigned k = 0; k < plan.count; ++k)
      if (plan.offset.at(k) != TexelPlan::kBorder)
        std::memcpy(texels.at(k).data(),
                    global_bytes(image->address + plan.offset.at(k), image->format.bytes()),
                    image->format.bytes());
    combine_texels(i.mem, *image, plan, texels, operands.reference, a.lane_data(lane));
    return;
  }
  const unsigned bytes = form.formatted ? image->format.bytes() : i.mem.bytes_per_lane();
  const ElementPlace place = place_element(i.mem, *image, at, bytes);
  if (place.fault) refuse(name_of(*place.fault).data());
  if (place.nowhere) {
    if (i.mem.reads()) std::memset(a.lane_data(lane), 0, bytes);
    return;
  }
  std::uint8_t* p = global_bytes(image->address + place.offset, bytes);
  if (i.mem.is_atomic()) {
    std::uint64_t old = 0, operand = 0;
    std::memcpy(&old, p, bytes);
    std::memcpy(&operand, a.lane_data(lane), bytes);
    const std::uint64_t value = apply_atomic(i.mem.atomic, i.mem.type, old, operand, 0);
    std::memcpy(p, &value, bytes);
  } else if (i.mem.kind == MemKind::surface_store && form.formatted) {
    std::array<std::uint32_t, 4> components{};
    std::memcpy(components.data(), a.lane_data(lane), sizeof components);
    write_components(image->format, components.data(), i.mem.vector, p);
  } else if (i.mem.kind == MemKind::surface_store) {
    std::memcpy(p, a.lane_data(lane), bytes);
  } else {
    std::memcpy(a.lane_data(lane), p, bytes);
  }
}

void Machine::access(const Instruction& i, MemoryAccess& a, Cta& cta, WarpSlot& warp) {
  if (i.mem.tile_passes != 0) a.shared = cta.shared.data();
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((a.active >> lane & 1U) == 0) continue;
    if (i.mem.space == Space::texture || i.mem.space == Space::surface) {
      image_access(i, a, lane);
      continue;
    }
    std::uint8_t* at = bytes_at(i.mem, a.address_of(lane), lane, cta, warp);
    const unsigned bytes = i.mem.bytes_per_lane();
    if (i.mem.kind == MemKind::load) {
      std::memcpy(a.lane_data(lane), at, bytes);
    } else if (i.mem.kind == MemKind::store) {
      std::memcpy(at, a.lane_data(lane), bytes);
    } else {
      std::uint64_t old = 0;
      std::uint64_t operand = 0;
      std::memcpy(&old, at, bytes);
      std::memcpy(&operand, a.lane_data(lane), bytes);
      const std::uint64_t value = apply_atomic(i.mem.atomic, i.mem.type, old, operand, a.second[lane]);
      std::memcpy(at, &value, bytes);
      std::memcpy(a.lane_data(lane), &old, bytes);
    }
  }
}

void Machine::copy(const Instruction& i, const MemoryAccess& a, LaneMask lanes, Cta& cta, WarpSlot& warp) {
  const unsigned size = i.mem.bytes_per_lane();
  MemOp target = i.mem;
  target.space = Space::shared;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    if ((lanes >> lane & 1U) == 0) continue;
    const CopyTarget to = CopyTarget::of(a.second[lane]);
    std::uint8_t* at = bytes_at(target, to.offset, lane, cta, warp);
    std::memset(at, 0, size);
    if (to.bytes != 0) std::memcpy(at, global_bytes(a.address[lane], to.bytes), to.bytes);
  }
}

/// The copies that a wait of `lanes` asks for are made, each thread's by its own count.
void Machine::finish_copies(Cta& cta, WarpSlot& warp, const Instruction& wait, LaneMask lanes) {
  for (WarpSlot::Copy& c : warp.copies) {
    LaneMask due = 0;
    for (unsigned lane = 0; lane < kWarpLanes; ++lane)
      if (wait.groups_left == CopyGroups::kWaitForAll ||
          std::uint64_t{c.group.at(lane)} + wait.groups_left < warp.groups.at(lane))
        due |= LaneMask{1} << lane;
    due &= lanes & c.lanes;
    copy(*c.instruction, *c.access, due, cta, warp);
    c.lanes &= ~due;
  }
}

void Machine::step(InstructionSource& source, Cta& cta, unsigned slot) {
  WarpSlot& warp = cta.warps[slot];
  const Instruction& i = source.next(slot);
  // What the instruction reads or writes must be there: finish loads under way, and sometimes others.
  const auto touches = [&i](const Instruction& p) {
    const unsigned mine = i.source_count + i.destination_count;
    for (unsigned d = 0; d < p.destination_count; ++d)
      for (unsigned r = 0; r < mine; ++r)
        if (p.registers[p.source_count + d] == i.registers[r]) return true;
    return false;
  };
  for (std::size_t k = 0; k < warp.pending.size();) {
    const bool awaited =
        i.kind == InstructionKind::wait_products && warp.pending[k].instruction->mem.tile_passes != 0;
    if (!awaited && !touches(*warp.pending[k].instruction) && cta.random.below(4) != 0) {
      ++k;
      continue;
    }
    source.complete(slot, *warp.pending[k].instruction, *warp.pending[k].access, true);
    warp.pending.erase(warp.pending.begin() + static_cast<std::ptrdiff_t>(k));
  }
  for (unsigned r = 0; r < i.source_count + i.destination_count; ++r)
    ASSERT_LT(i.registers[r], cta.info->registers);
  Issue issue;
  issue.clock = ++cta.clock;
  auto access_state = i.kind == InstructionKind::memory ? std::make_unique<MemoryAccess>() : nullptr;
  issue.access = access_state.get();
  const LaneMask live = source.live_lanes(slot);
  if (keeps_order) order.push_back(source.where(i));
  source.execute(slot, issue);
  if (keeps_order) active.push_back(issue.active);
  ASSERT_EQ(issue.active & ~live, 0U) << source.where(i);
  if (issue.fault != nullptr) faults.emplace_back(issue.fault);
  ++instructions;
  thread_instructions += static_cast<unsigned>(__builtin_popcount(issue.active));
  if (i.kind == InstructionKind::wait_copies) finish_copies(cta, warp, i, issue.active);
  if (i.kind == InstructionKind::commit_copies)
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) warp.groups.at(lane) += issue.active >> lane & 1U;
  if (i.kind == InstructionKind::memory && i.mem.kind == MemKind::async_copy) {
    const LaneMask lanes = access_state->active;
    warp.copies.push_back({&i, std::move(access_state), lanes, warp.groups});
    // Some land long before anybody waits for them.
    if (cta.random.below(4) == 0) {
      copy(i, *warp.copies.back().access, lanes, cta, warp);
      warp.copies.pop_back();
    }
  } else if (i.kind == InstructionKind::memory) {
    access(i, *access_state, cta, warp);
    warp.pending.push_back({&i, std::move(access_state)});
  }
  if (i.kind == InstructionKind::barrier && issue.active != 0) {
    Cta::Barrier& b = cta.barriers.at(issue.barrier.id);
    b.arrived += static_cast<std::uint32_t>(__builtin_popcount(issue.active));
    b.threads = issue.barrier.threads;
    b.in_use = true;
  }
}

void Machine::check_barriers(InstructionSource& source, Cta& cta) {
  std::uint32_t live = 0;
  for (unsigned w = 0; w < cta.warps.size(); ++w)
    live += static_cast<std::uint32_t>(__builtin_popcount(source.live_lanes(w)));
  for (std::uint32_t id = 0; id < cta.barriers.size(); ++id) {
    Cta::Barrier& b = cta.barriers.at(id);
    if (!b.in_use || b.arrived < (b.threads == 0 ? live : b.threads)) continue;
    b = {};
    for (unsigned w = 0; w < cta.warps.size(); ++w) source.release_barrier(w, id);
  }
}

void Machine::run_cta(Kernel& kernel, InstructionSource& source, Dim3 where) {
  Cta cta;
  cta.info = &kernel.info();
  cta.random = Random(splitmix64(seed_++));
  cta.shared.resize(cta.info->shared_bytes);
  const unsigned threads = cta.info->threads_per_cta();
  cta.warps.resize(cta.info->warps_per_cta());
  for (unsigned w = 0; w < cta.warps.size(); ++w) {
    const unsigned n = std::min(kWarpLanes, threads - w * kWarpLanes);
    cta.warps[w].local.resize(std::size_t{cta.info->local_bytes} * kWarpLanes);
    source.begin_warp(w, where, w, n == 32 ? ~0U : (1U << n) - 1);
  }
  for (std::uint64_t n = 0;; ++n) {
    std::vector<unsigned> runnable;
    bool waiting = false;
    for (unsigned w = 0; w < cta.warps.size(); ++w) {
      if (source.state(w) == WarpState::runnable) runnable.push_back(w);
      waiting |= source.state(w) == WarpState::at_barrier;
    }
    if (runnable.empty() && !waiting) return;
    if (runnable.empty() || n > most_instructions)
      throw std::runtime_error(runnable.empty() ? "stuck at a barrier" : "runs for ever");
    step(source, cta, runnable[cta.random.below(runnable.size())]);
    check_barriers(source, cta);
  }
}

void Machine::run(const std::string& entry, Dim3 grid, Dim3 block, std::uint32_t dynamic_shared,
                  std::vector<std::uint8_t> parameters) {
  const auto kernel = module_->make_kernel(entry, grid, block, dynamic_shared, std::move(parameters));
  const auto source = kernel->make_source({0, kernel->info().warps_per_cta()});
  source->keep_in_step(in_step);
  for (std::uint32_t z = 0; z < grid.z; ++z)
    for (std::uint32_t y = 0; y < grid.y; ++y)
      for (std::uint32_t x = 0; x < grid.x; ++x) run_cta(*kernel, *source, {x, y, z});
}

}  // namespace warpline::ptx::test
