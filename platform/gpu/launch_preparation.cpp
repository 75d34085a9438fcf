// What a run does before its first grid: memory is reserved and filled, kernels are made and checked.
#include <algorithm>

#include "warpline/base/contract.h"
#include "warpline/gpu/initial_arrays.h"
#include "warpline/gpu/launch_file_state.h"
#include "warpline/programs/generators/generator.h"

namespace warpline {

Diagnostics LaunchRunner::prepare() {
  Diagnostics faults;
  const bool traces =
      std::any_of(plan_.steps.begin(), plan_.steps.end(), [](const Step& s) { return !s.trace.empty(); });
  for (const LoadedFile& loaded : plan_.files) check_gpus(loaded, faults);
  if (!faults.empty()) return faults;
  if (traces) platform_.map_everything();
  for (std::size_t n = 0; n < plan_.files.size(); ++n) prepare_file(n, faults);
  if (!faults.empty()) return faults;
  for (std::size_t n = 0; n < plan_.files.size(); ++n) prepare_launches(n);
  for (std::size_t n = 0; n < plan_.files.size(); ++n) check_launches(n, faults);
  return faults;
}

/// Whether the platform has the GPUs that a file names, and every module with variables runs on one only: a
/// variable has one address, which lies in that GPU's memory.
void LaunchRunner::check_gpus(const LoadedFile& loaded, Diagnostics& faults) {
  const LaunchFile& file = loaded.file;
  const unsigned gpus = platform_.config().gpus;
  for (const Launch& l : file.launches) {
    if (l.gpu >= gpus)
      faults.push_back(file.document->fault(
          l.gpu_place, "gpu: the platform has no GPU " + std::to_string(l.gpu),
          "its GPUs are as many as gpus says (--set gpus=" + std::to_string(l.gpu + 1) + ")"));
    if (l.generator || loaded.modules[l.module]->variables().empty()) continue;
    const unsigned first = gpu_of_module(file, l.module);
    if (l.gpu != first)
      faults.push_back(file.document->fault(l.gpu_place,
                                            "gpu: " + file.modules[l.module].path +
                                                " has variables, which lie in the memory of GPU " +
                                                std::to_string(first) + ", where it was launched first",
                                            "a module without variables runs on any GPU"));
  }
}

void LaunchRunner::prepare_file(std::size_t number, Diagnostics& faults) {
  LoadedFile& loaded = plan_.files[number];
  const LaunchFile& file = loaded.file;
  states_.push_back(std::make_unique<FileState>());
  FileState& state = *states_.back();
  for (const Buffer& b : file.buffers) {
    state.buffers.push_back(platform_.allocate(b.name, b.bytes(), b.aperture, b.gpu));
    if (state.buffers.back() == 0) {
      const char* memory = b.aperture == Aperture::peer ? "the peer's memory" : "the GPU's memory";
      faults.push_back(file.document->fault(
          b.place,
          "buffer \"" + b.name + "\" of " + std::to_string(b.bytes()) + " bytes does not fit " + memory));
      continue;
    }
    if (tags_only_ || b.initial.kind == InitialContent::Kind::zeros) continue;
    const std::vector<std::uint8_t> bytes = initial_bytes(b.initial, b.type, b.count);
    platform_.write(state.buffers.back(), bytes.data(), bytes.size());
  }
  if (faults.empty()) set_up_host(file, state, faults);
  for (const LaunchImage& i : file.images)
    state.images.push_back(
        platform_.add_image({i.is_surface, state.buffers[i.buffer], i.width, i.height, i.format}));
  for (unsigned gpu = 0; gpu < platform_.config().gpus; ++gpu) {
    std::uint64_t footprint = 0;
    for (const Launch& l : file.launches)
      if (l.generator && l.gpu == gpu) footprint = std::max(footprint, l.generator->footprint);
    state.footprints.push_back(footprint == 0 ? 0 : platform_.allocate("", footprint, Aperture::vidmem, gpu));
    if (footprint != 0 && state.footprints.back() == 0)
      faults.push_back(file.document->fault(
          file.launches.front().place,
          "a footprint of " + std::to_string(footprint) + " bytes does not fit the GPU's memory"));
  }
  state.variables = place_variables(loaded, platform_, constant_used_, faults);
  if (faults.empty() && !tags_only_) fill_variables(loaded, state.variables, platform_);
}

void LaunchRunner::set_up_host(const LaunchFile& file, FileState& state, Diagnostics& faults) {
  const auto need = file.host_need();
  if (!need) return;
  const unsigned peers = platform_.config().pcie_system.peers;
  if (host_ == nullptr || need->device >= peers) {
    faults.push_back(file.document->fault(
        need->place,
        peers == 0 ? "the platform has no host with devices"
                   : "the platform has no peer[" + std::to_string(need->device) + "]",
        "its devices are as many as pcie_system.peers says (--set pcie_system.peers=" +
            std::to_string(need->device + 1) + (peers == 0 ? " --set peer_bytes=0)" : ")")));
    return;
  }
  for (std::size_t n = 0; n + 1 < states_.size(); ++n) check_registers(plan_.files[n].file, file, faults);
  if (!faults.empty()) return;
  has_host_ = true;
  const Diagnostics more = host_->set_up({file, state.buffers}, state.places);
  faults.insert(faults.end(), more.begin(), more.end());
}

/// All files' registers are written before the first launch, so one value of two would be lost.
void LaunchRunner::check_registers(const LaunchFile& before, const LaunchFile& file, Diagnostics& faults) {
  for (const LaunchRegister& r : file.registers) {
    const auto is_same = [&r](const LaunchRegister& other) {
      return r.initial && other.initial && other.where.device == r.where.device &&
             other.where.offset == r.where.offset;
    };
    if (std::any_of(before.registers.begin(), before.registers.end(), is_same))
      faults.push_back(file.document->fault(
          r.where.place,
          "init: " + before.document->file() + " writes register \"" + r.where.text + "\", too",
          "registers are written once, before the first launch of all files: run the files one by one"));
  }
}

void LaunchRunner::prepare_launches(std::size_t number) {
  LoadedFile& loaded = plan_.files[number];
  FileState& state = *states_[number];
  for (const Launch& l : loaded.file.launches) {
    if (l.generator) {
      GeneratorParameters p;
      p.kind = l.generator->kind;
      p.base = state.footprints[l.gpu];
      p.footprint = l.generator->footprint;
      p.stride = l.generator->stride;
      p.accesses = l.generator->accesses;
      p.seed = l.generator->seed;
      p.grid = l.grid;
      p.block = l.block;
      state.kernels.push_back(make_generator(p));
    } else {
      ptx::Module& module = *loaded.modules[l.module];
      const auto& entries = module.entries();
      const auto entry = std::find_if(entries.begin(), entries.end(),
                                      [&](const ptx::Entry& e) { return e.name == l.kernel; });
      WARPLINE_EXPECT(entry != entries.end(), "the plan checked the kernel's name");
      auto packed = pack_parameters(loaded.file, l, *entry, state.buffers, state.images, state.places);
      WARPLINE_EXPECT(packed.ok(), "the plan checked the arguments");
      state.kernels.push_back(
          module.make_kernel(l.kernel, l.grid, l.block, l.shared_bytes, std::move(packed.value())));
    }
    platform_.load(state.kernels.back()->info(), l.gpu);
  }
}

void LaunchRunner::check_launches(std::size_t number, Diagnostics& faults) {
  const LaunchFile& file = plan_.files[number].file;
  for (std::size_t n = 0; n < file.launches.size(); ++n) {
    const Launch& l = file.launches[n];
    for (const std::string& why : platform_.refusals(states_[number]->kernels[n]->info(), l.gpu))
      faults.push_back(file.document->fault(l.block_place.line != 0 ? l.block_place : l.place,
                                            "\"" + l.kernel + "\" cannot run on this GPU: " + why));
  }
}

}  // namespace warpline
