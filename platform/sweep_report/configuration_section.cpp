#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "platform/sweep_report/html.h"
#include "platform/sweep_report/report_input.h"
#include "rtl_models/base/text.h"

namespace warpline::sweep {
namespace {

constexpr std::size_t kMostValues = 24;

std::string values_text(const std::vector<std::string>& values) {
  std::vector<std::string> shown;
  for (const std::string& v : values) {
    if (shown.size() == kMostValues) {
      shown.push_back(fmt::format("\u2026 ({} values)", values.size()));
      break;
    }
    shown.push_back(escaped(shown_value(v)));
  }
  return joined(shown);
}

std::string varied(const ReportInput& in) {
  std::map<std::string, std::string> meanings;
  for (const ConfigurationKey& k : in.results.configuration) meanings[k.name] = k.meaning;
  HtmlTable table("Keys that the study sets");
  table.head({{"key"}, {"values"}, {"meaning"}});
  for (std::size_t k = 0; k < in.results.keys.size(); ++k)
    table.row({{"<code>" + escaped(in.results.keys[k]) + "</code>"},
               {values_text(in.results.values[k])},
               {escaped(meanings[in.results.keys[k]])}});
  return table.empty() ? "" : table.html();
}

/// The keys that the study leaves alone, a table for each block.
std::string constant(const ReportInput& in) {
  std::vector<std::pair<std::string, std::vector<const ConfigurationKey*>>> blocks;
  for (const ConfigurationKey& k : in.results.configuration) {
    if (std::find(in.results.keys.begin(), in.results.keys.end(), k.name) != in.results.keys.end()) continue;
    const std::string block =
        k.name.find('.') == std::string::npos ? "GPU" : k.name.substr(0, k.name.find('.'));
    const auto at =
        std::find_if(blocks.begin(), blocks.end(), [&](const auto& b) { return b.first == block; });
    (at == blocks.end() ? blocks.emplace_back(block, std::vector<const ConfigurationKey*>{}) : *at)
        .second.push_back(&k);
  }
  std::string out;
  for (const auto& [block, keys] : blocks) {
    HtmlTable table("Keys of " + escaped(block));
    std::vector<Cell> head = {{"key"}};
    for (const std::string& gpu : in.results.gpus) head.push_back({escaped(gpu)});
    head.push_back({"meaning"});
    table.head(head);
    for (const ConfigurationKey* k : keys) {
      std::vector<Cell> row = {{"<code>" + escaped(k->name) + "</code>"}};
      for (const std::string& value : k->by_gpu)
        row.push_back({escaped(value) + (k->varies ? " <small>(varies)</small>" : "")});
      row.push_back({escaped(k->meaning)});
      table.row(row);
    }
    out += fmt::format("<details><summary>{} <small>{}</small></summary>{}</details>\n", escaped(block),
                       counted(keys.size(), "key"), table.html());
  }
  return out;
}

std::string files(const ReportInput& in) {
  if (in.results.input_files.empty()) return {};
  HtmlTable table("Files that the runs read");
  table.head({{"file"}, {"SHA-256"}});
  for (const auto& [path, hash] : in.results.input_files)
    table.row({{"<code>" + escaped(path) + "</code>"}, {"<code>" + escaped(hash) + "</code>"}});
  return table.html();
}

}  // namespace

Section configuration_section(const ReportInput& in) {
  Section out{"configuration", "Configuration", false, {}};
  out.html = varied(in);
  out.html += "<h3>Keys that it leaves alone</h3>\n" + constant(in);
  out.html += "<h3>The study</h3>\n<p>Warpline " + escaped(in.results.warpline) + ", from " +
              escaped(in.results.first_finished) + " to " + escaped(in.results.last_finished) + ".</p>\n";
  // Runs that were made one by one have none.
  if (!in.results.text.empty()) {
    out.html += "<details><summary>Its text</summary><pre>";
    // Lines stay lines.
    for (const std::string_view line : split(in.results.text, '\n'))
      out.html += escaped(std::string(line)) + "\n";
    out.html += "</pre></details>\n";
  }
  out.html += files(in);
  return out;
}

}  // namespace warpline::sweep
