#include "platform/serve/recorded_machine.h"

#include <algorithm>
#include <utility>

#include "platform/config/config_binder.h"
#include "platform/config/config_fields.h"
#include "platform/config/namespace_files.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/document.h"

namespace warpline {
namespace {

/// What a file has in it. Why that cannot be known, a sentence; empty: it is.
std::string look_at_disk(const std::string& path, std::uint64_t& bytes, std::uint64_t& sum) {
  // Of words, FNV-1a: every one that differs makes another sum.
  constexpr std::uint64_t kBasis = 0xCBF2'9CE4'8422'2325, kPrime = 0x100'0000'01B3;
  constexpr std::uint64_t kPiece = 1U << 20U;
  // TOML has numbers of 63 bits.
  constexpr unsigned kUnused = 1;
  RandomAccessFile file;
  if (std::string why = open_namespace_file(path, file); !why.empty()) return why;
  bytes = file.size();
  std::vector<std::uint64_t> piece(kPiece / 8);
  std::uint64_t all = kBasis;
  for (std::uint64_t at = 0; at < bytes; at += kPiece) {
    const std::uint64_t length = std::min(kPiece, bytes - at);
    if (!file.read(at, piece.data(), length)) return path + ": cannot be read";
    for (std::uint64_t i = 0; i < length / 8; ++i) all = (all ^ piece[i]) * kPrime;
  }
  sum = all >> kUnused;
  return {};
}

}  // namespace

Result<RecordedMachine> RecordedMachine::of(const GpuConfig& config) {
  RecordedMachine machine;
  machine.warpline = WARPLINE_VERSION;
  machine.gpu = config;
  for (const std::string& path : config.pcie_system.nvme.file_list()) {
    std::uint64_t bytes = 0, sum = 0;
    if (!path.empty())
      if (const std::string why = look_at_disk(path, bytes, sum); !why.empty())
        return Diagnostic::about("--record", why);
    machine.disk_bytes.push_back(bytes);
    machine.disk_sums.push_back(sum);
  }
  return machine;
}

std::string RecordedMachine::to_text() const {
  RecordedMachine machine = *this;
  std::vector<ConfigEntry> entries;
  list_fields(machine, "", entries);
  std::string out;
  for (const ConfigEntry& e : entries)
    out += e.value.empty() ? "[" + e.path() + "]\n" : e.name + " = " + e.value + "\n";
  return out;
}

Result<RecordedMachine> RecordedMachine::parse(const std::string& record, const std::string& text) {
  const Result<Document> parsed = Document::parse(record, text);
  if (!parsed.ok()) return parsed.faults();
  const Document& document = parsed.value();
  // Before its keys, which another version may not have.
  const Member* const version = document.root().find("warpline");
  if (version == nullptr || version->value.text != WARPLINE_VERSION)
    return Diagnostic::about(record,
                             "it was recorded by Warpline " +
                                 (version == nullptr ? std::string("of no version") : version->value.text) +
                                 ", and this is Warpline " WARPLINE_VERSION,
                             "a record is replayed by the version that recorded it");
  RecordedMachine machine;
  KeyOrigins origins;
  Diagnostics faults;
  ConfigBinder(document, "", origins, faults).bind(document.root(), machine, "");
  if (!faults.empty()) return faults;
  for (const Problem& p : machine.gpu.problems())
    faults.push_back(Diagnostic::about(record, p.path + ": " + p.message));
  const std::size_t files = machine.gpu.pcie_system.nvme.file_list().size();
  if (machine.disk_bytes.size() != files || machine.disk_sums.size() != files)
    faults.push_back(Diagnostic::about(record, "it does not say of each disk what was on it"));
  if (!faults.empty()) return faults;
  return machine;
}

std::vector<std::string> RecordedMachine::disks() const {
  std::vector<std::string> out;
  for (std::string& path : gpu.pcie_system.nvme.file_list())
    if (!path.empty()) out.push_back(std::move(path));
  return out;
}

Diagnostics RecordedMachine::give_disks(const std::vector<std::string>& paths) {
  const std::vector<std::string> recorded = disks();
  if (paths.size() != recorded.size())
    return {Diagnostic::about(
        "--disk",
        "the record is of a machine with " +
            (recorded.empty() ? std::string("no disk that is a file") : "these disks: " + joined(recorded)),
        recorded.empty()
            ? "leave it out"
            : "--disk with a copy of each as it was when the recording began, in this order; the "
              "replay writes them")};
  std::vector<std::string> files = gpu.pcie_system.nvme.file_list();
  Diagnostics faults;
  for (std::size_t i = 0, given = 0; i < files.size(); ++i) {
    if (files[i].empty()) continue;
    const std::string was = std::exchange(files[i], paths[given++]);
    std::uint64_t bytes = 0, sum = 0;
    if (const std::string why = look_at_disk(files[i], bytes, sum); !why.empty()) {
      faults.push_back(Diagnostic::about("--disk", why));
    } else if (bytes != disk_bytes[i] || sum != disk_sums[i]) {
      faults.push_back(Diagnostic::about("--disk",
                                         files[i] + ": is not what " + was + " was when the recording began",
                                         "a copy that was made before, of which the replay takes another"));
    }
  }
  gpu.pcie_system.nvme.files = joined(files, ",");
  return faults;
}

}  // namespace warpline
