#include "platform/study/fit_state.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "platform/config/config_entries.h"
#include "rtl_models/base/sha256.h"
#include "rtl_models/base/text.h"

namespace warpline::study {
namespace {

using FitJson = nlohmann::ordered_json;

constexpr unsigned kStateForm = 1;  ///< of the file

FitJson json_of(const FitAnswer& answer) {
  return answer.answered ? FitJson(answer.measured) : FitJson(printable(answer.refused));
}

FitAnswer answer_of(const FitJson& json) {
  if (json.is_number()) return {true, json.get<double>(), {}};
  return {false, 0, json.get<std::string>()};
}

/// What is other in a state than it should be, or an empty string.
std::string differences(const FitIdentity& saved, const FitIdentity& here) {
  std::vector<std::string> out;
  if (saved.build != here.build) out.emplace_back("another build of warpline");
  if (saved.keys != here.keys) out.push_back("other keys (" + joined(saved.keys) + ")");
  if (saved.gpu != here.gpu) out.emplace_back("another GPU, or one with other values");
  if (saved.rows != here.rows)
    out.push_back(fmt::format("other rows ({}, and here {})", saved.rows.size(), here.rows.size()));
  return joined(out, ", ", " and ");
}

}  // namespace

FitIdentity identity_of(const FitPlan& plan, const GpuConfig& config, const std::string& build) {
  FitIdentity out;
  out.build = build;
  out.gpu = sha256_of(to_toml(config));
  for (const FitKey& k : plan.keys) {
    std::string name = k.path;
    for (const FitFollower& f : k.also) name += fmt::format(" {}+{}", f.path, f.plus);
    out.keys.push_back(name);
  }
  for (const FitRow& r : plan.rows) {
    std::string how = fmt::format("{}: {}", r.row->id, r.row->quantity->name);
    for (const auto& [name, number] : r.row->arguments.numbers)
      how += fmt::format(" {}={:.0f}", name, number);
    for (const auto& [name, word] : r.row->arguments.words) how += fmt::format(" {}={}", name, word);
    out.rows.push_back(how + " " + r.row->unit);
  }
  return out;
}

const FitEvaluation* FitState::find(const Point& at) const {
  const auto found = points_.find(at);
  return found == points_.end() ? nullptr : &found->second;
}

const FitEvaluation& FitState::add(const Point& at, FitEvaluation evaluation) {
  return points_[at] = std::move(evaluation);
}

std::string FitState::json() const {
  FitJson out = {{"warpline_fit", kStateForm}, {"build", identity_.build}, {"gpu", identity_.gpu},
                 {"keys", identity_.keys},     {"rows", identity_.rows},   {"evaluations", FitJson::array()}};
  for (const auto& [at, evaluation] : points_) {
    FitJson entry = {{"at", at}};
    if (evaluation.no_gpu.empty()) {
      entry["rows"] = FitJson::array();
      for (const FitAnswer& a : evaluation.rows) entry["rows"].push_back(json_of(a));
    } else {
      entry["no_gpu"] = printable(evaluation.no_gpu);
    }
    out["evaluations"].push_back(std::move(entry));
  }
  // A line for each point: such a file can be read, and compared.
  std::string text = "{\n";
  for (const auto& [key, value] : out.items()) {
    if (key == "evaluations") break;
    text += FitJson(key).dump() + ": " + value.dump() + ",\n";
  }
  text += "\"evaluations\": [";
  const char* between = "\n";
  for (const FitJson& entry : out["evaluations"]) {
    text += between + entry.dump();
    between = ",\n";
  }
  return text + "\n]}\n";
}

Result<FitState> FitState::read(const std::string& file, const std::string& text,
                                const FitIdentity& identity) {
  const std::string hint = "remove it, or name another with --state";
  FitIdentity saved;
  FitState state(identity);
  try {
    const FitJson in = FitJson::parse(text);
    if (in.at("warpline_fit").get<unsigned>() != kStateForm)
      return Diagnostic::about(file, "was written by another version of warpline", hint);
    saved = {in.at("build"), in.at("gpu"), in.at("keys"), in.at("rows")};
    if (const std::string other = differences(saved, identity); !other.empty())
      return Diagnostic::about(file, "is the state of another fit: of " + other, hint);
    for (const FitJson& entry : in.at("evaluations")) {
      FitEvaluation evaluation;
      const Point at = entry.at("at");
      if (entry.contains("no_gpu")) {
        evaluation.no_gpu = entry["no_gpu"];
      } else {
        for (const FitJson& a : entry.at("rows")) evaluation.rows.push_back(answer_of(a));
      }
      const bool whole = !evaluation.no_gpu.empty() || evaluation.rows.size() == identity.rows.size();
      if (at.size() != identity.keys.size() || !whole)
        return Diagnostic::about(file, "is damaged: a point has other keys or rows than the fit", hint);
      state.add(at, std::move(evaluation));
    }
  } catch (const FitJson::exception&) {
    return Diagnostic::about(file, "is no state of a fit", hint);
  }
  return state;
}

}  // namespace warpline::study
