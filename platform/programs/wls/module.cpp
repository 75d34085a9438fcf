#include "platform/programs/wls/module.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "platform/programs/code_name.h"
#include "platform/programs/wls/parser.h"
#include "platform/programs/wls/source.h"
#include "rtl_models/base/contract.h"

namespace warpline::wls {
namespace {

class WlsKernel final : public Kernel {
 public:
  explicit WlsKernel(LaunchedProgram launch) : launch_(std::move(launch)) {}
  [[nodiscard]] const KernelInfo& info() const override { return launch_.info; }
  [[nodiscard]] std::unique_ptr<InstructionSource> make_source(const SmSite& site) override {
    if (site.number == 0) start_inspection();
    return wls::make_source(launch_, site.number, site.slots);
  }

 private:
  void start_inspection() {
    Inspection& inspection = *launch_.inspection;
    inspection.threads = launch_.info.threads_per_cta();
    inspection.left.assign(std::size_t{inspection.threads} * inspection.registers.size(), 0);
  }
  LaunchedProgram launch_;
};

class WlsModule final : public programs::Module {
 public:
  WlsModule(Program program, std::string_view text)
      : program_(std::move(program)),
        code_name_(code_name(program_.file, text)),
        inspection_(program_.inspection),
        addresses_(program_.variables.size()) {
    for (const WordVariable& v : program_.variables) {
      programs::Variable out;
      out.name = v.name;
      out.space = v.constant ? Space::constant : Space::global;
      out.alignment = 16;
      out.below_4g = !v.constant;
      out.type = DataType::b32;
      out.initial.resize(v.words.size() * sizeof v.words[0]);
      std::memcpy(out.initial.data(), v.words.data(), out.initial.size());
      variables_.push_back(std::move(out));
    }
    programs::Entry e;
    e.name = program_.entry;
    for (const WordParameter& p : program_.parameters) {
      e.parameters.push_back({p.name, p.offset, p.bytes});
      e.parameter_bytes = p.offset + p.bytes;
    }
    e.local_bytes = program_.local_bytes;
    entries_.push_back(std::move(e));
  }

  [[nodiscard]] const std::vector<programs::Variable>& variables() const override { return variables_; }
  [[nodiscard]] const std::vector<programs::Entry>& entries() const override { return entries_; }
  [[nodiscard]] const Inspection* inspection() const override { return &inspection_; }
  void set_left(unsigned threads, std::vector<std::uint32_t> left) override {
    WARPLINE_EXPECT(left.size() == std::size_t{threads} * inspection_.registers.size(),
                    "registers of all threads");
    inspection_.threads = threads;
    inspection_.left = std::move(left);
  }

  void place(const std::string& name, std::uint64_t address) override { addresses_[number(name)] = address; }
  [[nodiscard]] std::vector<std::uint8_t> initial_bytes(const std::string& name) const override {
    return variables_[number(name)].initial;
  }

  [[nodiscard]] std::unique_ptr<Kernel> make_kernel(const std::string& entry, Dim3 grid, Dim3 block,
                                                    std::uint32_t dynamic_shared_bytes,
                                                    std::vector<std::uint8_t> parameters,
                                                    const ClusterShape& cluster) override {
    WARPLINE_EXPECT(entry == program_.entry, "the module has this entry");
    LaunchedProgram launch;
    launch.program = &program_;
    launch.inspection = &inspection_;
    launch.ops = program_.ops;
    for (Op& op : launch.ops) {
      if (op.b.symbol < 0) continue;
      const auto& address = addresses_[static_cast<std::size_t>(op.b.symbol)];
      WARPLINE_EXPECT(address.has_value(), "every variable is placed before it is used");
      op.b.constant += static_cast<std::uint32_t>(op.b.high ? *address >> 32U : *address);
    }
    KernelInfo& info = launch.info;
    info.name = entry;
    info.grid = grid;
    info.block = block;
    info.cluster = cluster;
    info.registers = program_.registers + kPredicates;
    info.shared_bytes = dynamic_shared_bytes;
    info.local_bytes = program_.local_bytes;
    info.calls = info.sees_stack = program_.calls;
    info.parameters = std::move(parameters);
    info.code_bytes = std::uint64_t{program_.ops.size()} << kPcShift;
    info.code_name = code_name_ + entry;
    return std::make_unique<WlsKernel>(std::move(launch));
  }

 private:
  [[nodiscard]] std::size_t number(const std::string& name) const {
    const auto found = std::find_if(variables_.begin(), variables_.end(),
                                    [&name](const programs::Variable& v) { return v.name == name; });
    WARPLINE_EXPECT(found != variables_.end(), "the module has this variable");
    return static_cast<std::size_t>(found - variables_.begin());
  }

  Program program_;
  std::string code_name_;
  Inspection inspection_;
  std::vector<std::optional<std::uint64_t>> addresses_;
  std::vector<programs::Variable> variables_;
  std::vector<programs::Entry> entries_;
};

}  // namespace

Result<ParsedModule> parse(std::string_view text, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // some editors put it before UTF-8
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  FaultList faults(text, file);
  Program program = parse_program(text, faults);
  if (!faults.empty()) return faults.take();
  program.file = program.inspection.file = file;
  ParsedModule out;
  out.direct = {program.grid, program.block, program.grid_line, program.block_line};
  out.module = std::make_unique<WlsModule>(std::move(program), text);
  return out;
}

}  // namespace warpline::wls
