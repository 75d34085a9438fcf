#include "platform/cuda/module_on_device.h"

#include <algorithm>
#include <utility>

#include "platform/launch/module_memory.h"
#include "platform/programs/ptx/module.h"
#include "rtl_models/base/text.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline::cuda {
namespace {

/// Modules may have variables and functions alone; a program here has a kernel.
constexpr std::string_view kNothing = "__warpline_nothing";
constexpr const char* kFactsVariable = "__warpline_facts";
constexpr std::string_view kAnyKernel =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry __warpline_nothing()\n{\n  ret;\n}\n";

}  // namespace

Result<std::unique_ptr<programs::Module>> ModuleOnDevice::read(const std::vector<PtxText>& texts,
                                                               ptx::Schedule schedule) {
  if (texts.empty())
    return Diagnostic::about("module",
                             "there is nothing in it but CUDA's library of launches from the device");
  const bool has_kernel = std::any_of(texts.begin(), texts.end(), [](const PtxText& t) {
    return t.text.find(".entry") != std::string::npos;
  });
  if (texts.size() == 1 && has_kernel) return ptx::parse(texts.front().text, texts.front().name, schedule);
  std::vector<ptx::ModulePart> parts;
  for (const PtxText& t : texts) parts.push_back({t.text, t.name});
  if (!has_kernel) parts.push_back({kAnyKernel, "a kernel that does nothing"});
  return ptx::parse(parts, schedule);
}

Result<std::unique_ptr<ModuleOnDevice>> ModuleOnDevice::load(
    std::unique_ptr<programs::Module> program, const std::string& name, const Place& place,
    const std::map<std::string, std::uint64_t>& given, bool fill_given) {
  std::unique_ptr<ModuleOnDevice> module(new ModuleOnDevice(std::move(program), place.platform, place.gpu));
  if (const auto fault = module->lay(name, place, given, fill_given)) return *fault;
  return module;
}

ModuleOnDevice::~ModuleOnDevice() {
  for (const std::uint64_t address : allocated_) platform_.free(address);
}

std::optional<Diagnostic> ModuleOnDevice::lay(const std::string& name, const Place& place,
                                              const std::map<std::string, std::uint64_t>& given,
                                              bool fill_given) {
  DeviceMemory& memory = place.memory;
  const auto misfit = [&](const programs::Variable& v, const char* what) {
    return Diagnostic::about(name, "variable \"" + v.name + "\" of " + counted(v.initial.size(), "byte") +
                                       " does not fit the GPU's " + what);
  };
  const auto is_placed = [](const programs::Variable& v) { return v.refused.empty(); };
  std::map<std::string, std::uint64_t> in_bank;
  for (const programs::Variable& v : program_->variables()) {
    if (!is_placed(v)) continue;
    if (v.space == Space::constant) {
      const std::uint64_t at = place_constant(v, constant_bytes_);
      if (at == 0) return misfit(v, "64 KiB constant bank");
      in_bank[v.name] = at;
      program_->place(v.name, at);
      continue;
    }
    const std::optional<std::uint64_t> shared = memory.variable(v.name, gpu_);
    const auto known = given.find(v.name);
    std::uint64_t at = known != given.end() ? known->second : shared.value_or(0);
    if (!shared && known == given.end()) {
      const GlobalPlace own = place_global(v, platform_, gpu_);
      at = own.address;
      if (at == 0) return misfit(v, "memory");
      platform_.name_memory(own.memory, "variable " + v.name);
      if (!is_shared_by_modules(v.name)) allocated_.push_back(own.memory);
    }
    if (at == 0) return misfit(v, "memory");
    addresses_[v.name] = at;
    program_->place(v.name, at);
  }
  if (constant_bytes_ != 0) {
    constants_ = platform_.allocate("", constant_bytes_, Aperture::vidmem, gpu_);
    if (constants_ == 0) return Diagnostic::about(name, "its constants do not fit the GPU's memory");
    platform_.name_memory(constants_, "the constants of " + name);
    allocated_.push_back(constants_);
  }
  const std::uint64_t bank = ConstantBanks::address(ConstantBanks::kModuleBank, 0);
  for (const auto& [variable, at] : in_bank) addresses_[variable] = constants_ + (at - bank);
  for (const programs::Variable& v : program_->variables()) {
    if (!is_placed(v) || memory.variable(v.name, gpu_)) continue;
    if (!fill_given && given.count(v.name) != 0) {
      of_others_.insert(v.name);
      continue;
    }
    const std::vector<std::uint8_t> bytes = program_->initial_bytes(v.name);
    platform_.write(addresses_.at(v.name), bytes.data(), bytes.size());
  }
  if (const auto found = addresses_.find(kFactsVariable); found != addresses_.end())
    facts_variable_ = found->second;
  if (const auto lacks = memory.set_up(gpu_, addresses_, place.sizes, platform_))
    return Diagnostic::about(name, lacks->what + " does not fit the GPU's memory");
  return std::nullopt;
}

std::vector<std::string> ModuleOnDevice::kernels() const {
  std::vector<std::string> names;
  for (const programs::Entry& e : program_->entries())
    if (e.name != kNothing) names.push_back(e.name);
  return names;
}

const programs::Entry* ModuleOnDevice::entry(std::string_view name) const {
  const auto& all = program_->entries();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const programs::Entry& e) { return e.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::optional<ModuleOnDevice::Variable> ModuleOnDevice::variable(const std::string& name) const {
  const auto found = addresses_.find(name);
  if (found == addresses_.end()) return std::nullopt;
  for (const programs::Variable& v : program_->variables())
    if (v.name == name) return Variable{found->second, v.initial.size()};
  return std::nullopt;
}

std::map<std::string, ModuleOnDevice::Variable> ModuleOnDevice::variables() const {
  std::map<std::string, Variable> all;
  for (const programs::Variable& v : program_->variables())
    if (const auto found = addresses_.find(v.name);
        found != addresses_.end() && !is_shared_by_modules(v.name))
      all[v.name] = {found->second, v.initial.size()};
  return all;
}

bool ModuleOnDevice::lay_facts(const std::vector<std::uint8_t>& bytes) {
  if (facts_at_ == 0) {
    facts_at_ = platform_.allocate("", bytes.size(), Aperture::vidmem, gpu_);
    if (facts_at_ == 0) return false;
    platform_.name_memory(facts_at_, "what kernels can ask of their GPU");
    allocated_.push_back(facts_at_);
  }
  platform_.write(facts_at_, bytes.data(), bytes.size());
  platform_.write(facts_variable_, &facts_at_, sizeof facts_at_);
  return true;
}

void ModuleOnDevice::lay_constants() {
  if (constant_bytes_ == 0) return;
  std::vector<std::uint8_t> bytes(constant_bytes_);
  platform_.read(constants_, bytes.data(), bytes.size());
  platform_.write_constant(ConstantBanks::address(ConstantBanks::kModuleBank, 0), bytes.data(), bytes.size(),
                           gpu_);
}

bool ModuleOnDevice::uses(DeviceMemory::Part part) const {
  return addresses_.count(DeviceMemory::variable_of(part)) != 0;
}

void ModuleOnDevice::renew_variables() {
  // The library's begin with where their memory lies, and how large it is.
  constexpr std::size_t kPlace = 16;
  for (const programs::Variable& v : program_->variables()) {
    const auto found = addresses_.find(v.name);
    if (found == addresses_.end() || of_others_.count(v.name) != 0) continue;
    const std::vector<std::uint8_t> bytes = program_->initial_bytes(v.name);
    const std::size_t kept = is_shared_by_modules(v.name) ? std::min(kPlace, bytes.size()) : 0;
    platform_.write(found->second + kept, bytes.data() + kept, bytes.size() - kept);
  }
}

}  // namespace warpline::cuda
