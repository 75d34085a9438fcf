#include "platform/programs/ptx/module.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "platform/programs/code_name.h"
#include "platform/programs/ptx/call_graph.h"
#include "platform/programs/ptx/decoder.h"
#include "platform/programs/ptx/device_library/device_library.h"
#include "platform/programs/ptx/instruction_order.h"
#include "platform/programs/ptx/linker.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx/register_places.h"
#include "platform/programs/ptx/register_pressure.h"
#include "platform/programs/ptx/source.h"
#include "platform/programs/ptx/stacked_parameters.h"
#include "platform/programs/ptx_legality/judge.h"
#include "platform/programs/ptx_syntax/parser.h"
#include "platform/programs/ptx_syntax/special_registers.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/sm/address_windows.h"

namespace warpline::ptx {
namespace {

class PtxKernel final : public Kernel {
 public:
  explicit PtxKernel(LaunchedProgram launch) : launch_(std::move(launch)) {}
  [[nodiscard]] const KernelInfo& info() const override { return launch_.info; }
  void set_attributes(const LaunchAttributes& attributes) override {
    launch_.attributes = attributes;
    launch_.info.cooperative = attributes.cooperative;
    launch_.info.carveout = attributes.carveout;
    if (attributes.registers != 0) launch_.info.held_registers = attributes.registers;
    launch_.info.shared_bytes =
        static_cast<std::uint32_t>(align_up(launch_.info.shared_bytes, std::max(1U, attributes.shared_unit)));
    // What a program takes by alloca lies behind the frames, so that these have a fixed room there.
    const Program& program = *launch_.program;
    if (program.recursive && !program.has_stack && attributes.stack_bytes > kRecursionBytes)
      launch_.info.local_bytes = program.local_bytes + (attributes.stack_bytes + 15) / 16 * 16;
  }
  [[nodiscard]] std::unique_ptr<InstructionSource> make_source(const SmSite& site) override {
    launch_.sms = std::max(launch_.sms, site.number + 1);
    return std::make_unique<PtxSource>(launch_, site);
  }

 private:
  LaunchedProgram launch_;
};

class PtxModule final : public programs::Module {
 public:
  /// `refused`: of the entries without a program.
  PtxModule(ModuleDecl decl, std::map<std::string, Program> programs,
            std::map<std::string, Diagnostics> refused, std::string_view text, std::string file,
            Schedule schedule)
      : decl_(std::move(decl)),
        programs_(std::move(programs)),
        refused_(std::move(refused)),
        code_name_(code_name(file, text)),
        file_(std::move(file)) {
    addresses_.resize(decl_.variables.size());
    describe_variables();
    for (const auto& f : decl_.functions)
      if (f->is_entry && f->has_body) describe(*f);
    for (auto& [entry, program] : programs_) {
      const unsigned most = most_registers(entry);
      const unsigned wanted =
          schedule == Schedule::assembler ? order_as_assembler(program, most) : register_pressure(program);
      share_places(program);
      registers_[entry] = function(entry).maximum_registers != 0 ? most : std::min(most, wanted);
    }
  }

  [[nodiscard]] const std::vector<programs::Variable>& variables() const override { return variables_; }
  [[nodiscard]] const std::vector<programs::Entry>& entries() const override { return entries_; }

  [[nodiscard]] const programs::Entry* entry_at(std::uint64_t pointer) const override {
    const std::uint64_t number = (pointer - kFunctionBase) / 16;
    if (pointer < kFunctionBase || pointer % 16 != 0 || number >= decl_.functions.size()) return nullptr;
    for (const programs::Entry& e : entries_)
      if (e.name == decl_.functions[number]->name) return &e;
    return nullptr;
  }

  [[nodiscard]] unsigned registers(const std::string& entry) const override { return registers_.at(entry); }

  [[nodiscard]] std::string target() const override { return decl_.target; }

  void place(const std::string& name, std::uint64_t address) override {
    addresses_[index_of(name)] = address;
  }

  [[nodiscard]] std::vector<std::uint8_t> initial_bytes(const std::string& name) const override {
    const VariableDecl& variable = decl_.variables[index_of(name)];
    std::vector<std::uint8_t> bytes = variable.initial;
    for (const Relocation& r : variable.relocations) {
      const std::uint64_t value =
          (address_of(r.symbol, r.generic) + static_cast<std::uint64_t>(r.addend)) >> r.shift;
      std::memcpy(&bytes[r.offset], &value, std::min<std::size_t>(r.bytes, sizeof value));
    }
    return bytes;
  }

  [[nodiscard]] std::unique_ptr<Kernel> make_kernel(const std::string& entry, Dim3 grid, Dim3 block,
                                                    std::uint32_t dynamic_shared_bytes,
                                                    std::vector<std::uint8_t> parameters,
                                                    const ClusterShape& cluster) override {
    if (const auto why = refused_.find(entry); why != refused_.end()) throw InputError(why->second.front());
    const auto found = programs_.find(entry);
    WARPLINE_EXPECT(found != programs_.end(), "the module has this entry");
    const Program& program = found->second;
    const programs::Entry& described = check_launch(entry, block, parameters.size(), cluster);
    LaunchedProgram launch;
    launch.program = &program;
    launch.dynamic_shared_bytes = dynamic_shared_bytes;
    const auto dynamic_base =
        static_cast<std::uint32_t>(align_up(program.shared_bytes, program.dynamic_alignment));
    KernelInfo& info = launch.info;
    info.name = entry;
    info.grid = grid;
    if (described.blocks_are_clusters && described.required_cluster) {
      const Dim3& c = *described.required_cluster;
      info.grid = {grid.x * c.x, grid.y * c.y, grid.z * c.z};
    }
    info.block = block;
    info.cluster = cluster;
    if (described.required_cluster && !cluster.given) {
      info.cluster.size = *described.required_cluster;
      info.cluster.given = true;
    }
    info.registers = program.registers;
    info.shared_bytes =
        dynamic_shared_bytes == 0 ? program.shared_bytes : dynamic_base + dynamic_shared_bytes;
    launch.shared_bytes = info.shared_bytes;
    const auto reserves = [](const SpecialSlot& s) { return reads_reserved_shared(*s.source); };
    if (std::any_of(program.specials.begin(), program.specials.end(), reserves))
      info.shared_bytes = static_cast<std::uint32_t>(align_up(info.shared_bytes, kReservedSharedAlignment)) +
                          kReservedSharedBytes;
    info.held_registers = registers_.at(entry);
    if (program.reallocates_registers) info.thread_registers = thread_registers(entry, block);
    info.local_bytes = program.thread_bytes();
    info.calls = !program.calls.empty();
    info.parameters = std::move(parameters);
    info.code_bytes = std::uint64_t{program.ops.size()} << kPcShift;
    info.code_name = code_name_ + entry;
    launch.pool = program.pool;
    for (const PoolFix& fix : program.fixes) {
      const std::uint64_t value =
          fix.addend + (fix.variable < 0 ? dynamic_base : placed(static_cast<std::size_t>(fix.variable)));
      for (unsigned lane = 0; lane < kWarpLanes; ++lane)
        std::memcpy(&launch.pool[fix.offset + std::size_t{lane} * fix.bytes], &value, fix.bytes);
    }
    return std::make_unique<PtxKernel>(std::move(launch));
  }

 private:
  [[nodiscard]] const FunctionDecl& function(const std::string& entry) const {
    return *decl_.functions[static_cast<std::size_t>(decl_.function_index.find(entry)->second)];
  }

  /// Registers that a thread may have, as the entry's `.maxnreg` or its launch bounds say.
  [[nodiscard]] unsigned most_registers(const std::string& entry) const {
    const FunctionDecl& f = function(entry);
    if (f.maximum_registers != 0)
      return static_cast<unsigned>(std::min<std::uint64_t>(f.maximum_registers, kMostRegisters));
    return f.maximum_block || f.required_block
               ? thread_registers(entry, f.maximum_block ? *f.maximum_block : *f.required_block)
               : kMostRegisters;
  }

  [[nodiscard]] std::size_t index_of(const std::string& variable) const {
    const auto v = decl_.variable_index.find(variable);
    WARPLINE_EXPECT(v != decl_.variable_index.end(), "the module has this variable");
    return static_cast<std::size_t>(v->second);
  }

  void describe_variables() {
    for (const VariableDecl& v : decl_.variables) {
      if (v.is_extern || (v.space != Space::global && v.space != Space::constant)) continue;
      variables_.push_back(
          {v.name, v.space, v.alignment, v.type, v.initial, false, v.managed, v.unsupported});
    }
  }

  void describe(const FunctionDecl& f) {
    programs::Entry e;
    e.name = f.name;
    const std::vector<std::uint32_t> offsets = parameter_offsets(f);
    for (std::size_t i = 0; i < f.parameters.size(); ++i) {
      const VariableDecl& v = f.variables[static_cast<std::size_t>(f.parameters[i])];
      e.parameters.push_back({v.name, offsets[i], static_cast<std::uint32_t>(v.bytes)});
    }
    e.parameter_bytes = offsets.back();
    if (const auto why = refused_.find(f.name); why != refused_.end()) {
      e.refused = why->second;
    } else {
      const Program& program = programs_.at(f.name);
      e.static_shared_bytes = program.shared_bytes;
      e.local_bytes = program.thread_bytes();
    }
    e.required_block = f.required_block;
    e.required_cluster = f.required_cluster;
    e.needs_cluster = f.explicit_cluster;
    e.blocks_are_clusters = f.blocks_are_clusters;
    if (f.maximum_cluster) e.maximum_cluster = *f.maximum_cluster;
    if (f.maximum_block) e.maximum_threads = std::min<std::uint64_t>(1024, f.maximum_block->count());
    entries_.push_back(std::move(e));
  }

  const programs::Entry& check_launch(const std::string& name, Dim3 block, std::size_t parameter_bytes,
                                      const ClusterShape& cluster) const {
    const auto e = std::find_if(entries_.begin(), entries_.end(),
                                [&](const programs::Entry& x) { return x.name == name; });
    std::string fault;
    const auto text = [](Dim3 b) {
      return std::to_string(b.x) + " x " + std::to_string(b.y) + " x " + std::to_string(b.z);
    };
    if (e->required_block && !(*e->required_block == block))
      fault = "kernel '" + name + "' must be launched with blocks of " + text(*e->required_block) + ", not " +
              text(block);
    else if (block.count() > e->maximum_threads)
      fault = "kernel '" + name + "' takes at most " + std::to_string(e->maximum_threads) +
              " threads per block, not " + std::to_string(block.count());
    else if (parameter_bytes != e->parameter_bytes)
      fault = "kernel '" + name + "' takes " + std::to_string(e->parameter_bytes) +
              " bytes of parameters, not " + std::to_string(parameter_bytes);
    else if (e->required_cluster && cluster.given && !(*e->required_cluster == cluster.size))
      fault = "kernel '" + name + "' must be launched with clusters of " + text(*e->required_cluster) +
              ", not " + text(cluster.size);
    else if (e->needs_cluster && !e->required_cluster && !cluster.given)
      fault = "kernel '" + name + "' must be launched with clusters, as its '.explicitcluster' says";
    else if (cluster.size.count() > e->maximum_cluster)
      fault = "kernel '" + name + "' takes at most " + std::to_string(e->maximum_cluster) +
              " blocks per cluster, not " + std::to_string(cluster.size.count());
    if (!fault.empty()) throw InputError(Diagnostic::about(file_, std::move(fault)));
    return *e;
  }

  /// Registers that each thread begins with: as `.maxnreg` says, or as many as the assembler may give so that
  /// the blocks fit that are to be resident.
  [[nodiscard]] std::uint32_t thread_registers(const std::string& entry, Dim3 block) const {
    constexpr std::uint64_t kFile = 65536, kUnit = 8, kMost = kMostRegisters;  // CUDA C++ Programming Guide
    const FunctionDecl& f = function(entry);
    if (f.maximum_registers != 0) return static_cast<std::uint32_t>(std::min(f.maximum_registers, kMost));
    const std::uint64_t threads =
        align_up(block.count(), kWarpLanes) * std::max<std::uint64_t>(1, f.resident_ctas);
    return static_cast<std::uint32_t>(std::min(kFile / threads / kUnit * kUnit, kMost));
  }

  [[nodiscard]] std::uint64_t placed(std::size_t variable) const {
    WARPLINE_EXPECT(addresses_[variable].has_value(), "every variable is placed before it is used");
    return *addresses_[variable];
  }

  [[nodiscard]] std::uint64_t address_of(const std::string& symbol, bool generic) const {
    const auto v = decl_.variable_index.find(symbol);
    if (v != decl_.variable_index.end()) {
      const auto index = static_cast<std::size_t>(v->second);
      return generic ? AddressWindows::to_generic(decl_.variables[index].space, placed(index))
                     : placed(index);
    }
    const auto f = decl_.function_index.find(symbol);
    WARPLINE_EXPECT(f != decl_.function_index.end(), "initialisers name variables and functions");
    return kFunctionBase + 16 * static_cast<std::uint64_t>(f->second);
  }

  ModuleDecl decl_;
  std::map<std::string, Program> programs_;
  std::map<std::string, unsigned> registers_;  ///< per thread, of the entries with a program
  std::map<std::string, Diagnostics> refused_;
  std::string code_name_;
  std::string file_;
  std::vector<std::optional<std::uint64_t>> addresses_;
  std::vector<programs::Variable> variables_;
  std::vector<programs::Entry> entries_;
};

void check_initializers(const ModuleDecl& module, FaultList& faults) {
  std::vector<std::string> names;
  for (const auto& [name, index] : module.variable_index) names.push_back(name);
  std::uint64_t constant_bytes = 0;
  for (const VariableDecl& v : module.variables) {
    if (v.space == Space::constant) constant_bytes = align_up(constant_bytes, v.alignment) + v.bytes;
    if (v.space == Space::constant && constant_bytes > Limits::kConstantBytes)
      faults.add(v.place, "the constants of a module take at most " + std::to_string(Limits::kConstantBytes) +
                              " bytes");
    for (const Relocation& r : v.relocations) {
      const auto target = module.variable_index.find(r.symbol);
      if (target == module.variable_index.end()) {
        if (module.function_index.count(r.symbol) == 0)
          faults.add(r.place, quoted(r.symbol) + " is not a variable of this module",
                     suggestion(r.symbol, names));
        continue;
      }
      const VariableDecl& t = module.variables[static_cast<std::size_t>(target->second)];
      if (t.space != Space::global && t.space != Space::constant)
        faults.add(r.place,
                   "an initialiser can hold the address of a variable in .global or .const, not of " +
                       quoted(r.symbol));
    }
  }
}

/// A module's text, or those of several that are linked, read as far as they go.
struct Reading {
  /// `parts` outlive it; there is one at least.
  explicit Reading(const std::vector<ModulePart>& all)
      : parts(all), joined(join(all)), faults(text(), all.front().file), unsupported(faults) {
    std::vector<ModuleDecl> modules;
    std::uint32_t start = 0;
    for (const ModulePart& p : parts) {
      const auto end = static_cast<std::uint32_t>(start + p.text.size());
      if (start != 0) faults.begin_file(start, p.file);
      const bool is_library =
          std::any_of(device_library().begin(), device_library().end(),
                      [&p](const LibraryPart& l) { return l.text.data() == p.text.data(); });
      const OpcodeCheck check = is_library ? check_library_opcode : check_opcode;
      modules.push_back(parse_module(text().substr(0, end), faults, check, start));
      readable =
          (modules.size() == 1 || readable) && !modules.back().malformed && judge_module(modules.back());
      stack_parameters(modules.back());
      start = end + 1;
    }
    unsupported = faults.another();
    decl = modules.size() == 1 ? std::move(modules.front()) : link(std::move(modules), faults);
    spread_unsupported(decl);
  }

  /// Whether it calls what that has and none of its parts.
  [[nodiscard]] bool needs(const LibraryPart& library) const {
    return std::any_of(decl.functions.begin(), decl.functions.end(), [&library](const auto& f) {
      return !f->has_body && !f->is_entry && library.has(f->name);
    });
  }

  /// Makes programs of what was read.
  void decode_all() {
    check_initializers(decl, faults);
    const auto begin = [this](const FunctionDecl& f) {
      if (f.has_body && !faults.full() && decoded.count(&f) == 0) decode(f);
    };
    for (const auto& f : decl.functions)
      if (f->is_entry) begin(*f);
    // Device functions are decoded for their own sake too, callers mostly first: nobody may call them.
    for (auto f = decl.functions.rbegin(); f != decl.functions.rend(); ++f) begin(**f);
    if (faults.empty() && programs.empty() && refused.empty())
      faults.add({}, "this module has no kernel entry");
  }

  const std::vector<ModulePart>& parts;
  std::string joined;  ///< the texts of all, a line's end between them; empty: there is one
  FaultList faults;    ///< of the module
  ModuleDecl decl;
  bool readable = false;  ///< its head and its declarations
  FaultList unsupported;  ///< what cannot be run, of all functions
  std::map<std::string, Program> programs;
  std::map<std::string, Diagnostics> refused;  ///< entries that have no program, and why

 private:
  std::set<const FunctionDecl*> decoded;  ///< whole, for themselves or with who calls them

  static std::string join(const std::vector<ModulePart>& all) {
    std::string out;
    if (all.size() == 1) return out;
    for (const ModulePart& p : all) {
      if (&p != &all.front()) out += '\n';
      out += p.text;
    }
    return out;
  }
  [[nodiscard]] std::string_view text() const { return parts.size() == 1 ? parts.front().text : joined; }

  /// Whether its language is known.
  bool judge_module(const ModuleDecl& module) {
    const LanguageOrFault language = language_of(module.version, module.target);
    if (!language.language) {
      if (language.is_known)
        faults.add(module.target_place, language.fault);
      else
        faults.add_unsupported(module.target_place, language.fault);
      return false;
    }
    for (const Remark& r : judge_declarations(module, *language.language))
      faults.add(r.place, r.message, r.hint);
    return true;
  }

  void decode(const FunctionDecl& f) {
    FaultList own = faults.another();
    std::vector<const FunctionDecl*> all;
    for (const ReachedFunction& reached : reached_functions(decl, f)) {
      all.push_back(decl.functions[static_cast<std::size_t>(reached.declaration)].get());
      for (const Unsupported& u : all.back()->unsupported) own.add(u.place, u.message);
    }
    std::optional<Program> program;
    try {
      program = Decoder(decl, own, faults).decode(f);
    } catch (const DecodeError&) {
    }
    unsupported.add(own);
    if (program && own.empty()) decoded.insert(all.begin(), all.end());
    if (!f.is_entry) return;
    if (program && own.empty()) {
      programs.emplace(f.name, std::move(*program));
    } else {
      refused.emplace(f.name, own.take());
    }
  }
};

}  // namespace

namespace {

/// The parts with what they call of the device library, as far as they do.
std::unique_ptr<Reading> read_parts(std::vector<ModulePart>& parts) {
  auto r = std::make_unique<Reading>(parts);
  const std::size_t own = parts.size();
  for (const LibraryPart& library : device_library())
    if (r->readable && r->faults.empty() && r->needs(library)) parts.push_back({library.text, library.name});
  if (parts.size() != own) r = std::make_unique<Reading>(parts);
  r->decode_all();
  return r;
}

}  // namespace

Result<std::unique_ptr<programs::Module>> parse(const std::vector<ModulePart>& parts, Schedule schedule) {
  std::vector<ModulePart> all = parts;
  const std::unique_ptr<Reading> read = read_parts(all);
  Reading& r = *read;
  if (!r.faults.empty()) r.faults.add(r.unsupported);
  if (!r.faults.empty()) return r.faults.take();
  if (r.programs.empty()) return r.unsupported.take();
  std::string name, text;
  for (const ModulePart& p : parts) {
    name += (name.empty() ? "" : " + ") + p.file;
    text += p.text;
  }
  return std::unique_ptr<programs::Module>(std::make_unique<PtxModule>(
      std::move(r.decl), std::move(r.programs), std::move(r.refused), text, name, schedule));
}

Result<std::unique_ptr<programs::Module>> parse(std::string_view text, const std::string& file,
                                                Schedule schedule) {
  return parse({ModulePart{text, file}}, schedule);
}

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> kNames = {"ptx", "assembler"};
  return kNames;
}

std::optional<Schedule> schedule_named(std::string_view name) {
  const auto& names = schedule_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Schedule>(found - names.begin());
}

ModuleRuns kernels_that_run(std::string_view text, const std::string& file) {
  std::vector<ModulePart> parts = {{text, file}};
  const std::unique_ptr<Reading> read = read_parts(parts);
  Reading& r = *read;
  ModuleRuns out;
  for (const auto& f : r.decl.functions)
    if (f->is_entry && f->has_body) out.kernels.push_back({f->name, std::move(r.refused[f->name])});
  out.readable = r.readable;
  out.malformed = r.faults.malformed();
  out.faults = r.faults.take();
  return out;
}

}  // namespace warpline::ptx
