#include "platform/config/load_gpu.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <list>
#include <map>

#include "platform/config/config_entries.h"
#include "platform/config/preset_texts.h"
#include "rtl_models/base/contract.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"
#include "rtl_models/document/files.h"

namespace warpline {
namespace {

/// Where a key was last set, so that a rule broken later can point at it.
struct Origin {
  const Document* document = nullptr;
  Place place;
};
using Origins = std::map<std::string, Origin>;

std::string join(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

/// Copies a document's keys into the fields of the same names.
class Binder {
 public:
  Binder(const Document& document, Origins& origins, Diagnostics& faults)
      : document_(document), origins_(origins), faults_(faults) {}

  /// `also`: keys of this table that are known, and read elsewhere.
  template <class T>
  void bind(const Value& table, T& target, const std::string& path, std::vector<std::string> also = {}) {
    std::vector<std::string>& known = also;
    target.visit([&](const char* name, auto& field, const char*) {
      known.emplace_back(name);
      const Member* m = table.find(name);
      if (m == nullptr) return;
      origins_[join(path, name)] = {&document_, m->value.place};
      assign(*m, field, join(path, name));
    });
    for (const Member& m : table.members)
      if (std::find(known.begin(), known.end(), m.key) == known.end()) unknown(m, path, known);
  }

 private:
  void fault(Place place, std::string message, std::string hint = {}) {
    faults_.push_back(document_.fault(place, std::move(message), std::move(hint)));
  }

  void unknown(const Member& m, const std::string& path, const std::vector<std::string>& known) {
    std::string hint = did_you_mean(m.key, known);
    if (path.empty() && m.key == "gpu") {
      hint = "keys are written without the gpu. in front";
    } else if (hint.empty()) {
      const std::string tail = "." + m.key;
      for (const std::string& leaf : config_keys())
        if (leaf.size() > tail.size() && leaf.compare(leaf.size() - tail.size(), tail.size(), tail) == 0) {
          hint = "did you mean \"" + leaf + "\"?";
          break;
        }
    }
    fault(m.place, "gpu." + join(path, m.key) + ": unknown key", hint);
  }

  void wrong_type(const Member& m, const std::string& path, const char* wanted) {
    fault(m.value.place, "gpu." + path + ": must be " + wanted + ", not " + std::string(m.value.kind_name()));
  }

  void assign(const Member& m, bool& field, const std::string& path) {
    if (m.value.kind != Value::Kind::boolean) return wrong_type(m, path, "true or false");
    field = m.value.boolean;
  }
  void assign(const Member& m, std::string& field, const std::string& path) {
    if (m.value.kind != Value::Kind::text) return wrong_type(m, path, "a string");
    field = m.value.text;
  }
  template <class T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  void assign(const Member& m, T& field, const std::string& path) {
    if (m.value.kind != Value::Kind::integer) return wrong_type(m, path, "an integer");
    const std::int64_t n = m.value.integer;
    if (n < 0) return fault(m.value.place, "gpu." + path + ": must not be negative");
    if (static_cast<std::uint64_t>(n) > std::numeric_limits<T>::max())
      return fault(m.value.place,
                   "gpu." + path + ": must be at most " + std::to_string(std::numeric_limits<T>::max()));
    field = static_cast<T>(n);
  }
  void assign(const Member& m, std::vector<std::uint64_t>& field, const std::string& path) {
    if (m.value.kind != Value::Kind::array) return wrong_type(m, path, "an array of integers");
    field.clear();
    for (const Value& item : m.value.items) {
      if (item.kind != Value::Kind::integer || item.integer < 0) {
        fault(item.place, "gpu." + path + ": every element must be an integer that is not negative");
        continue;
      }
      field.push_back(static_cast<std::uint64_t>(item.integer));
    }
  }
  template <class T, std::enable_if_t<std::is_class_v<T>, int> = 0>
  void assign(const Member& m, T& field, const std::string& path) {
    if (m.value.kind != Value::Kind::table) return wrong_type(m, path, "a table");
    bind(m.value, field, path);
  }

  const Document& document_;
  Origins& origins_;
  Diagnostics& faults_;
};

/// Loads in layers: preset, file, overrides. Documents stay, because origins point into them.
class Loader {
 public:
  void preset(const std::string& name) {
    Result<Document> parsed = Document::parse(name + ".toml (built in)", preset_text(name));
    WARPLINE_EXPECT(parsed.ok(), "built-in presets parse");
    preset_ = &keep(std::move(parsed));
    bind(*preset_);
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
    const Document& document = keep(std::move(parsed));
    TableReader reader(document, document.root(), {}, "the file", faults_);
    const std::string base = reader.text("base").value_or(preset_names().front());
    if (!preset_text(base).empty()) {
      preset(base);
    } else {
      const std::vector<std::string> names = preset_names();
      const std::string near = did_you_mean(base, names);
      reader.fault(document.root().find("base")->value.place, "base: no preset is called \"" + base + "\"",
                   near.empty() ? "presets: " + joined(names) : near);
    }
    config_.name = std::filesystem::path(path).stem().string();
    bind(document, {"base"});
  }

  Result<GpuConfig> finish(const std::vector<Override>& overrides) {
    for (const Override& o : overrides) override_with(o.text);
    // Devices take the place of the plain memory that a preset has; not of what somebody has asked for.
    if (config_.pcie_system.peers != 0 && origins_["peer_bytes"].document == preset_) config_.peer_bytes = 0;
    if (faults_.empty())
      for (const Problem& p : config_.problems()) faults_.push_back(located(p));
    if (!faults_.empty()) return std::move(faults_);
    return std::move(config_);
  }

 private:
  void override_with(const std::string& text) {
    if (text.find_first_of("\n\r") != std::string::npos || text.find('=') == std::string::npos)
      return malformed(text);
    Result<Document> parsed = Document::parse("--set", text);
    if (!parsed.ok()) {
      add(parsed.faults());
      if (faults_.back().hint.empty())
        faults_.back().hint = "the value is written as in TOML: 16, true, [1, 2], \"text\"";
      return;
    }
    if (parsed.value().root().members.empty()) return malformed(text);
    bind(keep(std::move(parsed)));
  }

  const Document& keep(Result<Document> parsed) {
    documents_.push_back(std::move(parsed.value()));
    return documents_.back();
  }
  void bind(const Document& document, std::vector<std::string> also = {}) {
    Binder(document, origins_, faults_).bind(document.root(), config_, "", std::move(also));
  }
  void add(const Diagnostics& more) { faults_.insert(faults_.end(), more.begin(), more.end()); }
  void malformed(const std::string& text) {
    faults_.push_back(Diagnostic::about("--set", "expected key.path=value, found \"" + text + "\"",
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
  const Document* preset_ = nullptr;  ///< of the documents
  Origins origins_;
  Diagnostics faults_;
};

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  names.reserve(kPresetTexts.size());
  for (const PresetText& p : kPresetTexts) names.emplace_back(p.name);
  return names;
}

std::string preset_text(const std::string& name) {
  for (const PresetText& p : kPresetTexts)
    if (name == p.name) return p.text;
  return {};
}

std::vector<Override> overrides_of(const std::vector<std::string>& sets) {
  std::vector<Override> out;
  out.reserve(sets.size());
  for (const std::string& s : sets) out.push_back({s});
  return out;
}

Result<GpuConfig> load_gpu(const std::string& name_or_path, const std::vector<Override>& overrides,
                           std::string* text) {
  Loader loader;
  if (preset_text(name_or_path).empty()) {
    loader.file(name_or_path, text);
  } else {
    loader.preset(name_or_path);
  }
  return loader.finish(overrides);
}

Result<GpuConfig> load_gpu_text(const std::string& path, const std::string& text,
                                const std::vector<Override>& overrides) {
  Loader loader;
  loader.text(path, text);
  return loader.finish(overrides);
}

}  // namespace warpline
