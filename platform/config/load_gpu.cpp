#include "platform/config/load_gpu.h"

#include <algorithm>
#include <filesystem>
#include <list>
#include <map>
#include <set>
#include <string_view>
#include <type_traits>

#include "platform/config/config_binder.h"
#include "platform/config/dram_standard.h"
#include "platform/config/gpu_loader.h"
#include "platform/config/namespace_files.h"
#include "platform/config/preset_texts.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

/// A preset, which is read once in a thread: studies load it for each of their points.
const Document& parsed_preset(const std::string& name) {
  thread_local std::map<std::string, Document> parsed;
  const auto known = parsed.find(name);
  if (known != parsed.end()) return known->second;
  Result<Document> read = Document::parse(name + ".toml (built in)", preset_text(name));
  WARPLINE_EXPECT(read.ok(), "built-in presets parse");
  return parsed.emplace(name, std::move(read.value())).first->second;
}

/// Loads in layers: preset, file, overrides. Documents stay, because origins point into them.
class Loader {
 public:
  /// A preset or a file, whose text `read`, unless null, becomes.
  void load(const std::string& name_or_path, std::string* read) {
    if (preset_text(name_or_path).empty()) {
      file(name_or_path, read);
    } else {
      preset(name_or_path);
    }
  }

  /// A preset, behind those that it is based on.
  void preset(const std::string& name) {
    const Document& document = parsed_preset(name);
    if (const Member* base = document.root().find("base"); base != nullptr) {
      preset(base->value.text);
      for (auto& [key, origin] : origins_)
        if (origin.source.as.empty()) origin.source.as = base->value.text;
    }
    layers_[&document] = ParameterOrigin::built_in;
    presets_.insert(&document);
    config_.name = name;
    bind(document, {"base"});
  }

  /// `read`: unless null, becomes its text.
  void file(const std::string& path, std::string* read) {
    const std::string presets = "presets: " + joined(preset_names()) + "; or a TOML file";
    if (path.empty()) return faults_.push_back(Diagnostic::about("--gpu", "names no GPU", presets));
    Result<std::string> bytes = read_file(path);
    if (!bytes.ok()) {
      faults_ = bytes.faults();
      // What looks like a name rather than a path was meant as one.
      std::error_code unknown;
      const bool is_path = path.find('/') != std::string::npos || ends_with(path, ".toml");
      if (!is_path && !std::filesystem::exists(path, unknown))
        faults_.front().message = "there is no such preset, and no such file";
      const std::string near = did_you_mean(path, preset_names());
      faults_.front().hint = near.empty() ? presets : near + " (" + presets + ")";
      return;
    }
    text(path, bytes.value());
    if (read != nullptr) *read = std::move(bytes.value());
  }

  void text(const std::string& path, const std::string& bytes) {
    Result<Document> parsed = Document::parse(path, bytes);
    if (!parsed.ok()) return add(parsed.faults());
    const Document& document = keep(std::move(parsed), ParameterOrigin::file);
    TableReader reader(document, document.root(), {}, "the file", faults_);
    const std::string base = reader.text("base").value_or(preset_names().front());
    if (!preset_text(base).empty()) {
      preset(base);
      for (auto& [key, origin] : origins_)
        if (origin.source.as.empty()) origin.source.as = base;
    } else {
      const std::vector<std::string> names = preset_names();
      const std::string near = did_you_mean(base, names);
      reader.fault(document.root().find("base")->value.place, "base: no preset is called \"" + base + "\"",
                   near.empty() ? "presets: " + joined(names) : near);
    }
    config_.name = std::filesystem::path(path).stem().string();
    bind(document, {"base"});
  }

  Result<GpuConfig> finish(const std::vector<ParameterSetting>& settings) {
    for (const ParameterSetting& setting : settings) change(setting);
    // Devices take the place of the plain memory that a preset has; not of what somebody has asked for.
    if (config_.has_root_complex() && presets_.count(origins_["peer_bytes"].document) != 0)
      config_.peer_bytes = 0;
    for (const Problem& p : follow_dram_standard(config_)) faults_.push_back(located(p));
    if (faults_.empty())
      for (const Problem& p : config_.problems()) faults_.push_back(located(p));
    if (faults_.empty())
      for (const Problem& p : nvme_file_problems(config_.pcie_system.nvme, "gpu.pcie_system.nvme"))
        faults_.push_back(located(p));
    if (!faults_.empty()) return std::move(faults_);
    return std::move(config_);
  }

  /// What there is before finish().
  [[nodiscard]] GpuConfig config() {
    GpuConfig config = config_;
    if (follow_dram_standard(config).empty()) return config;
    return config_;
  }
  [[nodiscard]] std::map<std::string, SetBy> set_by() const {
    std::map<std::string, SetBy> all;
    for (const auto& [path, origin] : origins_)
      if (origin.document != nullptr) all[path] = {layers_.at(origin.document), origin.document->file()};
    return all;
  }

  /// What is said of where values come from.
  [[nodiscard]] KeySources sources() const {
    KeySources all;
    for (const auto& [key, origin] : origins_)
      if (origin.document != nullptr && origin.source.kind != KeySource::Kind::none) all[key] = origin.source;
    for (const auto& [key, source] : of_standard_) all[key] = source;
    return all;
  }

 private:
  void change(const ParameterSetting& setting) {
    const std::string& text = setting.text;
    if (text.find_first_of("\n\r") != std::string::npos || text.find('=') == std::string::npos)
      return malformed(setting);
    Result<Document> parsed = Document::parse(setting.source, text);
    if (!parsed.ok()) {
      add(parsed.faults());
      if (faults_.back().hint.empty())
        faults_.back().hint = "the value is written as in TOML: 16, true, [1, 2], \"text\"";
      return;
    }
    if (parsed.value().root().members.empty()) return malformed(setting);
    bind(keep(std::move(parsed), setting.origin));
  }

  /// Gives the keys of [dram] the values of the standard, but those that were set with its name or later.
  Problems follow_dram_standard(GpuConfig& config) {
    DramParameters given = config.dram;
    const auto named = origins_.find("dram.standard");
    if (given.standard == "custom" || named == origins_.end()) return {};
    const auto is_set = [&](const std::string& key) {
      const auto set = origins_.find("dram." + key);
      return set != origins_.end() && turn_of(set->second.document) >= turn_of(named->second.document);
    };
    if (!is_set("bus_bits")) given.bus_bits = 0;
    Problems problems = set_by_dram_standard(given, config.clocks.dram, "gpu.dram");
    const std::vector<std::string> keys = dram_standard_keys();
    config.dram.visit([&](const char* name, auto& field, const char*) {
      if (std::find(keys.begin(), keys.end(), name) == keys.end() || is_set(name)) return;
      // Its text says of each time whether the standard or an assumption gives it.
      const bool shape = std::string_view(name) == "banks" || std::string_view(name) == "bank_groups" ||
                         std::string_view(name) == "row_bytes" || std::string_view(name) == "bus_bits";
      of_standard_["dram." + std::string(name)] = {
          shape ? KeySource::Kind::document : KeySource::Kind::assumed,
          given.standard + " at " + std::to_string(config.clocks.dram) +
              " MHz, as platform/config/dram has it",
          {}};
      given.visit([&](const char* of, auto& value, const char*) {
        if constexpr (std::is_same_v<decltype(value), decltype(field)>)
          if (std::string_view(of) == name) field = value;
      });
    });
    return problems;
  }
  /// How many documents have set keys before this one. A file is read before the preset that it names.
  [[nodiscard]] std::size_t turn_of(const Document* document) const {
    return static_cast<std::size_t>(std::find(bound_.begin(), bound_.end(), document) - bound_.begin());
  }

  const Document& keep(Result<Document> parsed, ParameterOrigin layer) {
    documents_.push_back(std::move(parsed.value()));
    layers_[&documents_.back()] = layer;
    return documents_.back();
  }
  void bind(const Document& document, std::vector<std::string> also = {}) {
    bound_.push_back(&document);
    ConfigBinder(document, "gpu.", origins_, faults_).bind(document.root(), config_, "", std::move(also));
  }
  void add(const Diagnostics& more) { faults_.insert(faults_.end(), more.begin(), more.end()); }
  void malformed(const ParameterSetting& setting) {
    faults_.push_back(Diagnostic::about(setting.source,
                                        "expected key.path=value, found \"" + setting.text + "\"",
                                        "for instance --set l2.slices=8"));
  }
  /// A broken rule, where its key stands if it was set, else where a table around it was opened.
  [[nodiscard]] Diagnostic located(const Problem& p) const {
    const std::string path = p.path.rfind("gpu.", 0) == 0 ? p.path.substr(4) : p.path;
    const auto found = origins_.find(path);
    const std::string message = p.path + ": " + p.message;
    if (found != origins_.end()) return found->second.document->fault(found->second.place, message);
    return Diagnostic::about(config_.name, message);
  }

  GpuConfig config_;
  std::list<Document> documents_;
  std::map<const Document*, ParameterOrigin> layers_;
  std::vector<const Document*> bound_;  ///< in the order in which they set keys
  std::set<const Document*> presets_;   ///< of the documents
  KeySources of_standard_;              ///< of keys that the standard of DRAM has given
  KeyOrigins origins_;
  Diagnostics faults_;
};

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const PresetText& p : preset_texts()) names.emplace_back(p.name);
  return names;
}

std::string whole_preset_name(const std::string& name) {
  return name == "a100" ? "a100-80" : name == "h100" ? "h100-sxm" : name;
}

std::string preset_text(const std::string& name) {
  const std::string whole = whole_preset_name(name);
  for (const PresetText& p : preset_texts())
    if (whole == p.name) return p.text;
  return {};
}

std::vector<ParameterSetting> settings_of(const std::vector<std::string>& texts) {
  std::vector<ParameterSetting> settings;
  settings.reserve(texts.size());
  for (const std::string& text : texts) settings.push_back({text, "--set", ParameterOrigin::setting});
  return settings;
}

Result<LoadedGpu> load_with_origins(const std::string& name_or_path,
                                    const std::vector<ParameterSetting>& settings) {
  Loader loader;
  loader.load(name_or_path, nullptr);
  const GpuConfig defaults = loader.config();
  Result<GpuConfig> config = loader.finish(settings);
  if (!config.ok()) return config.faults();
  return LoadedGpu{std::move(config.value()), defaults, loader.set_by()};
}

Result<TracedGpu> trace_gpu(const std::string& name_or_path, const std::vector<std::string>& settings) {
  Loader loader;
  loader.load(name_or_path, nullptr);
  Result<GpuConfig> config = loader.finish(settings_of(settings));
  if (!config.ok()) return config.faults();
  return TracedGpu{std::move(config.value()), loader.sources()};
}

Result<GpuConfig> load_gpu(const std::string& name_or_path, const std::vector<std::string>& settings,
                           std::string* text) {
  Loader loader;
  loader.load(name_or_path, text);
  return loader.finish(settings_of(settings));
}

Result<GpuConfig> load_gpu_text(const std::string& path, const std::string& text,
                                const std::vector<std::string>& settings) {
  Loader loader;
  loader.text(path, text);
  return loader.finish(settings_of(settings));
}

}  // namespace warpline
