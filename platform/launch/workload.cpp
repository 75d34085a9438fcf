#include "platform/launch/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "platform/launch/element.h"
#include "platform/launch/launch_contents.h"
#include "platform/launch/loaded_file.h"
#include "platform/launch/parameter_block.h"
#include "platform/programs/ptx/module.h"
#include "platform/programs/sass_trace/trace.h"
#include "platform/programs/wls/module.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

/// The element type that a launch file means by a variable's own type.
DataType element_type_of(DataType declared) {
  switch (declared) {
    case DataType::b8: return DataType::u8;
    case DataType::b16: return DataType::u16;
    case DataType::b32: return DataType::u32;
    case DataType::b64: return DataType::u64;
    default: return element_type_from(std::string(name_of(declared)));
  }
}

/// SASS-style if its path ends in `.wls`, else PTX.
Result<std::unique_ptr<programs::Module>> parse_module(const ModuleText& m, ptx::Schedule schedule) {
  if (!m.parts.empty()) {
    std::vector<ptx::ModulePart> parts;
    for (const ModuleText& p : m.parts) parts.push_back({p.text, p.path});
    return ptx::parse(parts, schedule);
  }
  if (!ends_with(m.path, ".wls")) return ptx::parse(m.text, m.path, schedule);
  auto parsed = wls::parse(m.text, m.path);
  if (!parsed.ok()) return parsed.faults();
  return std::move(parsed.value().module);
}

class Planner {
 public:
  Planner(bool tags_only, std::optional<ptx::Schedule> schedule)
      : tags_only_(tags_only), schedule_(schedule) {}

  Result<Workload> run(const std::vector<std::string>& inputs) {
    plan_.inputs = inputs;
    for (const std::string& input : inputs) {
      if (ends_with(input, ".toml")) {
        launch_file(input);
      } else if (ends_with(input, ".g")) {
        trace_list(input);
      } else if (sass::is_trace_path(input)) {
        trace(input, input);
      } else if (ends_with(input, ".wls")) {
        program(input);
      } else if (sass::is_raw_trace_path(input)) {
        fault(input, "is a raw trace, as the tracer writes it before post-processing", sass::kRawTraceHint);
      } else {
        fault(input, "is no kind of input that is known",
              "a launch file (.toml), a program (.wls), a trace list (.g) or a kernel trace (.traceg, "
              ".traceg.xz, "
              ".traceg.gz)");
      }
    }
    check_mix();
    if (schedule_ && in_ptx_ == 0)
      fault("", "--schedule is about modules in PTX, and there is none",
            "programs in SASS's style and traces run in their own order");
    if (!faults_.empty()) return std::move(faults_);
    plan_.without_data = traces_ != 0 || generators_ != 0;
    return std::move(plan_);
  }

 private:
  void add(const Diagnostics& more) { faults_.insert(faults_.end(), more.begin(), more.end()); }
  void fault(const std::string& input, std::string message, std::string hint = {}) {
    faults_.push_back(Diagnostic::about(input, std::move(message), std::move(hint)));
  }

  void trace_list(const std::string& input) {
    std::vector<std::string> warnings;
    auto entries = sass::read_list(input, warnings);
    for (const std::string& w : warnings) plan_.warnings.push_back(fmt::format("{}: {}", input, w));
    if (!entries.ok()) return add(entries.faults());
    bool any = false;
    for (const sass::ListEntry& e : entries.value()) {
      if (e.is_copy) continue;
      any = true;
      trace(input, e.path);
    }
    if (!any) fault(input, "lists no kernel");
  }

  /// Opens a trace for its header's faults; it is opened again when its turn comes.
  void trace(const std::string& input, const std::string& path) {
    ++traces_;
    const auto opened = sass::open_trace(path);
    if (!opened.ok()) return add(opened.faults());
    plan_.steps.push_back({input, 0, 0, path, opened.value()->binary_version()});
  }

  void launch_file(const std::string& input) {
    auto loaded = load_launch_file(input);
    if (!loaded.ok()) return add(loaded.faults());
    LoadedFile l;
    l.file = std::move(loaded.value());
    ++launch_files_;
    bool parsed_all = true;
    const ptx::Schedule schedule =
        schedule_ ? *schedule_ : l.file.schedule.value_or(ptx::Schedule::assembler);
    for (const ModuleText& m : l.file.modules) {
      in_ptx_ += ends_with(m.path, ".wls") ? 0 : 1;
      auto parsed = parse_module(m, schedule);
      if (!parsed.ok()) {
        add(parsed.faults());
        parsed_all = false;
      }
      l.modules.push_back(parsed.ok() ? std::move(parsed.value()) : nullptr);
    }
    add_file(input, std::move(l), parsed_all);
  }

  /// A program that says itself how it is to be launched, as a launch file with one launch.
  void program(const std::string& input) {
    ++launch_files_;
    auto text = read_file(input);
    if (!text.ok()) return add(text.faults());
    auto parsed = wls::parse(text.value(), input);
    if (!parsed.ok()) return add(parsed.faults());
    const wls::DirectLaunch& direct = parsed.value().direct;
    Launch launch;
    launch.kernel = parsed.value().module->entries().front().name;
    launch.grid = direct.grid;
    launch.block = direct.block;
    launch.grid_place.line = direct.grid_line;
    launch.block_place.line = direct.block_line;
    LoadedFile l;
    l.file.document = std::make_shared<const Document>(Document::unparsed(input, text.value()));
    l.file.modules.push_back({input, std::move(text.value()), {}, {}});
    l.file.launches.push_back(std::move(launch));
    l.modules.push_back(std::move(parsed.value().module));
    add_file(input, std::move(l), true);
  }

  void add_file(const std::string& input, LoadedFile l, bool parsed_all) {
    if (tags_only_ && !l.modules.empty())
      fault(input, "its program needs data, as addresses and branches depend on it: leave --tags-only out",
            "traces and access patterns run on addresses alone");
    for (std::size_t n = 0; n < l.file.launches.size(); ++n) {
      check_launch(l, l.file.launches[n]);
      plan_.steps.push_back({input, plan_.files.size(), n, {}});
    }
    if (parsed_all && !l.file.symbols.empty()) {
      const Variables variables = variables_of(l);
      for (const Symbol& s : l.file.symbols) l.symbols.push_back(resolve(l, variables, s));
    }
    plan_.files.push_back(std::move(l));
  }

  void check_launch(const LoadedFile& l, const Launch& launch) {
    if (launch.generator) {
      ++generators_;
      for (const Problem& problem : launch.generator->problems("generator"))
        faults_.push_back(l.file.document->fault(launch.kernel_place, problem.path + ": " + problem.message));
      return;
    }
    ++module_launches_;
    const programs::Module* module = l.modules[launch.module].get();
    if (module == nullptr) return;
    for (const programs::Entry& e : module->entries()) {
      if (e.name != launch.kernel) continue;
      if (e.refused.empty()) return add(misfits(l.file, launch, e));
      faults_.push_back(l.file.document->fault(
          launch.kernel_place, "kernel \"" + e.name + "\" cannot be run, for what its text says below"));
      if (told_.insert(&e).second) add(e.refused);
      return;
    }
    const std::vector<std::string> names = names_of(module->entries());
    std::string hint = did_you_mean(launch.kernel, names);
    if (hint.empty() && !names.empty()) hint = "it has: " + joined(names);
    faults_.push_back(l.file.document->fault(
        launch.kernel_place, l.file.modules[launch.module].path + " has no kernel \"" + launch.kernel + "\"",
        hint));
  }

  /// Those of all modules of a file, with the number of the module.
  using Variables = std::unordered_multimap<std::string, std::pair<std::size_t, const programs::Variable*>>;
  static Variables variables_of(const LoadedFile& l) {
    Variables all;
    for (std::size_t m = 0; m < l.modules.size(); ++m)
      for (const programs::Variable& v : l.modules[m]->variables()) all.emplace(v.name, std::pair(m, &v));
    return all;
  }

  ResolvedSymbol resolve(const LoadedFile& l, const Variables& variables, const Symbol& symbol) {
    ResolvedSymbol r;
    const Document& document = *l.file.document;
    const auto [first, last] = variables.equal_range(symbol.name);
    if (first != last) std::tie(r.module, r.variable) = first->second;
    if (std::distance(first, last) > 1)
      faults_.push_back(
          document.fault(symbol.place, "several modules have a variable \"" + symbol.name + "\""));
    if (r.variable == nullptr) {
      std::vector<std::string> names;
      for (const auto& m : l.modules)
        for (const programs::Variable& v : m->variables()) names.push_back(v.name);
      faults_.push_back(document.fault(symbol.place, "no module has a variable \"" + symbol.name + "\"",
                                       did_you_mean(symbol.name, names)));
      return r;
    }
    if (!r.variable->refused.empty()) {
      faults_.push_back(document.fault(symbol.place, "variable \"" + symbol.name + "\" of " +
                                                         l.file.modules[r.module].path +
                                                         " cannot be used: " + r.variable->refused));
      return r;
    }
    r.type = symbol.type != DataType::none ? symbol.type : element_type_of(r.variable->type);
    const std::uint64_t bytes = r.variable->initial.size();
    if (r.type == DataType::none || bytes % size_of(r.type) != 0) {
      faults_.push_back(document.fault(symbol.place, "\"" + symbol.name + "\" has " + counted(bytes, "byte") +
                                                         " of type " +
                                                         std::string(name_of(r.variable->type)) +
                                                         "; say as what they are to be read (type = ...)"));
      return r;
    }
    r.count = bytes / size_of(r.type);
    const ContentContext context{document, document.file(), r.type, r.count, l.file.arrays, faults_};
    if (symbol.initial) r.initial = read_initial(*symbol.initial, context);
    if (symbol.expect) r.expect = read_expectation(*symbol.expect, context);
    if (symbol.expect && r.variable->space == Space::constant)
      faults_.push_back(
          document.fault(symbol.expect->place, "expect: a kernel cannot write constant memory"));
    return r;
  }

  void check_mix() {
    if (traces_ != 0 && launch_files_ != 0)
      fault("", "traces map every address, launch files their buffers only: run them apart");
    if (generators_ != 0 && module_launches_ != 0)
      fault("", "generators carry no data and modules need them: run them apart");
  }

  bool tags_only_;
  std::optional<ptx::Schedule> schedule_;  ///< of all files, whatever they say
  Workload plan_;
  Diagnostics faults_;
  std::set<const programs::Entry*> told_;  ///< kernels whose refusals are among them
  std::size_t in_ptx_ = 0;                 ///< modules
  std::size_t traces_ = 0, generators_ = 0, module_launches_ = 0, launch_files_ = 0;
};

}  // namespace

Workload::Workload() = default;
Workload::~Workload() = default;
Workload::Workload(Workload&& other) noexcept = default;
Workload& Workload::operator=(Workload&& other) noexcept = default;

void for_each_file(const Workload& plan, const std::function<void(const WorkloadFile&)>& f) {
  const auto text_of = [](const std::vector<std::uint8_t>& bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  // They point into the plan, which a copy would not.
  const auto contents = [&](const InitialContent* initial, const std::optional<Expectation>& expect) {
    if (initial != nullptr && !initial->file.empty())
      f({initial->file, "read (init)", text_of(initial->bytes)});
    if (expect && !expect->file.empty()) f({expect->file, "read (expect)", text_of(expect->bytes)});
  };
  for (const LoadedFile& l : plan.files) {
    for (const ModuleText& m : l.file.modules) {
      if (m.parts.empty()) f({m.path, "a module of this run", m.text});
      for (const ModuleText& p : m.parts) f({p.path, "a module of this run", p.text});
    }
    for (const Buffer& b : l.file.buffers) contents(&b.initial, b.expect);
    for (const ResolvedSymbol& s : l.symbols) contents(s.initial ? &*s.initial : nullptr, s.expect);
  }
  for (const Step& s : plan.steps)
    if (!s.trace.empty()) f({s.trace, "a trace of this run", {}});
}

std::vector<WorkloadFile> files_of(const Workload& plan) {
  std::vector<WorkloadFile> out;
  const auto add = [&out](const WorkloadFile& file) {
    // A pipe may hold something else when it is read again.
    const auto is_it = [&file](const WorkloadFile& o) {
      return o.path == file.path && o.contents == file.contents;
    };
    if (std::none_of(out.begin(), out.end(), is_it)) out.push_back(file);
  };
  for (const std::string& input : plan.inputs) {
    WorkloadFile file{input, "an input", {}};
    for (const LoadedFile& l : plan.files)
      if (l.file.document->file() == input) file.contents = l.file.document->text();
    add(file);
  }
  for_each_file(plan, add);
  return out;
}

Result<Workload> read_workload(const std::vector<std::string>& inputs, bool tags_only,
                               std::optional<ptx::Schedule> schedule) {
  return Planner(tags_only, schedule).run(inputs);
}

}  // namespace warpline
