#include "platform/config/dram_standard.h"

#include <algorithm>
#include <cstdint>

#include "platform/config/preset_texts.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline {
namespace {

/// A time as a standard's text has it: "14 ns" or "2 nCK".
struct StandardTime {
  std::uint64_t picoseconds = 0;
  std::uint64_t cycles = 0;
  [[nodiscard]] unsigned rounded_up(unsigned megahertz) const {
    return static_cast<unsigned>(cycles + (picoseconds * megahertz + 999'999) / 1'000'000);
  }
  [[nodiscard]] unsigned rounded_down(unsigned megahertz) const {
    return static_cast<unsigned>(cycles + picoseconds * megahertz / 1'000'000);
  }
};

class StandardText {
 public:
  explicit StandardText(const std::string& name)
      : document_(Document::parse(name, dram_standard_text(name)).value()) {}
  [[nodiscard]] unsigned number(const char* key) const {
    return static_cast<unsigned>(value("organisation", key).integer);
  }
  [[nodiscard]] const std::string& text(const char* key) const { return value("organisation", key).text; }
  [[nodiscard]] StandardTime time(const char* key) const {
    const std::string& text = value("timing", key).text;
    std::uint64_t thousandths = 0, scale = 1000;
    std::size_t at = 0;
    for (bool fraction = false; at < text.size() && text[at] != ' '; ++at) {
      if (text[at] == '.') {
        fraction = true;
        continue;
      }
      thousandths = thousandths * 10 + static_cast<unsigned>(text[at] - '0');
      if (fraction) scale /= 10;
    }
    thousandths *= scale;
    if (text.substr(at) == " ns") return {thousandths, 0};
    WARPLINE_EXPECT(text.substr(at) == " nCK", "a standard's times are in ns or nCK");
    return {0, thousandths / 1000};
  }

 private:
  [[nodiscard]] const Value& value(const char* table, const char* key) const {
    const Member* t = document_.root().find(table);
    const Member* m = t == nullptr ? nullptr : t->value.find(key);
    WARPLINE_EXPECT(m != nullptr, "a standard says all of a channel");
    return m->value;
  }
  Document document_;
};

}  // namespace

std::vector<std::string> dram_standard_names() {
  std::vector<std::string> names;
  names.reserve(dram_standard_texts().size());
  for (const PresetText& p : dram_standard_texts()) names.emplace_back(p.name);
  return names;
}

std::string dram_standard_text(const std::string& name) {
  for (const PresetText& p : dram_standard_texts())
    if (name == p.name) return p.text;
  return {};
}

std::vector<std::string> dram_standard_keys() {
  return {"bus_bits",
          "banks",
          "bank_groups",
          "row_bytes",
          "activate",
          "precharge",
          "column",
          "write_column",
          "sector_cycles",
          "column_interval",
          "column_interval_group",
          "row_active",
          "activate_interval",
          "activate_interval_group",
          "four_activates",
          "read_to_precharge",
          "write_recovery",
          "write_to_read",
          "write_to_read_group",
          "read_to_write",
          "refresh",
          "refresh_interval",
          "refresh_cycles",
          "refresh_bank_cycles"};
}

Problems set_by_dram_standard(DramParameters& p, unsigned megahertz, const std::string& path) {
  Rules rules(path);
  if (p.standard == "custom") return {};
  if (dram_standard_text(p.standard).empty()) return {};  // DramParameters::problems() says so
  const StandardText standard(p.standard);
  const unsigned bits = standard.number("bus_bits");
  if (p.bus_bits == 0) p.bus_bits = bits;
  rules.need(p.bus_bits % bits == 0, "bus_bits",
             "must be a multiple of " + std::to_string(bits) + ", the width of a channel of " + p.standard);
  const unsigned abreast = std::max(1U, p.bus_bits / bits);
  const auto up = [&](const char* key) { return standard.time(key).rounded_up(megahertz); };
  const auto shared = [&](const char* key) { return (up(key) + abreast - 1) / abreast; };
  p.banks = standard.number("banks");
  p.bank_groups = standard.number("bank_groups");
  p.row_bytes = standard.number("row_bytes") * abreast;
  p.refresh = standard.text("refresh");
  p.activate = up("tRCD");
  p.precharge = up("tRP");
  p.column = up("RL");
  p.write_column = up("WL");
  p.sector_cycles = shared("tBURST");
  p.column_interval = shared("tCCDS");
  p.column_interval_group = shared("tCCDL");
  p.row_active = up("tRAS");
  p.activate_interval = up("tRRDS");
  p.activate_interval_group = up("tRRDL");
  p.four_activates = up("tFAW");
  p.read_to_precharge = up("tRTP");
  p.write_recovery = up("tWR");
  p.write_to_read = up("tWTRS") + p.column;
  p.write_to_read_group = up("tWTRL") + p.column;
  p.read_to_write = up("tRTW");
  p.refresh_interval = standard.time("tREFI").rounded_down(megahertz);
  p.refresh_cycles = up("tRFC");
  p.refresh_bank_cycles = up("tRFCpb");
  return rules.take();
}

}  // namespace warpline
