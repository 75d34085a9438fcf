// ldmatrix, stmatrix, movmatrix (PTX ISA, "Warp-level matrix load, store and transpose instructions").
#include "platform/programs/ptx/matrix_rows.h"

#include "platform/programs/latencies.h"
#include "platform/programs/ptx/memory_handlers.h"
#include "platform/programs/ptx/memory_operands.h"
#include "platform/programs/ptx/opcodes.h"

namespace warpline::ptx {
namespace {

constexpr unsigned kRows = 8;  ///< of a matrix, of 8 elements of 16 bits each
/// Op::mode of a transposing operation.
constexpr std::uint8_t kTransposes = 1;

/// Lanes 8 n to 8 n + 7 have the addresses of the rows of matrix n.
LaneMask lanes_with_rows(unsigned matrices) {
  return matrices * kRows >= kWarpLanes ? kAllLanes : (LaneMask{1} << matrices * kRows) - 1;
}

/// Calls f(lane, its half, row, element) for what lane 4 g + t has of a matrix: elements 2 t and 2 t + 1 of
/// row g, or of column g.
template <class F>
void for_each_half(bool transposed, F&& f) {
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned across = lane / 4, along = lane % 4 * 2 + half;
      f(lane, half, transposed ? along : across, transposed ? across : along);
    }
}

void issue_rows_load(const Op& op, Frame& f) {
  if (!is_whole_warp(f)) return;
  issue_load(op, f);
  f.issue->access->active = lanes_with_rows(op.count);
}

void finish_rows_load(const Op& op, Frame& f) {
  for (unsigned n = 0; n < op.count; ++n) {
    auto* to = reinterpret_cast<std::uint16_t*>(f.out<std::uint32_t>(op.r[n]));
    for_each_half(op.mode == kTransposes, [&](unsigned lane, unsigned half, unsigned row, unsigned element) {
      std::memcpy(&to[lane * 2 + half], f.loaded->lane_data(n * kRows + row) + element * 2, 2);
    });
  }
}

void issue_rows_store(const Op& op, Frame& f) {
  if (!is_whole_warp(f)) return;
  issue_load(op, f);
  MemoryAccess& access = *f.issue->access;
  access.active = lanes_with_rows(op.count);
  for (unsigned n = 0; n < op.count; ++n) {
    const std::byte* from = f.at(op.r[n]);
    for_each_half(op.mode == kTransposes, [&](unsigned lane, unsigned half, unsigned row, unsigned element) {
      std::memcpy(access.lane_data(n * kRows + row) + element * 2, from + lane * 4 + half * 2, 2);
    });
  }
}

void run_transpose(const Op& op, Frame& f) {
  if (!is_whole_warp(f)) return;
  std::array<std::uint16_t, kRows * kRows> matrix;
  const std::byte* from = f.at(op.r[1]);
  for_each_half(false, [&](unsigned lane, unsigned half, unsigned row, unsigned element) {
    std::memcpy(&matrix.at(row * kRows + element), from + lane * 4 + half * 2, 2);
  });
  std::byte* to = f.file + op.r[0];
  for_each_half(true, [&](unsigned lane, unsigned half, unsigned row, unsigned element) {
    std::memcpy(to + lane * 4 + half * 2, &matrix.at(row * kRows + element), 2);
  });
}

void need_shape(Decoder& d) {
  for (const Token& q : d.statement().qualifiers)
    if (q.is(".m16n16") || q.is(".m8n16") || q.is(".m16n8") || q.is(".b8") || q.text.substr(0, 3) == ".b8" ||
        q.text.substr(0, 4) == ".b6x" || q.text.substr(0, 4) == ".b4x")
      d.fail(q.place(), "qualifier " + quoted(q.text) + " is of sm_100a and not modelled in this version",
             "'.m8n8' and '.b16' are");
  if (!d.take(".m8n8")) d.fail(d.opcode() + " needs the shape '.m8n8'");
  if (!d.take(".b16")) d.fail(d.opcode() + " needs the type '.b16'");
}

void decode_rows(Decoder& d, MemKind kind) {
  need_aligned(d);
  need_shape(d);
  const std::size_t size = d.need_one_of({".x1", ".x2", ".x4"}, d.opcode() + " needs '.x1', '.x2' or '.x4'");
  MemOp m;
  m.kind = kind;
  m.matrices = static_cast<std::uint8_t>(1U << size);
  m.type = DataType::b128;
  for (const Token& q : d.statement().qualifiers)
    if (q.is(".shared::cluster"))
      d.fail(q.place(), d.opcode() + " accesses its own CTA's shared memory: '.shared' or '.shared::cta'");
  if (d.take_one_of({".shared", ".shared::cta"})) m.space = Space::shared;
  Op op;
  op.count = m.matrices;
  op.mode = d.take(".trans") ? kTransposes : 0;
  const bool load = kind == MemKind::load;
  d.need_operands(2);
  const std::vector<Operand>& parts = need_vector(d, d.operand(load ? 0 : 1), op.count);
  take_address(d, d.operand(load ? 1 : 0), op, m);
  for (std::size_t n = 0; n < parts.size(); ++n) {
    if (!load && d.find_register(parts[n]) == nullptr)
      d.fail(parts[n].token.place(), d.opcode() + " stores registers");
    op.r.at(n) = load ? d.destination(parts[n], DataType::b32) : d.source(parts[n], DataType::b32);
  }
  op.run = load ? &issue_rows_load : &issue_rows_store;
  op.finish = load ? &finish_rows_load : nullptr;
  d.emit_together(op, InstructionKind::memory, 4, &m);
}

void decode_movmatrix(Decoder& d) {
  need_aligned(d);
  need_shape(d);
  if (!d.take(".trans")) d.fail("'movmatrix' needs '.trans'");
  Op op = d.operands(DataType::b32, {DataType::b32});
  op.run = &run_transpose;
  d.emit_together(op, InstructionKind::alu, latency::kShuffle);
}

}  // namespace

bool is_whole_warp(Frame& f) {
  if (f.active == kAllLanes) return true;
  f.issue->fault = "an instruction with .aligned that not all lanes of the warp execute together";
  return false;
}

void need_aligned(Decoder& d) {
  if (!d.take(".sync") || !d.take(".aligned")) d.fail(d.opcode() + " needs '.sync.aligned'");
}

const std::vector<Operand>& need_vector(Decoder& d, const Operand& o, std::size_t count) {
  if (o.kind != Operand::Kind::vector || o.elements.size() != count)
    d.fail(o.token.place(),
           "expected a vector of " + std::to_string(count) + " registers in braces" +
               (o.kind == Operand::Kind::vector ? ", not of " + std::to_string(o.elements.size())
                                                : std::string()));
  return o.elements;
}

std::vector<Opcode> matrix_row_opcodes() {
  return {{"ldmatrix", [](Decoder& d) { decode_rows(d, MemKind::load); }},
          {"stmatrix", [](Decoder& d) { decode_rows(d, MemKind::store); }},
          {"movmatrix", &decode_movmatrix}};
}

}  // namespace warpline::ptx
