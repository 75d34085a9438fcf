#include "platform/machine/namespace_stores.h"

#include <string>
#include <utility>

#include "platform/config/namespace_files.h"
#include "rtl_models/document/random_access_file.h"

namespace warpline {
namespace {

class FileStore final : public BlockStore {
 public:
  explicit FileStore(RandomAccessFile file) : file_(std::move(file)) {}
  [[nodiscard]] std::uint64_t size() const override { return file_.size(); }
  [[nodiscard]] bool read(std::uint64_t offset, std::uint8_t* to, std::uint64_t bytes) override {
    return file_.read(offset, to, bytes);
  }
  [[nodiscard]] BlockOutcome write(std::uint64_t offset, const std::uint8_t* from,
                                   std::uint64_t bytes) override {
    return outcome_of(file_.write(offset, from, bytes));
  }
  [[nodiscard]] BlockOutcome clear(std::uint64_t offset, std::uint64_t bytes) override {
    return outcome_of(file_.clear(offset, bytes));
  }
  [[nodiscard]] bool flush() override {
    // The host says once that it has lost something; a later flush would succeed without it.
    lost_ = lost_ || !file_.flush();
    return !lost_;
  }

 private:
  [[nodiscard]] static BlockOutcome outcome_of(FileOutcome outcome) {
    if (outcome == FileOutcome::done) return BlockOutcome::done;
    return outcome == FileOutcome::full ? BlockOutcome::full : BlockOutcome::failed;
  }
  bool lost_ = false;
  RandomAccessFile file_;
};

}  // namespace

std::vector<std::unique_ptr<BlockStore>> open_stores(const NvmeParameters& parameters, unsigned controller) {
  std::vector<std::unique_ptr<BlockStore>> stores;
  std::string faults;
  for (unsigned i = 0; i < parameters.namespaces; ++i) {
    const std::string path = parameters.file_of(controller, i);
    if (path.empty()) {
      stores.push_back(std::make_unique<MemoryStore>(parameters.namespace_bytes));
      continue;
    }
    RandomAccessFile file;
    if (const std::string why = open_namespace_file(path, file); !why.empty())
      faults += (faults.empty() ? "" : "\n") + why;
    stores.push_back(std::make_unique<FileStore>(std::move(file)));
  }
  if (!faults.empty()) throw NamespaceFileError(faults);
  return stores;
}

}  // namespace warpline
