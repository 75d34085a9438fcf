#include "platform/programs/sass_trace/trace.h"

#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>

#include "platform/programs/sass_trace/address_translation.h"
#include "platform/programs/sass_trace/packed_trace.h"
#include "platform/programs/sass_trace/replay.h"
#include "rtl_models/base/text.h"
#include "rtl_models/document/file_identity.h"

namespace warpline::sass {
namespace {

/// From sm_90 on the first KiB of a block's shared memory belongs to the system, and shared
/// addresses start above it; `shmem` does not count it.
constexpr std::uint32_t kSystemShared = 1024;
constexpr std::uint32_t kSystemSharedSince = 90;

/// The trace as it is being replayed; outlives the kernel as long as a source is left.
class TraceFile final : public BlockSupply {
 public:
  TraceFile(std::string path, TraceHeader header, TraceCache cache)
      : path_(std::move(path)),
        name_(std::filesystem::path(path_).filename().string()),
        header_(std::move(header)),
        cache_(cache) {
    for (const std::string& key : header_.unknown) program_.count_unknown(key);
  }

  WarpPlace take(std::uint64_t ordinal, unsigned warp) override {
    // SMs may be run side by side. Then several may meet the same fault, which is the first one of the file.
    const std::lock_guard<std::mutex> lock(mutex_);
    if (fault_ != nullptr) std::rethrow_exception(fault_);
    try {
      if (!queue_) queue_.emplace(open_body(), header_.grid.count(), header_.warps_per_block());
      return queue_->take(ordinal, warp);
    } catch (...) {
      fault_ = std::current_exception();
      throw;
    }
  }
  PackedBytes& packed() override { return queue_->packed(); }
  Program& program() override { return program_; }
  const TraceHeader& header() const override { return header_; }
  const std::string& name() const override { return name_; }

  /// SM `sm` is about to replay the trace. Asking a second time is a new launch: the trace starts again from
  /// its first thread block.
  void attach(unsigned sm) {
    if (attached_.size() <= sm) attached_.resize(sm + std::size_t{1});
    if (attached_[sm]) {
      attached_.assign(attached_.size(), false);
      queue_.reset();
      fault_ = nullptr;
    }
    attached_[sm] = true;
  }

 private:
  std::unique_ptr<BlockSource> open_body() {
    std::unique_ptr<BlockSource> packed;
    if (cache_ == TraceCache::on) packed = open_packed(path_, header_, program_);
    const bool packs = cache_ == TraceCache::on && packed == nullptr;
    auto lines = std::make_unique<LineReader>(path_, packs ? Fingerprint::wanted : Fingerprint::unwanted);
    std::string first_line;
    Result<TraceHeader> header = read_header(*lines, first_line);
    if (!header.ok() || !(header.value() == header_))
      throw InputError(fault_at(path_, 0, 0, {}, "the file has changed since it was opened"));
    if (packed != nullptr) return packed;
    std::error_code error;
    std::vector<std::string> scratch = {std::filesystem::temp_directory_path(error).string()};
    std::function<void(const PackedText&)> on_end;
    if (packs) {
      scratch.insert(scratch.begin(), folder_of(path_).string());
      on_end = [this](const PackedText& text) { write_packed(path_, header_, program_, text); };
    }
    return std::make_unique<TextReader>(std::move(lines), std::move(first_line), header_, program_, scratch,
                                        std::move(on_end));
  }

  std::string path_, name_;
  TraceHeader header_;
  TraceCache cache_;
  Program program_;
  std::mutex mutex_;
  std::exception_ptr fault_;         ///< of the trace, as far as it was read
  std::optional<BlockQueue> queue_;  ///< of the current launch, once a warp has begun
  std::vector<bool> attached_;       ///< SMs that replay the current launch
};

class FileKernel final : public TraceKernel {
 public:
  explicit FileKernel(std::shared_ptr<TraceFile> file) : file_(std::move(file)) {
    const TraceHeader& h = file_->header();
    info_.name = h.kernel_name;
    info_.grid = h.grid;
    info_.block = h.block;
    info_.registers = Program::kRegisters;
    info_.held_registers = h.registers;
    info_.shared_bytes = h.shared_bytes + (h.binary_version >= kSystemSharedSince ? kSystemShared : 0);
    info_.local_bytes = static_cast<std::uint32_t>(kLocalBytes);
    info_.carries_data = false;
    // How much code there is, a trace tells only as it is read; this is what its program counters can name.
    info_.code_bytes = std::uint64_t{1} << 32U;
    info_.code_name = h.kernel_name;
  }

  const KernelInfo& info() const override { return info_; }
  [[nodiscard]] std::uint32_t binary_version() const override { return file_->header().binary_version; }
  std::unique_ptr<InstructionSource> make_source(const SmSite& site) override {
    file_->attach(site.number);
    return make_replay(file_, site);
  }
  std::vector<std::string> unknown_opcodes() const override { return file_->program().unknown(); }

 private:
  std::shared_ptr<TraceFile> file_;
  KernelInfo info_;
};

}  // namespace

bool is_trace_path(const std::string& path) {
  return ends_with(path, ".traceg") || ends_with(path, ".traceg.xz") || ends_with(path, ".traceg.gz");
}

bool is_raw_trace_path(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return (name.rfind("kernelslist", 0) == 0 && !ends_with(name, ".g")) || ends_with(name, ".trace") ||
         ends_with(name, ".trace.xz") || ends_with(name, ".trace.gz");
}

Result<std::unique_ptr<TraceKernel>> open_trace(const std::string& path, TraceCache cache) {
  try {
    LineReader lines(path);
    std::string first_line;
    Result<TraceHeader> header = read_header(lines, first_line);
    if (!header.ok()) return header.faults();
    auto file = std::make_shared<TraceFile>(path, std::move(header.value()), cache);
    return std::unique_ptr<TraceKernel>(std::make_unique<FileKernel>(std::move(file)));
  } catch (const InputError& e) {
    return e.diagnostic;
  }
}

}  // namespace warpline::sass
