#include "platform/programs/fault_list.h"

#include <algorithm>
#include <numeric>

#include "rtl_models/base/text.h"

namespace warpline::text {
namespace {

/// Longest part of a line that a diagnostic repeats, bytes.
constexpr std::size_t kLongestLine = 400;
constexpr std::size_t kLongestQuote = 80;

}  // namespace

const TextFile& file_of(const std::vector<TextFile>& files, unsigned line) {
  std::size_t n = files.size() - 1;
  while (n != 0 && files[n].lines_before >= line) --n;
  return files[n];
}

std::string place_text(const std::vector<TextFile>& files, unsigned line) {
  const TextFile& file = file_of(files, line);
  return file.name + ":" + std::to_string(line - file.lines_before);
}

FaultList::FaultList(std::string_view text, std::string file, std::size_t most)
    : text_(text),
      files_(std::make_shared<std::vector<TextFile>>(std::vector<TextFile>{{0, std::move(file)}})),
      most_(most) {
  std::vector<std::uint32_t> starts = {0};
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') starts.push_back(static_cast<std::uint32_t>(i + 1));
  line_starts_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(starts));
}

void FaultList::begin_file(std::uint32_t offset, std::string file) {
  auto files = std::make_shared<std::vector<TextFile>>(*files_);
  files->push_back({line_of(offset) - 1, std::move(file)});
  files_ = std::move(files);
}

FaultList FaultList::another() const {
  FaultList out = *this;
  out.faults_.clear();
  out.offsets_.clear();
  out.seen_.clear();
  out.unsupported_.clear();
  return out;
}

unsigned FaultList::line_of(std::uint32_t offset) const {
  const auto after = std::upper_bound(line_starts_->begin(), line_starts_->end(), offset);
  return static_cast<unsigned>(after - line_starts_->begin());
}

void FaultList::add(Place place, std::string message, std::string hint) {
  if (full() || !seen_.insert(place.offset).second) return;
  Diagnostic d;
  const unsigned line = line_of(place.offset);
  const TextFile& file = file_of(*files_, line);
  d.file = file.name;
  d.line = line - file.lines_before;
  const std::uint32_t start = (*line_starts_)[line - 1];
  const std::size_t end = std::min(text_.find('\n', start), text_.size());
  d.column = place.offset - start + 1;
  if (start < text_.size()) d.source = printable(text_.substr(start, std::min(end - start, kLongestLine)));
  d.length = std::max(1U, std::min(place.length, static_cast<std::uint32_t>(end) > place.offset
                                                     ? static_cast<std::uint32_t>(end) - place.offset
                                                     : 1U));
  if (d.column > d.source.size() + 1) d.source.clear();
  d.message = std::move(message);
  d.hint = std::move(hint);
  faults_.push_back(std::move(d));
  offsets_.push_back(place.offset);
}

void FaultList::add_unsupported(Place place, std::string message) {
  const std::size_t before = faults_.size();
  add(place, std::move(message));
  if (faults_.size() != before) unsupported_.insert(place.offset);
}

void FaultList::add(const FaultList& other) {
  for (std::size_t n = 0; n < other.faults_.size(); ++n) {
    if (full() || !seen_.insert(other.offsets_[n]).second) continue;
    faults_.push_back(other.faults_[n]);
    offsets_.push_back(other.offsets_[n]);
    if (other.unsupported_.count(other.offsets_[n]) != 0) unsupported_.insert(other.offsets_[n]);
  }
}

Diagnostics FaultList::take() {
  std::vector<std::size_t> order(faults_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return offsets_[a] < offsets_[b]; });
  Diagnostics out;
  for (const std::size_t n : order) out.push_back(std::move(faults_[n]));
  faults_.clear();
  offsets_.clear();
  unsupported_.clear();
  return out;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > kLongestQuote) return {};
  const std::string near = near_miss(word, candidates);
  return near.empty() ? std::string() : "did you mean '" + near + "'";
}

std::string quoted(std::string_view text) {
  const bool cut = text.size() > kLongestQuote;
  return "'" + printable(text.substr(0, kLongestQuote)) + (cut ? "...'" : "'");
}

}  // namespace warpline::text
