#include "tests/programs/multimem_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>

#include "platform/programs/ptx/module.h"
#include "tests/programs/machine.h"

namespace warpline::test {
namespace {

/// Of a number that is no subnormal, nor too large: its nearest with `fraction` bits behind the leading one.
double rounded(double x, int fraction) {
  if (x == 0) return x;
  const int exponent = std::ilogb(x);
  return std::ldexp(std::nearbyint(std::ldexp(x, fraction - exponent)), exponent - fraction);
}
std::uint64_t bits16(double x, int fraction) {
  const std::uint64_t sign = std::signbit(x) ? 0x8000U : 0;
  if (x == 0) return sign;
  const int exponent = std::ilogb(x), bias = fraction == 10 ? 15 : 127;
  const auto mantissa = static_cast<std::uint64_t>(std::ldexp(std::abs(x), fraction - exponent));
  return sign | static_cast<std::uint64_t>(exponent + bias) << static_cast<unsigned>(fraction) |
         (mantissa & ((1U << static_cast<unsigned>(fraction)) - 1));
}
double number16(std::uint64_t bits, int fraction) {
  const int bias = fraction == 10 ? 15 : 127;
  const auto exponent = static_cast<int>((bits & 0x7FFFU) >> static_cast<unsigned>(fraction));
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  if ((bits & 0x7FFFU) == 0) return sign * 0.0;
  const auto mantissa = static_cast<double>((bits & ((1U << static_cast<unsigned>(fraction)) - 1)) |
                                            (1U << static_cast<unsigned>(fraction)));
  return sign * std::ldexp(mantissa, exponent - bias - fraction);
}

template <class T>
T as(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

double lesser(double a, double b, bool larger) {
  const bool a_first = a < b || (a == b && std::signbit(a));
  return a_first != larger ? a : b;
}

std::string reg(const char* name, unsigned n) {
  return "%" + std::string(name) + std::to_string(n);
}

}  // namespace

std::vector<MultimemProgram::Form> MultimemProgram::forms() {
  std::vector<Form> all = {{"u32", 4, 1, Base::unsigned_}, {"s32", 4, 1, Base::signed_},
                           {"b32", 4, 1, Base::bits},      {"u64", 8, 1, Base::unsigned_},
                           {"s64", 8, 1, Base::signed_},   {"b64", 8, 1, Base::bits},
                           {"f64", 8, 1, Base::dbl},       {"f32", 4, 1, Base::single},
                           {"f32", 4, 2, Base::single},    {"f32", 4, 4, Base::single}};
  for (const bool half : {true, false}) {
    const Base base = half ? Base::half : Base::brain;
    for (const unsigned n : {2U, 4U, 8U}) all.push_back({half ? "f16" : "bf16", 2, n, base});
    for (const unsigned n : {1U, 2U, 4U}) all.push_back({half ? "f16x2" : "bf16x2", 4, n, base});
  }
  return all;
}

GpuConfig machine_of_gpus(Random& random, unsigned least) {
  GpuConfig c = random_machine(random);
  c.gpus = static_cast<unsigned>(least + random.below(5 - least));
  c.sms = std::min(c.sms, 2U);
  c.gpu_switch.count = static_cast<unsigned>(1 + random.below(3));
  c.gpu_switch.requests = static_cast<unsigned>(1 + random.below(9));
  return c;
}

MultimemProgram::MultimemProgram(Random& random, unsigned gpus) : gpus_(gpus) {
  threads_ = static_cast<unsigned>(1 + random.below(64));
  ctas_ = static_cast<unsigned>(1 + random.below(3));
  draw_objects(random);
  wanted_ = initial_;
  for (auto n = 1 + random.below(3); n != 0; --n) draw_phase(random);
  for (std::size_t n = 0; n < results_.size(); ++n)
    wanted_.emplace_back(std::size_t{slots()} * kSlot, std::uint8_t{0});
  for (const Phase& phase : phases_)
    for (unsigned gpu = 0; gpu < gpus_; ++gpu)
      for (const Operation& o : phase[gpu]) perform(gpu, o);
}

void MultimemProgram::draw_objects(Random& random) {
  const std::vector<Form> all = forms();
  for (auto n = 1 + random.below(2); n != 0; --n) {
    Object o;
    for (unsigned gpu = 0; gpu < gpus_; ++gpu)
      if (random.below(4) != 0) o.gpus.push_back(gpu);
    if (o.gpus.empty()) o.gpus.push_back(static_cast<unsigned>(random.below(gpus_)));
    for (auto columns = 1 + random.below(6); columns != 0; --columns)
      o.columns.push_back(all[random.below(all.size())]);
    for (std::size_t replica = 0; replica < o.gpus.size(); ++replica) {
      std::vector<std::uint8_t>& bytes = initial_.emplace_back();
      for (const Form& form : o.columns) {
        const std::vector<std::uint8_t> column = nice_values(random, form);
        bytes.insert(bytes.end(), column.begin(), column.end());
      }
    }
    objects_.push_back(std::move(o));
  }
}

/// For each thread a slot of numbers whose sums a double holds, and of which binary16 has to round some.
std::vector<std::uint8_t> MultimemProgram::nice_values(Random& random, const Form& form) const {
  std::vector<std::uint8_t> bytes(std::size_t{slots()} * kSlot);
  const unsigned unit = form.base == Base::half || form.base == Base::brain ? 2 : form.size;
  for (std::size_t at = 0; at < bytes.size(); at += unit) {
    const double x = (static_cast<double>(random.below(4001)) - 2000) / 16;
    std::uint64_t bits = random.next();
    if (form.base == Base::half) bits = bits16(rounded(x, 10), 10);
    if (form.base == Base::brain) bits = bits16(rounded(x, 7), 7);
    if (form.base == Base::single) bits = bits_of(static_cast<float>(x / 3));
    if (form.base == Base::dbl) bits = bits_of(x / 3);
    std::memcpy(&bytes[at], &bits, unit);
  }
  return bytes;
}

MultimemProgram::Operation MultimemProgram::draw_operation(Random& random, unsigned object, unsigned column,
                                                           bool shared) {
  using Kind = Operation::Kind;
  const auto pick = [&random](const std::vector<std::string>& of) { return of[random.below(of.size())]; };
  const Form& form = objects_[object].columns[column];
  Operation o;
  o.object = object;
  o.column = column;
  o.generic = random.below(3) == 0;
  o.lanes = random.below(3) == 0 ? static_cast<unsigned>(1 + random.below(slots())) : slots();
  o.kind = shared ? Kind::reduce : static_cast<Kind>(random.below(3));
  const std::string scope = pick({".cta", ".cluster", ".gpu", ".sys"});
  if (o.kind == Kind::store) o.order = pick({".weak", "", ".relaxed" + scope, ".release" + scope});
  if (o.kind == Kind::load) o.order = pick({".weak", "", ".relaxed" + scope, ".acquire" + scope});
  if (o.kind == Kind::reduce) o.order = pick({"", ".relaxed" + scope, ".release" + scope});
  if (form.base == Base::bits) {
    o.operation = pick({"and", "or", "xor"});
  } else if (form.base == Base::single || form.base == Base::dbl) {
    o.operation = "add";
  } else {
    o.operation = pick({"add", "min", "max"});
  }
  if (form.type == "s64" && o.operation == "add") o.operation = "max";
  // `multimem.red` of pairs has a minimum of vectors only.
  if (o.kind == Kind::reduce && form.vector == 1 && form.floats()) o.operation = "add";
  o.wide = o.kind == Kind::load && o.operation == "add" &&
           (form.base == Base::half || form.base == Base::brain) && random.below(2) == 0;
  if (o.kind == Kind::load) {
    o.result = static_cast<unsigned>(results_.size());
    results_.push_back(0);
  } else {
    o.given = static_cast<unsigned>(given_.size());
    given_.push_back(nice_values(random, form));
  }
  return o;
}

void MultimemProgram::draw_phase(Random& random) {
  Phase phase(gpus_);
  for (unsigned object = 0; object < objects_.size(); ++object)
    for (unsigned column = 0; column < objects_[object].columns.size(); ++column) {
      const std::vector<unsigned>& members = objects_[object].gpus;
      const bool integer = !objects_[object].columns[column].floats();
      switch (random.below(integer ? 4 : 3)) {
        case 0:  // each its own replica
          for (const unsigned gpu : members) {
            Operation o = draw_operation(random, object, column, true);
            o.kind = Operation::Kind::unicast_store;
            phase[gpu].push_back(o);
          }
          break;
        case 3: {  // all, by what may come in any order
          const Operation first = draw_operation(random, object, column, true);
          for (const unsigned gpu : members) {
            Operation o = draw_operation(random, object, column, true);
            o.operation = first.operation;
            phase[gpu].push_back(o);
          }
          break;
        }
        default:
          const unsigned gpu = members[random.below(members.size())];
          for (auto n = 1 + random.below(4); n != 0; --n) {
            const Operation o = draw_operation(random, object, column, false);
            if (o.kind == Operation::Kind::load) results_[o.result] = gpu;
            phase[gpu].push_back(o);
          }
      }
    }
  phases_.push_back(std::move(phase));
}

/// A kernel of 64-bit parameters: objects, then own replicas (0 where there is none), given values, results.
std::string MultimemProgram::text_of(const std::vector<Operation>& operations) const {
  const auto objects = static_cast<unsigned>(objects_.size());
  std::string text = ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(";
  for (unsigned n = 0; n < 2 * objects + 2; ++n)
    text += (n == 0 ? "" : ", ") + (".param .u64 q" + std::to_string(n));
  text +=
      ")\n{\n.reg .b16 %h<9>;\n.reg .b32 %r<9>, %t<4>;\n.reg .b64 %d<9>, %a<4>, %q<8>;\n.reg .f32 %f<9>;\n"
      ".reg .f64 %g<9>;\n.reg .pred %p;\nmov.u32 %t0, %tid.x;\nmov.u32 %t1, %ctaid.x;\n"
      "mad.lo.u32 %t0, %t1, " +
      std::to_string(threads_) + ", %t0;\nmul.wide.u32 %a0, %t0, 16;\n";
  for (unsigned n = 0; n < 2 * objects + 2; ++n)
    text += "ld.param.u64 " + reg("q", n) + ", [q" + std::to_string(n) + "];\nadd.u64 " + reg("q", n) + ", " +
            reg("q", n) + ", %a0;\n";
  unsigned number = 0;
  for (const Operation& o : operations) {
    using Kind = Operation::Kind;
    const Form& form = objects_[o.object].columns[o.column];
    const char* const name = form.size == 2           ? "h"
                             : form.type == "f32"     ? "f"
                             : form.base == Base::dbl ? "g"
                             : form.size == 4         ? "r"
                                                      : "d";
    const std::string moved = form.type == "f32"       ? "f32"
                              : form.base == Base::dbl ? "f64"
                                                       : "b" + std::to_string(form.size * 8);
    const std::string label = "L" + std::to_string(number++);
    const unsigned column = o.column * slots() * kSlot;
    text += "setp.lt.u32 %p, %t0, " + std::to_string(o.lanes) + ";\n@!%p bra " + label + ";\n";
    const auto each = [&](const char* what, unsigned base, unsigned offset, bool loads) {
      for (unsigned e = 0; e < form.vector; ++e) {
        const std::string at = "[" + reg("q", base) + "+" + std::to_string(offset + e * form.size) + "]";
        const std::string r = reg(name, e);
        text +=
            std::string(what) + ".global." + moved + " " + (loads ? r + ", " + at : at + ", " + r) + ";\n";
      }
    };
    std::string registers;
    for (unsigned e = 0; e < form.vector; ++e) registers += (e == 0 ? "" : ", ") + reg(name, e);
    if (form.vector > 1) registers = "{" + registers + "}";
    if (o.kind != Kind::load) each("ld", 2 * objects, o.given * slots() * kSlot, true);
    const std::string at = "[" + reg("q", o.object) + "+" + std::to_string(column) + "]";
    const std::string space = o.generic ? "" : ".global";
    const std::string vector = form.vector > 1 ? ".v" + std::to_string(form.vector) : "";
    switch (o.kind) {
      case Kind::unicast_store: each("st", objects + o.object, column, false); break;
      case Kind::store:
        text +=
            "multimem.st" + o.order + space + vector + "." + form.type + " " + at + ", " + registers + ";\n";
        break;
      case Kind::reduce:
        text += "multimem.red" + o.order + space + "." + o.operation + vector + "." + form.type + " " + at +
                ", " + registers + ";\n";
        break;
      case Kind::load:
        text += "multimem.ld_reduce" + o.order + space + "." + o.operation + (o.wide ? ".acc::f32" : "") +
                vector + "." + form.type + " " + registers + ", " + at + ";\n";
        each("st", 2 * objects + 1, o.result * slots() * kSlot, false);
        break;
    }
    text += label + ":\n";
  }
  return text + "ret;\n}\n";
}

MultimemProgram::Left MultimemProgram::run(GpuPlatform& platform) const {
  const std::size_t bytes = std::size_t{slots()} * kSlot;
  std::vector<std::uint64_t> objects, replicas;
  std::vector<std::vector<std::uint64_t>> own(gpus_, std::vector<std::uint64_t>(objects_.size()));
  for (std::size_t n = 0; n < objects_.size(); ++n) {
    std::vector<std::uint64_t> bound;
    for (const unsigned gpu : objects_[n].gpus) {
      const std::vector<std::uint8_t>& start = initial_[replicas.size()];
      const std::uint64_t at = platform.allocate("", start.size(), Aperture::vidmem, gpu);
      platform.write(at, start.data(), start.size());
      replicas.push_back(at);
      bound.push_back(at);
      own[gpu][n] = at;
    }
    std::reverse(bound.begin(), bound.end());  // the order in which they are named has no effect
    objects.push_back(platform.bind_multicast("o", objects_[n].columns.size() * bytes, bound));
  }
  std::vector<std::uint64_t> given, results;
  for (unsigned gpu = 0; gpu < gpus_; ++gpu) {
    given.push_back(
        platform.allocate("", std::max<std::size_t>(given_.size(), 1) * bytes, Aperture::vidmem, gpu));
    results.push_back(
        platform.allocate("", std::max<std::size_t>(results_.size(), 1) * bytes, Aperture::vidmem, gpu));
    for (std::size_t n = 0; n < given_.size(); ++n)
      platform.write(given.back() + n * bytes, given_[n].data(), bytes);
  }
  Left left;
  std::vector<std::unique_ptr<programs::Module>> modules;
  for (const Phase& phase : phases_) {
    std::vector<std::unique_ptr<Kernel>> kernels;
    std::vector<GridLaunch> grids;
    for (unsigned gpu = 0; gpu < gpus_; ++gpu) {
      auto module = ptx::parse(text_of(phase[gpu]), "multimem.ptx");
      if (!module.ok()) throw std::runtime_error(module.faults().front().text() + "\n" + text_of(phase[gpu]));
      modules.push_back(std::move(module.value()));
      if (!modules.back()->entries().front().refused.empty())
        throw std::runtime_error(modules.back()->entries().front().refused.front().text());
      std::vector<std::uint64_t> words = objects;
      words.insert(words.end(), own[gpu].begin(), own[gpu].end());
      words.push_back(given[gpu]);
      words.push_back(results[gpu]);
      std::vector<std::uint8_t> block(words.size() * sizeof words[0]);
      std::memcpy(block.data(), words.data(), block.size());
      kernels.push_back(modules.back()->make_kernel("k", {ctas_, 1, 1}, {threads_, 1, 1}, 0, block));
      grids.push_back({kernels.back().get(), gpu, true});
    }
    const LaunchResult r = platform.launch(grids);
    if (r.outcome != RunOutcome::quiescent) throw std::runtime_error("the grids do not end");
    if (!platform.faults().empty()) throw std::runtime_error(platform.faults().front().kind);
    left.cycles += r.cycles;
  }
  const auto take = [&](std::uint64_t at, std::size_t count) {
    left.memory.emplace_back(count);
    platform.read(at, left.memory.back().data(), count);
  };
  for (std::size_t n = 0; n < replicas.size(); ++n) take(replicas[n], initial_[n].size());
  for (std::size_t n = 0; n < results_.size(); ++n) take(results[results_[n]] + n * bytes, bytes);
  return left;
}

/// Of elements, or of both halves of pairs.
std::uint64_t MultimemProgram::combined(const Form& form, const std::string& operation, std::uint64_t a,
                                        std::uint64_t b) {
  const bool larger = operation == "max", adds = operation == "add";
  const auto choose = [&](auto x, auto y) {
    return bits_of(adds ? static_cast<decltype(x)>(x + y) : larger ? std::max(x, y) : std::min(x, y));
  };
  switch (form.base) {
    case Base::bits: return operation == "and" ? a & b : operation == "or" ? a | b : a ^ b;
    case Base::unsigned_:
      return form.size == 4 ? choose(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b))
                            : choose(a, b);
    case Base::signed_:
      if (adds) return form.size == 4 ? static_cast<std::uint32_t>(a + b) : a + b;
      return form.size == 4 ? choose(as<std::int32_t>(a), as<std::int32_t>(b))
                            : choose(as<std::int64_t>(a), as<std::int64_t>(b));
    case Base::single: return bits_of(as<float>(a) + as<float>(b));
    case Base::dbl: return bits_of(as<double>(a) + as<double>(b));
    case Base::half:
    case Base::brain: break;
  }
  const int fraction = form.base == Base::half ? 10 : 7;
  std::uint64_t out = 0;
  for (unsigned shift = 0; shift < form.size * 8; shift += 16) {
    const double x = number16(a >> shift & 0xFFFFU, fraction), y = number16(b >> shift & 0xFFFFU, fraction);
    out |= bits16(adds ? rounded(x + y, fraction) : lesser(x, y, larger), fraction) << shift;
  }
  return out;
}

std::uint64_t MultimemProgram::reduced(const Form& form, const Operation& o,
                                       const std::vector<std::uint64_t>& values) {
  if (!o.wide || values.size() == 1) {
    std::uint64_t out = values[0];
    for (std::size_t n = 1; n < values.size(); ++n) out = combined(form, o.operation, out, values[n]);
    return out;
  }
  const int fraction = form.base == Base::half ? 10 : 7;
  std::uint64_t out = 0;
  for (unsigned shift = 0; shift < form.size * 8; shift += 16) {
    double sum = 0;
    for (const std::uint64_t v : values) sum += number16(v >> shift & 0xFFFFU, fraction);
    out |= bits16(rounded(sum, fraction), fraction) << shift;
  }
  return out;
}

void MultimemProgram::perform(unsigned gpu, const Operation& o) {
  using Kind = Operation::Kind;
  const Object& object = objects_[o.object];
  const Form& form = object.columns[o.column];
  std::size_t first = 0;
  for (unsigned n = 0; n < o.object; ++n) first += objects_[n].gpus.size();
  for (unsigned thread = 0; thread < o.lanes; ++thread)
    for (unsigned e = 0; e < form.vector; ++e) {
      const std::size_t in_slot = std::size_t{thread} * kSlot + std::size_t{e} * form.size;
      const std::size_t at = std::size_t{o.column} * slots() * kSlot + in_slot;
      std::vector<std::uint64_t> values;
      for (std::size_t n = 0; n < object.gpus.size(); ++n) {
        std::uint64_t value = 0;
        std::memcpy(&value, &wanted_[first + n][at], form.size);
        values.push_back(value);
      }
      if (o.kind == Kind::load) {
        const std::uint64_t value = reduced(form, o, values);
        std::memcpy(&wanted_[initial_.size() + o.result][in_slot], &value, form.size);
        continue;
      }
      std::uint64_t given = 0;
      std::memcpy(&given, &given_[o.given][in_slot], form.size);
      for (std::size_t n = 0; n < object.gpus.size(); ++n) {
        if (o.kind == Kind::unicast_store && object.gpus[n] != gpu) continue;
        const std::uint64_t fresh =
            o.kind == Kind::reduce ? combined(form, o.operation, values[n], given) : given;
        std::memcpy(&wanted_[first + n][at], &fresh, form.size);
      }
    }
}

}  // namespace warpline::test
