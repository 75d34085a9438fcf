#include "warpline/programs/ptx/legality/operands.h"

#include <algorithm>
#include <array>

#include "warpline/base/contract.h"
#include "warpline/programs/ptx/legality/operand_judge.h"

namespace warpline::ptx {
namespace {

struct OperandName {
  std::string_view name;
  void (*judge)(OperandJudge&, const Accessed&);
};

/// What the signatures call their operands.
constexpr OperandName kOperandNames[] = {
    // Of the instruction's type, in a vector of its size: of its width or more; "=" of just its width, or
    // `_` for a result; "-" of just its width.
    {"d", [](OperandJudge& j, const Accessed&) { j.destination(Width::or_wider, false); }},
    {"d=", [](OperandJudge& j, const Accessed&) { j.destination(Width::exact, true); }},
    {"d-", [](OperandJudge& j, const Accessed&) { j.destination(Width::exact, false); }},
    {"s", [](OperandJudge& j, const Accessed&) { j.source(Width::or_wider); }},
    {"s=", [](OperandJudge& j, const Accessed&) { j.source(Width::exact); }},
    // "*": of any number of elements, where the instruction names no vector.
    {"d*", [](OperandJudge& j, const Accessed&) { j.destination(Width::or_wider, false, Count::any); }},
    {"s*", [](OperandJudge& j, const Accessed&) { j.source(Width::or_wider, Count::any); }},
    {"s*=", [](OperandJudge& j, const Accessed&) { j.source(Width::exact, Count::any); }},
    // Addresses: in the space that is named first or second, or in one. "+": in a register of 32 bits or
    // more; "any-": one of 32 bits addresses global and generic memory, too.
    {"a", [](OperandJudge& j, const Accessed& a) { j.address(a.space); }},
    {"a+", [](OperandJudge& j, const Accessed& a) { j.address(a.space, AddressWidth::no_half); }},
    {"shared", [](OperandJudge& j, const Accessed&) { j.address(Space::shared_cluster); }},
    {"shared+",
     [](OperandJudge& j, const Accessed&) { j.address(Space::shared_cluster, AddressWidth::no_half); }},
    {"any-global",
     [](OperandJudge& j, const Accessed&) { j.address(Space::global, AddressWidth::any, Windows::any); }},
    {"any-address",
     [](OperandJudge& j, const Accessed& a) { j.address(a.space, AddressWidth::any, Windows::any); }},
    {"any-address+",
     [](OperandJudge& j, const Accessed& a) { j.address(a.space, AddressWidth::no_half, Windows::any); }},
    {"any-address2",
     [](OperandJudge& j, const Accessed& a) { j.address(a.second_space, AddressWidth::any, Windows::any); }},
    {"whatever-address", [](OperandJudge& j, const Accessed&) { j.any_address(); }},
    {"pointer", [](OperandJudge& j, const Accessed& a) { j.pointer(a.space); }},
    {"shared-pointer", [](OperandJudge& j, const Accessed&) { j.pointer(Space::shared_cluster); }},
    {"any-int", [](OperandJudge& j, const Accessed&) { j.any_address_register(); }},
    {"texture", [](OperandJudge& j, const Accessed& a) { j.image(a.second_type); }},
    {"level", [](OperandJudge& j, const Accessed& a) { j.scalar(a.second_type, Width::exact, true); }},
    {"surface", [](OperandJudge& j, const Accessed&) { j.image(DataType::s32); }},
    // Values of one type; "=" to be written.
    {"policy", [](OperandJudge& j, const Accessed&) { j.policy(); }},
    {"b64", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u64, Width::exact, true); }},
    {"b32", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u32, Width::exact, true); }},
    {"b16", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u16, Width::exact, true); }},
    {"b64=", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u64, Width::exact, false); }},
    {"b32=", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u32, Width::exact, false); }},
    {"pred", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::pred, Width::exact, false); }},
    {"size", [](OperandJudge& j, const Accessed&) { j.scalar(DataType::u32, Width::exact, true); }},
    {"total-size", [](OperandJudge& j, const Accessed&) { j.total_size(); }},
    {"bulk-size", [](OperandJudge& j, const Accessed&) { j.multiple(16, DataType::u32); }},
    {"st-bulk-size", [](OperandJudge& j, const Accessed&) { j.multiple(8, DataType::u64); }},
    {"threads", [](OperandJudge& j, const Accessed&) { j.threads(true); }},
    {"some-threads", [](OperandJudge& j, const Accessed&) { j.threads(false); }},
    {"barrier", [](OperandJudge& j, const Accessed&) { j.barrier_number(); }},
    {"predicate", [](OperandJudge& j, const Accessed&) { j.predicate(); }},
    {"moved", [](OperandJudge& j, const Accessed&) { j.moved(false); }},
    {"moved-to", [](OperandJudge& j, const Accessed&) { j.moved(true); }},
    {"fraction", [](OperandJudge& j, const Accessed&) { j.fraction(); }},
    {"int", [](OperandJudge& j, const Accessed&) { j.any_integer(); }},
    {"128", [](OperandJudge& j, const Accessed&) { j.literal(128); }},
    {"0", [](OperandJudge& j, const Accessed&) { j.literal(0); }},
    {"copy-size", [](OperandJudge& j, const Accessed&) { j.copy_size(); }},
    {"zero-fill", [](OperandJudge& j, const Accessed&) { j.zero_fill(); }},
    {"any", [](OperandJudge& j, const Accessed&) { j.any(); }},
};

}  // namespace

void judge_operand(std::string_view name, const Operand& o, const Accessed& a, std::vector<Remark>& faults) {
  if (name.back() == '?') name.remove_suffix(1);
  const auto* const found = std::find_if(std::begin(kOperandNames), std::end(kOperandNames),
                                         [&](const OperandName& n) { return n.name == name; });
  WARPLINE_EXPECT(found != std::end(kOperandNames), "signatures name operands that are known");
  OperandJudge judge(o, a, faults);
  found->judge(judge, a);
}

DataType register_type(std::string_view qualifier) {
  struct Narrow {
    std::string_view text;
    DataType type;
  };
  constexpr std::array<Narrow, 7> kNarrow = {{{".e4m3x4", DataType::b32},
                                              {".e5m2x4", DataType::b32},
                                              {".e4m3x2", DataType::b16},
                                              {".e5m2x2", DataType::b16},
                                              {".e4m3", DataType::b8},
                                              {".e5m2", DataType::b8},
                                              {".tf32", DataType::b32}}};
  for (const Narrow& n : kNarrow)
    if (n.text == qualifier) return n.type;
  return data_type_from(qualifier.substr(1));
}

}  // namespace warpline::ptx
