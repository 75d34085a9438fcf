// Loads and stores: their modifiers, data and addresses.
#include <algorithm>

#include "warpline/programs/wls/parser.h"

namespace warpline::wls {
namespace {

struct Size {
  std::string_view name;
  DataType type;
  std::uint8_t vector;
};
constexpr Size kSizes[] = {
    {".U8", DataType::u8, 1},   {".S8", DataType::s8, 1},   {".8", DataType::u8, 1},
    {".U16", DataType::u16, 1}, {".S16", DataType::s16, 1}, {".16", DataType::u16, 1},
    {".32", DataType::b32, 1},  {".64", DataType::b64, 1},  {".128", DataType::b32, 4}};

struct CacheName {
  std::string_view name;
  CacheOperator op;
  bool of_stores;
};
constexpr CacheName kCacheNames[] = {
    {".CA", CacheOperator::ca, false}, {".CG", CacheOperator::cg, false}, {".CS", CacheOperator::cs, false},
    {".LU", CacheOperator::lu, false}, {".CV", CacheOperator::cv, false}, {".WB", CacheOperator::wb, true},
    {".CG", CacheOperator::cg, true},  {".CS", CacheOperator::cs, true},  {".WT", CacheOperator::wt, true}};

}  // namespace

/// `{.E}{.cache}{.size}`; PTX ISA, "Cache Operators", says what each cache operator is for.
void Parser::memory_modifiers(Statement& s, Modifiers& m, bool store) {
  MemOp& mem = s.mem;
  if (mem.space != Space::local && mem.space != Space::constant) s.op.extended = take_modifier(m, ".E");
  if (mem.space != Space::constant)
    for (const CacheName& c : kCacheNames)
      if (c.of_stores == store && mem.cache_operator == CacheOperator::none && take_modifier(m, c.name))
        mem.cache_operator = c.op;
  mem.type = DataType::none;
  for (const Size& size : kSizes) {
    if (mem.type != DataType::none || !take_modifier(m, size.name)) continue;
    mem.type = size.type;
    mem.vector = size.vector;
  }
  if (mem.type == DataType::none) mem.type = DataType::b32;
  if (m.empty()) return;
  std::vector<std::string> names;
  for (const Size& size : kSizes) names.emplace_back(size.name);
  for (const CacheName& c : kCacheNames)
    if (c.of_stores == store) names.emplace_back(c.name);
  fail(m.front().place(),
       ptx::quoted(m.front().text) + " is no modifier of this instruction, or one too many",
       ptx::suggestion(m.front().text, names));
}

void Parser::read_load(Statement& s, Modifiers& m, int form) {
  s.op.code = Code::load;
  s.mem.kind = MemKind::load;
  s.mem.space = static_cast<Space>(form);
  s.takes_read = s.takes_write = true;
  memory_modifiers(s, m, false);
  s.op.d = data_register("the destination", words_of(s.mem));
  comma();
  address(s.op);
}

void Parser::read_store(Statement& s, Modifiers& m, int form) {
  s.op.code = Code::store;
  s.mem.kind = MemKind::store;
  s.mem.space = static_cast<Space>(form);
  s.takes_read = true;
  memory_modifiers(s, m, true);
  address(s.op);
  comma();
  s.op.d = data_register("what is stored", words_of(s.mem));
}

void Parser::read_constant(Statement& s, Modifiers& m, int) {
  s.op.code = Code::load;
  s.mem.kind = MemKind::load;
  s.mem.space = Space::constant;
  s.takes_read = s.takes_write = true;
  memory_modifiers(s, m, false);
  s.op.d = data_register("the destination", words_of(s.mem));
  comma();
  constant_address(s.op);
}

}  // namespace warpline::wls
