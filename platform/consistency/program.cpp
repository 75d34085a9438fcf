#include "platform/consistency/program.h"

#include <algorithm>

#include "rtl_models/sm/address_windows.h"
#include "rtl_models/sm/copy_groups.h"

namespace warpline::litmus {
namespace {

/// An image of integers over the whole arena.
std::uint64_t image_of(ImageTable& images, bool surface, std::uint64_t address, unsigned bytes) {
  Image image;
  image.is_surface = surface;
  image.address = address;
  image.width = static_cast<std::uint32_t>(Arena::kBytes / bytes);
  image.format.type = bytes == 1 ? DataType::u8 : bytes == 2 ? DataType::u16 : DataType::u32;
  image.format.components = bytes == 8 ? 2 : 1;
  return images.add(image);
}

Warmable::Cache cache_of(const MemOp& op) {
  switch (op.kind) {
    case MemKind::surface_load:
    case MemKind::surface_store: return Warmable::Cache::l1_surface;
    case MemKind::texture_load: return Warmable::Cache::texture;
    default: break;
  }
  if (op.space == Space::constant) return Warmable::Cache::constant;
  return op.is_noncoherent ? Warmable::Cache::texture : Warmable::Cache::l1_lg;
}

/// A weak load that uses the cache that `op` uses.
MemOp weak_load_like(const MemOp& op) {
  MemOp load;
  load.kind = MemKind::load;
  if (cache_of(op) == Warmable::Cache::l1_lg) return load;
  load = op;
  if (op.kind == MemKind::surface_store) load.kind = MemKind::surface_load;
  return load;
}

class Lowering {
 public:
  Lowering(const Test& test, ImageTable& images) : test_(test), images_(images) {}

  Program run() {
    program_.places = places_of(test_);
    for (const Thread& t : test_.threads)
      for (const litmus::Instruction& i : t.code)
        if (i.op.kind == MemKind::bulk_copy || i.op.type == DataType::b128)
          program_.slot_bytes = Test::kBulkBytes;
    for (const Thread& t : test_.threads)
      program_.registers = std::max(program_.registers, static_cast<unsigned>(t.registers.size()));
    find_shared();
    for (unsigned t = 0; t < test_.threads.size(); ++t) place(t);
    if (needs_clusters(test_)) group();
    for (unsigned t = 0; t < test_.threads.size(); ++t) {
      const Thread& thread = test_.threads[t];
      std::vector<Step> code;
      for (const litmus::Instruction& i : thread.code) code.push_back(step(i, &thread));
      if (std::any_of(thread.code.begin(), thread.code.end(),
                      [](const litmus::Instruction& i) { return i.op.kind == MemKind::async_copy; }))
        code.push_back(wait_for_copies(CopyGroups::kWaitForAll));
      wait_for(0, static_cast<unsigned>(thread.registers.size()), code);
      program_.code.push_back(std::move(code));
    }
    program_.registers += static_cast<unsigned>(shared_memories_.size());
    for (const CtaProgram& c : program_.ctas)
      program_.threads_per_cta =
          std::max<unsigned>(program_.threads_per_cta, static_cast<unsigned>(c.threads.size()));
    add_scene();
    return std::move(program_);
  }

 private:
  /// Ends code that loads registers [first, end): a warp that has ended gets no values any more.
  static void wait_for(unsigned first, unsigned end, std::vector<Step>& code) {
    while (first < end) {
      Step s;
      for (; first < end && s.source_count < Step::kMaxRegisters; ++first)
        s.registers[s.source_count++] = static_cast<std::uint16_t>(first);
      code.push_back(s);
    }
  }

  static Step wait_for_copies(std::uint32_t groups_left) {
    Step s;
    s.kind = warpline::InstructionKind::wait_copies;
    s.groups_left = groups_left;
    return s;
  }

  void find_shared() {
    shared_.assign(test_.memories.size(), 0);
    for (const Location& l : test_.locations) {
      if (l.home != Home::shared || test_.locations[l.address].memory != l.memory) continue;
      if (std::find(shared_memories_.begin(), shared_memories_.end(), l.memory) != shared_memories_.end())
        continue;
      shared_memories_.push_back(l.memory);
      shared_[l.memory] = program_.shared_bytes;
      program_.shared_bytes += program_.slot_bytes;
    }
  }

  /// Adds thread `t` to its CTA.
  void place(unsigned t) {
    const Placement& own = test_.threads[t].place;
    for (CtaProgram& c : program_.ctas) {
      if (!test_.threads[c.threads.front()].place.same_cta(own)) continue;
      c.threads.push_back(t);
      return;
    }
    CtaProgram cta;
    cta.gpu = program_.places.of_thread[t];
    cta.threads.push_back(t);
    for (const unsigned memory : shared_memories_) {
      cta.begin.push_back(shared_step(memory, MemKind::store, litmus::Instruction::kNoRegister));
      if (test_.memories[memory].bytes > Test::kBytes) cta.begin.push_back(upper_step(cta.begin.back()));
      const unsigned owner = shared_owner(test_, memory);
      const bool elsewhere = owner != Location::kNoThread && !test_.threads[owner].place.same_cta(own);
      if (test_.memories[memory].arrivals != 0 || elsewhere) continue;
      const auto number = program_.registers + static_cast<unsigned>(cta.end.size());
      cta.end.push_back(shared_step(memory, MemKind::load, number));
      cta.end.back().reads_end = true;
    }
    wait_for(program_.registers, program_.registers + static_cast<unsigned>(cta.end.size()), cta.end);
    program_.ctas.push_back(std::move(cta));
  }

  /// The CTAs of each cluster, in the order in which the test names them.
  void group() {
    for (unsigned n = 0; n < program_.ctas.size(); ++n) {
      const auto place_of = [&](unsigned cta) -> const Placement& {
        return test_.threads[program_.ctas[cta].threads.front()].place;
      };
      auto at = std::find_if(program_.clusters.begin(), program_.clusters.end(),
                             [&](const auto& c) { return place_of(c.front()).same_cluster(place_of(n)); });
      if (at == program_.clusters.end()) at = program_.clusters.insert(at, std::vector<unsigned>{});
      program_.ctas[n].rank = static_cast<unsigned>(at->size());
      at->push_back(n);
      program_.cluster_ctas = std::max(program_.cluster_ctas, static_cast<unsigned>(at->size()));
    }
    program_.enter = {cluster_step(true), cluster_step(false)};
    unsigned most = 0;
    const auto count = [](const Thread& t, litmus::InstructionKind kind) {
      return static_cast<unsigned>(std::count_if(
          t.code.begin(), t.code.end(), [&](const litmus::Instruction& i) { return i.kind == kind; }));
    };
    for (const Thread& t : test_.threads)
      most = std::max(most, count(t, litmus::InstructionKind::cluster_arrive));
    for (const Thread& t : test_.threads) {
      std::vector<Step>& leave = program_.leave.emplace_back();
      unsigned arrived = count(t, litmus::InstructionKind::cluster_arrive);
      // All threads come to the last phase, whoever has come to fewer before.
      if (arrived > count(t, litmus::InstructionKind::cluster_wait)) leave.push_back(cluster_step(false));
      program_.rests.push_back(std::any_of(t.code.begin(), t.code.end(), [&](const litmus::Instruction& i) {
        return (i.completes != litmus::Instruction::kNoLocation && is_elsewhere(i.completes, t)) ||
               (i.mbarrier != MbarrierUse::none && is_elsewhere(i.location, t));
      }));
      for (; arrived <= most; ++arrived) {
        leave.push_back(cluster_step(true));
        leave.push_back(cluster_step(false));
      }
    }
  }

  static Step cluster_step(bool arrives) {
    Step s;
    s.kind = arrives ? warpline::InstructionKind::cluster_arrive : warpline::InstructionKind::cluster_wait;
    return s;
  }

  /// The order that goes with a barrier of a cluster.
  const Step* fence_with(const litmus::Instruction& i) {
    Step& s = program_.fences.emplace_back();
    s.of = &i;
    s.kind = warpline::InstructionKind::fence;
    s.mem.kind = MemKind::fence;
    s.mem.semantics = i.op.semantics;
    s.mem.scope = Scope::cluster;
    return &s;
  }

  Step shared_step(unsigned memory, MemKind kind, unsigned destination) {
    litmus::Instruction i;
    i.destination = destination;
    i.kind = litmus::InstructionKind::memory;
    i.op.kind = kind;
    i.op.space = Space::shared;
    i.op.type = DataType::b64;
    if (test_.memories[memory].arrivals != 0) i.mbarrier = MbarrierUse::arrive;  // made an object
    i.a.value = test_.memories[memory].initial;
    for (unsigned l = 0; l < test_.locations.size(); ++l)
      if (test_.locations[l].memory == memory) i.location = l;
    const litmus::Instruction& own = program_.own_code.emplace_back(std::move(i));
    if (own.mbarrier == MbarrierUse::none) return step(own, nullptr);
    Step s;
    s.of = &own;
    s.kind = warpline::InstructionKind::memory;
    s.mem = mbarrier_op(own, MbarrierOperation::init);
    s.memory = memory;
    s.address = Step::Address::shared;
    s.base = shared_[memory];
    s.count = test_.memories[memory].arrivals;
    return s;
  }

  /// Zeros to the 8 bytes behind those that `lower` stores to.
  Step upper_step(const Step& lower) {
    litmus::Instruction i = *lower.of;
    i.offset = Test::kBytes;
    i.a.value = 0;
    return step(program_.own_code.emplace_back(std::move(i)), nullptr);
  }

  static MemOp mbarrier_op(const litmus::Instruction& i, MbarrierOperation operation) {
    MemOp op;
    op.kind = MemKind::mbarrier;
    op.space = Space::shared;
    op.type = DataType::b64;
    op.mbarrier = operation;
    if (operation == MbarrierOperation::init) return op;
    op.semantics = i.op.semantics;
    op.scope = i.op.scope;
    return op;
  }

  /// An operation on an mbarrier object, as the SM takes it.
  static void take_mbarrier(Step& s, const litmus::Instruction& i) {
    s.count = static_cast<std::uint32_t>(i.b.value);
    MbarrierForm form = MbarrierForm::plain;
    MbarrierOperation operation = MbarrierOperation::arrive;
    switch (i.mbarrier) {
      case MbarrierUse::arrive: s.count = 1; break;
      case MbarrierUse::arrive_expect: form = MbarrierForm::expect_tx; break;
      case MbarrierUse::expect: operation = MbarrierOperation::expect_tx; break;
      case MbarrierUse::complete: operation = MbarrierOperation::complete_tx; break;
      case MbarrierUse::parity_wait: form = MbarrierForm::parity; [[fallthrough]];
      case MbarrierUse::test_wait:
        operation = i.suspends ? MbarrierOperation::try_wait : MbarrierOperation::test_wait;
        break;
      case MbarrierUse::copies_arrive:
        operation = MbarrierOperation::copies_arrive;
        form = MbarrierForm::no_increment;
        break;
      case MbarrierUse::none: break;
    }
    s.mem = mbarrier_op(i, operation);
    s.mem.mbarrier_form = form;
  }

  static void use(Step& s, const Operand& o) {
    if (o.is_register) s.registers[s.source_count++] = static_cast<std::uint16_t>(o.number);
  }

  Step step(const litmus::Instruction& i, const Thread* thread) {
    Step s;
    s.of = &i;
    s.mem = i.op;
    switch (i.kind) {
      case litmus::InstructionKind::memory: access(s, i, thread); break;
      case litmus::InstructionKind::cache_control:
        s.kind = warpline::InstructionKind::memory;
        if (i.op.controls_lines()) find_address(s, i, thread);
        break;
      case litmus::InstructionKind::fence: s.kind = warpline::InstructionKind::fence; break;
      case litmus::InstructionKind::commit_copies: s.kind = warpline::InstructionKind::commit_copies; break;
      case litmus::InstructionKind::wait_copies:
        s.kind = warpline::InstructionKind::wait_copies;
        s.groups_left = i.waits ? static_cast<std::uint32_t>(i.a.value) : CopyGroups::kWaitForAll;
        break;
      case litmus::InstructionKind::commit_bulk: s.kind = warpline::InstructionKind::commit_bulk; break;
      case litmus::InstructionKind::wait_bulk:
        s.kind =
            i.reads_only ? warpline::InstructionKind::wait_bulk_reads : warpline::InstructionKind::wait_bulk;
        s.groups_left = static_cast<std::uint32_t>(i.a.value);
        break;
      case litmus::InstructionKind::cluster_arrive:
        s.kind = warpline::InstructionKind::cluster_arrive;
        if (i.op.semantics == Semantics::release) s.before = fence_with(i);
        break;
      case litmus::InstructionKind::cluster_wait:
        s.kind = warpline::InstructionKind::cluster_wait;
        s.after = fence_with(i);
        break;
      case litmus::InstructionKind::barrier:
        s.kind = warpline::InstructionKind::barrier;
        barrier(s, i, *thread);
        use(s, i.a);
        if (i.counts) use(s, i.b);
        break;
      case litmus::InstructionKind::branch:
      case litmus::InstructionKind::compare:
      case litmus::InstructionKind::add:
      case litmus::InstructionKind::subtract:
        use(s, i.a);
        use(s, i.b);
        break;
      case litmus::InstructionKind::move: use(s, i.a); break;
      case litmus::InstructionKind::jump: break;
    }
    for (const unsigned r : {i.guard, i.index})
      if (r != litmus::Instruction::kNoRegister)
        s.registers[s.source_count++] = static_cast<std::uint16_t>(r);
    if (i.destination != litmus::Instruction::kNoRegister) {
      s.registers[s.source_count] = static_cast<std::uint16_t>(i.destination);
      s.destination_count = 1;
    }
    for (const unsigned r : i.more_destinations)
      s.registers[s.source_count + s.destination_count++] = static_cast<std::uint16_t>(r);
    return s;
  }

  void access(Step& s, const litmus::Instruction& i, const Thread* thread) {
    s.kind = warpline::InstructionKind::memory;
    if (i.mbarrier != MbarrierUse::none) {
      take_mbarrier(s, i);
      if (waits_for_phase(i.mbarrier)) use(s, i.a);
      return find_address(s, i, thread);
    }
    if (i.op.writes()) use(s, i.a);
    for (const Operand& o : i.more_values) use(s, o);
    if (i.op.is_atomic()) {
      if (i.op.atomic == AtomicOperation::compare_and_swap) use(s, i.b);
      s.mem.type = i.atomic_type();
    } else if (i.op.type == DataType::none) {
      s.mem.type = DataType::b32;
    }
    if (i.completes != litmus::Instruction::kNoLocation && !i.copies()) s.mem.kind = MemKind::async_store;
    if (s.mem.kind == MemKind::texture_load) {
      s.mem.type = DataType::u32;
      s.mem.vector = 4;
    }
    find_address(s, i, thread);
  }

  /// The window of a location: names of one memory have one each.
  [[nodiscard]] std::uint64_t window_at(unsigned location) const {
    const unsigned address = test_.locations[location].address, memory = test_.locations[location].memory;
    const auto before =
        std::count_if(test_.locations.begin(), test_.locations.begin() + address,
                      [&](const Location& l) { return l.memory == memory && l.proxy == Proxy::generic; });
    return Arena::window(program_.places.home[memory], static_cast<unsigned>(before));
  }

  /// Where a byte of shared memory lies, for `thread`; null: for every thread, in its own CTA.
  [[nodiscard]] std::uint64_t shared_at(unsigned memory, const Thread* thread) const {
    const unsigned owner = shared_owner(test_, memory);
    if (thread == nullptr || owner == Location::kNoThread ||
        test_.threads[owner].place.same_cta(thread->place))
      return shared_[memory];
    for (const CtaProgram& c : program_.ctas)
      if (test_.threads[c.threads.front()].place.same_cta(test_.threads[owner].place))
        return AddressWindows::map_to_rank(shared_[memory], c.rank);
    return shared_[memory];
  }

  /// Whether a location lies in shared memory of another CTA than the thread's.
  [[nodiscard]] bool is_elsewhere(unsigned location, const Thread& thread) const {
    const unsigned memory = test_.locations[location].memory;
    return shared_at(memory, &thread) != shared_[memory];
  }

  void find_address(Step& s, const litmus::Instruction& i, const Thread* thread) {
    const bool to_global = i.op.kind == MemKind::bulk_copy && i.op.bulk == BulkDirection::to_global;
    const unsigned location = to_global ? i.copy_to : i.location;
    const Location& l = test_.locations[location];
    s.memory = l.memory;
    s.bytes = i.all_bytes();
    const std::uint64_t window = window_at(location);
    switch (s.mem.kind) {
      case MemKind::texture_load:
        s.address = Step::Address::element;
        s.base = image_of(images_, false, window, s.bytes);
        return;
      case MemKind::surface_load:
      case MemKind::surface_store:
        s.address = Step::Address::byte;
        s.base = image_of(images_, true, window, s.bytes);
        return;
      default: break;
    }
    if (s.mem.kind == MemKind::async_copy) {
      s.address = Step::Address::copy;
      s.base = window;
      s.copy_to = static_cast<std::uint32_t>(shared_[test_.locations[i.copy_to].memory] + i.copy_offset);
      return;
    }
    if (i.completes != litmus::Instruction::kNoLocation)
      s.told = static_cast<std::uint32_t>(shared_at(test_.locations[i.completes].memory, thread));
    if (s.mem.kind == MemKind::bulk_copy) {
      const bool between = l.home == Home::shared;
      s.address = between ? Step::Address::between : Step::Address::bulk;
      s.base = between ? shared_[l.memory] : window;
      const unsigned inside = test_.locations[to_global ? i.location : i.copy_to].memory;
      s.copy_to = static_cast<std::uint32_t>(shared_at(inside, thread));
      return;
    }
    if (s.mem.kind == MemKind::async_store) {
      s.address = Step::Address::store;
      s.base = shared_at(l.memory, thread);
      s.mem.space = Space::shared_cluster;
      return;
    }
    if (l.home == Home::shared) {
      s.address = Step::Address::shared;
      s.base = shared_at(l.memory, thread);
      s.mem.may_be_remote = s.mem.kind == MemKind::mbarrier && s.base != shared_[l.memory];
      s.mem.space = s.base == shared_[l.memory] ? Space::shared : Space::shared_cluster;
    } else if (s.mem.space == Space::constant) {
      s.address = Step::Address::constant;
    } else {
      s.address = Step::Address::global;
      s.base = window;
      s.mem.space = Space::global;
    }
  }

  void barrier(Step& s, const litmus::Instruction& i, const Thread& own) const {
    const BarrierUse use = barrier_use(test_, own, i);
    s.threads = static_cast<std::uint16_t>(use.threads);
    s.uses = static_cast<std::uint16_t>(i.counts ? use.arrivals : 0);
  }

  /// What finds a line by which an access of the threads goes, and a weak load that brings it.
  void add_scene() {
    for (const Thread& t : test_.threads)
      for (const litmus::Instruction& i : t.code) {
        if (i.kind != litmus::InstructionKind::memory) continue;
        const bool to_global = i.op.kind == MemKind::bulk_copy && i.op.bulk == BulkDirection::to_global;
        const unsigned location = to_global ? i.copy_to : i.location;
        const Location& l = test_.locations[location];
        if (l.home == Home::shared) continue;
        const Warmable w{cache_of(i.op), l.memory, i.op.space == Space::constant ? 0 : window_at(location)};
        if (std::find(program_.warmable.begin(), program_.warmable.end(), w) != program_.warmable.end())
          continue;
        program_.warmable.push_back(w);
        litmus::Instruction load;
        load.kind = i.kind;
        load.op = weak_load_like(i.op);
        load.location = location;
        load.destination = 0;
        program_.noise.push_back(step(program_.own_code.emplace_back(std::move(load)), nullptr));
      }
    add_write_back();
  }

  /// L2 keeps what is stored to system memory until somebody has it written back: a fence of the noise, too.
  void add_write_back() {
    const std::vector<Home>& home = program_.places.home;
    if (std::find(home.begin(), home.end(), Home::sysmem) == home.end()) return;
    litmus::Instruction i;
    i.kind = litmus::InstructionKind::fence;
    i.op.kind = MemKind::fence;
    i.op.semantics = Semantics::release;
    i.op.scope = Scope::sys;
    program_.noise.push_back(step(program_.own_code.emplace_back(std::move(i)), nullptr));
  }

  const Test& test_;
  ImageTable& images_;
  Program program_;
  std::vector<std::uint64_t> shared_;  ///< by memory: where it lies in shared memory
  std::vector<unsigned> shared_memories_;
};

}  // namespace

Program lower(const Test& test, ImageTable& images) {
  return Lowering(test, images).run();
}

}  // namespace warpline::litmus
