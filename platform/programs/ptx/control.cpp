#include "platform/programs/ptx/families.h"
#include "platform/programs/ptx/opcodes.h"
#include "platform/programs/ptx/warp.h"
#include "platform/programs/ptx_syntax/special_registers.h"

namespace warpline::ptx {
namespace {

void decode_bra(Decoder& d) {
  d.take(".uni");
  d.need_operands(1);
  Op op;
  d.branch_to(op, d.operand(0));
  d.emit(op, latency::kControl);
}

void decode_brx(Decoder& d) {
  if (!d.take(".idx")) d.fail("'brx' needs '.idx'");
  d.take(".uni");
  d.need_operands(2);
  Op op;
  op.flow = Flow::branch_table;
  op.r[0] = d.source(0, DataType::u32);
  op.target = d.branch_table(d.operand(1).name, d.operand(1).token.place());
  d.emit(op, latency::kControl);
}

void decode_ret(Decoder& d) {
  d.take(".uni");
  d.need_operands(0);
  d.emit_return();
}

template <Flow kFlow>
void decode_end(Decoder& d) {
  d.need_operands(0);
  Op op;
  op.flow = kFlow;
  d.emit(op, latency::kControl);
}

/// A list of .param variables, as blocks.
std::vector<ParameterBlock> blocks_of(Decoder& d, const Operand& list) {
  std::vector<ParameterBlock> blocks;
  for (const Operand& o : list.elements) {
    const auto symbol = o.kind == Operand::Kind::name ? d.find_symbol(o.name) : std::nullopt;
    if (!symbol || symbol->declaration->space != Space::param || symbol->of_kernel)
      d.fail(o.token.place(), quoted(o.token.text) + " is not a .param variable of this function");
    blocks.push_back(d.parameter_block(*symbol));
  }
  return blocks;
}

void check_sizes(Decoder& d, const char* what, const std::vector<std::uint64_t>& want,
                 const std::vector<ParameterBlock>& have) {
  if (want.size() != have.size())
    d.fail("the callee has " + std::to_string(want.size()) + " " + what + ", the call " +
           std::to_string(have.size()));
  for (std::size_t i = 0; i < want.size(); ++i)
    if (want[i] != have[i].bytes)
      d.fail("number " + std::to_string(i + 1) + " of the " + what + " has " + std::to_string(have[i].bytes) +
             " bytes, the callee takes " + std::to_string(want[i]));
}

/// Of what a call through a register reaches: a prototype, or the functions of a list, which are alike.
Prototype shape_of(Decoder& d, const Operand& o) {
  const FunctionDecl& f = d.function();
  if (const auto p = f.prototypes.find(o.name); p != f.prototypes.end()) return p->second;
  const auto list = f.call_targets.find(o.name);
  if (list == f.call_targets.end())
    d.fail(o.token.place(), quoted(o.name) + " is neither a '.callprototype' nor a list of '.calltargets'");
  std::optional<Prototype> shape;
  for (const auto& [name, place] : list->second.labels) {
    const FunctionDecl& target = d.callee(name, place);
    d.function_image(name, place);
    const Prototype own{target.bytes_of(target.results), target.bytes_of(target.parameters), place};
    if (shape && (own.results != shape->results || own.parameters != shape->parameters))
      d.fail(place, "the functions of a list of '.calltargets' have the same parameters and results");
    shape = own;
  }
  return *shape;
}

void decode_call(Decoder& d) {
  d.take(".uni");
  d.need_operands(1, 4);
  std::size_t at = 0;
  CallSite site;
  if (d.operand(at).kind == Operand::Kind::list) site.results = blocks_of(d, d.operand(at++));
  if (at == d.operand_count() || d.operand(at).kind != Operand::Kind::name)
    d.fail("expected the function to call");
  const Operand& callee = d.operand(at++);
  if (at < d.operand_count() && d.operand(at).kind == Operand::Kind::list)
    site.arguments = blocks_of(d, d.operand(at++));
  Op op;
  op.flow = Flow::call;
  std::vector<std::uint64_t> parameters;
  std::vector<std::uint64_t> results;
  if (d.find_register(callee) != nullptr) {
    op.r[0] = d.source(callee, DataType::b64);
    const bool given = at < d.operand_count() && d.operand(at).kind == Operand::Kind::name;
    const Prototype shape = given ? shape_of(d, d.operand(at)) : Prototype{};
    if (!given) d.fail("a call through a register needs a '.callprototype' or '.calltargets'");
    ++at;
    parameters = shape.parameters;
    results = shape.results;
  } else {
    const FunctionDecl& f = d.callee(callee.name, callee.token.place());
    site.function = d.function_image(callee.name, callee.token.place());
    parameters = f.bytes_of(f.parameters);
    results = f.bytes_of(f.results);
  }
  if (at != d.operand_count()) d.fail("this call has too many operands");
  check_sizes(d, "parameters", parameters, site.arguments);
  check_sizes(d, "results", results, site.results);
  op.target = d.add_call(std::move(site));
  d.emit(op, InstructionKind::call, latency::kControl);
}

void emit_barrier(Decoder& d, Op op, std::size_t id, bool has_threads) {
  const Operand& number = d.operand(id);
  if (number.kind == Operand::Kind::integer && number.bits > 15)
    d.fail(number.token.place(), "a CTA has barriers 0 to 15");
  op.flow = Flow::barrier;
  op.r[1] = d.source(number, DataType::u32);
  op.r[2] = has_threads ? d.source(id + 1, DataType::u32) : kNoRef;
  d.emit(op, InstructionKind::barrier, latency::kControl);
}

void decode_reduction_barrier(Decoder& d) {
  const std::size_t operation =
      d.need_one_of({".popc", ".and", ".or"}, "'.red' needs '.popc', '.and' or '.or'");
  d.take(".aligned");
  const bool counts = operation == 0;
  d.take_type({counts ? DataType::u32 : DataType::pred});
  d.need_operands(3, 4);
  Op op;
  op.mode = kBarrierWaits;
  op.count = static_cast<std::uint8_t>(operation + 1);
  d.take_condition(op, d.operand_count() - 1);
  op.r[0] = counts ? d.destination(0, DataType::u32) : d.predicate_destination(d.operand(0));
  emit_barrier(d, op, 1, d.operand_count() == 4);
}

void decode_barrier(Decoder& d) {
  if (d.take(".warp")) {
    if (!d.take(".sync")) d.fail("'bar.warp' needs '.sync'");
    d.need_operands(1);
    Op op;
    op.flow = Flow::converge;
    op.r[Op::kMask] = d.source(0, DataType::b32);
    d.emit(op, latency::kSimple);
    return;
  }
  if (d.statement().opcode.is("barrier") && decode_cluster_barrier(d)) return;
  d.take(".cta");
  if (d.take(".red")) return decode_reduction_barrier(d);
  const bool arrives =
      d.need_one_of({".sync", ".arrive"}, d.opcode() + " needs '.sync', '.arrive' or '.red'") == 1;
  d.take(".aligned");
  d.need_operands(arrives ? 2 : 1, 2);
  Op op;
  op.count = 0;
  op.mode = arrives ? 0 : kBarrierWaits;
  emit_barrier(d, op, 0, d.operand_count() == 2);
}

/// There are no performance monitors that an event would trigger.
void decode_pmevent(Decoder& d) {
  const bool mask = d.take(".mask");
  d.need_operands(1);
  const Operand& o = d.operand(0);
  if (o.kind != Operand::Kind::integer || o.bits > (mask ? 0xFFFFU : 15U))
    d.fail(o.token.place(), mask ? "expected a mask of 16 bits" : "expected the number of an event, 0 to 15");
  d.emit(Op{}, latency::kSimple);
}

void decode_nanosleep(Decoder& d) {
  d.take_type({DataType::u32});
  d.need_operands(1);
  Op op;
  op.r[1] = d.source(0, DataType::u32);
  op.r[2] = d.special(clock_frequency(), 4);
  op.run = &sleep;
  op.spins = true;
  d.emit(op, InstructionKind::sleep, latency::kSimple);
}

/// A wait is a fence behind the end of the grid that its own depends on.
void decode_grid_dependency(Decoder& d) {
  const bool waits = d.need_one_of({".launch_dependents", ".wait"},
                                   "'griddepcontrol' needs '.launch_dependents' or '.wait'") == 1;
  d.need_operands(0);
  if (!waits) {
    d.emit(Op{}, InstructionKind::trigger_dependents, latency::kControl);
    return;
  }
  MemOp fence;
  fence.kind = MemKind::fence;
  fence.semantics = Semantics::acq_rel;
  fence.scope = Scope::gpu;
  d.emit(Op{}, InstructionKind::fence, latency::kControl, &fence);
  d.emitted().waits_for_grid = true;
}

void decode_setmaxnreg(Decoder& d) {
  d.need_one_of({".inc", ".dec"}, "'setmaxnreg' needs '.inc' or '.dec'");
  for (const char* word : {".sync", ".aligned"})
    if (!d.take(word)) d.fail(std::string("'setmaxnreg' needs '") + word + "'");
  d.take_type({DataType::u32});
  d.need_operands(1);
  const Operand& count = d.operand(0);
  if (count.kind != Operand::Kind::integer || count.bits < 24 || count.bits > 256 || count.bits % 8 != 0)
    d.fail(count.token.place(), "the number of registers is a multiple of 8, from 24 to 256");
  d.note_reallocation();
  d.emit(Op{}, InstructionKind::reallocate_registers, latency::kControl);
  d.emitted().groups_left = static_cast<std::uint32_t>(count.bits);
}

}  // namespace

std::vector<Opcode> control_opcodes() {
  return {
      {"bra", &decode_bra},
      {"brx", &decode_brx},
      {"ret", &decode_ret},
      {"exit", &decode_end<Flow::exit>},
      {"trap", &decode_end<Flow::trap>},
      {"brkpt", &decode_end<Flow::trap>},
      {"call", &decode_call},
      {"bar", &decode_barrier},
      {"barrier", &decode_barrier},
      {"nanosleep", &decode_nanosleep},
      {"pmevent", &decode_pmevent},
      {"griddepcontrol", &decode_grid_dependency},
      {"setmaxnreg", &decode_setmaxnreg},
  };
}

}  // namespace warpline::ptx
