#include "platform/programs/sass_trace/byte_stream.h"

#include <lzma.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "rtl_models/base/text.h"

namespace warpline::sass {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 16U;
/// What an xz decoder may take; `xz -9` asks for 65 MiB. A header that wants more is refused.
constexpr std::uint64_t kDecoderMemory = std::uint64_t{256} << 20U;

/// The file as it lies on disk.
class PlainFile final : public ByteStream {
 public:
  PlainFile(const std::string& path, Fingerprint fingerprint)
      : file_(std::fopen(path.c_str(), "rb")), printed_(fingerprint == Fingerprint::wanted) {
    if (file_ == nullptr) throw std::runtime_error(std::string("cannot be opened: ") + std::strerror(errno));
  }
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  ~PlainFile() override { std::fclose(file_); }

  std::size_t read(char* to, std::size_t capacity) override {
    const std::size_t got = std::fread(to, 1, capacity, file_);
    if (got == 0 && std::ferror(file_) != 0)
      throw std::runtime_error("cannot be read: " + std::string(std::strerror(errno)));
    if (printed_) {
      print_.crc = lzma_crc64(reinterpret_cast<const std::uint8_t*>(to), got, print_.crc);
      print_.bytes += got;
    }
    return got;
  }
  FileFingerprint fingerprint() const override { return print_; }
  /// The first bytes, without consuming them.
  std::size_t peek(char* to, std::size_t capacity) {
    const std::size_t got = read(to, capacity);
    print_ = {};
    if (std::fseek(file_, 0, SEEK_SET) != 0)
      throw std::runtime_error(
          "is a pipe; traces and lists of them are plain files, for they are read more than once");
    return got;
  }

 private:
  std::FILE* file_;
  bool printed_;
  FileFingerprint print_;
};

class XzFile final : public ByteStream {
 public:
  explicit XzFile(std::unique_ptr<PlainFile> file) : file_(std::move(file)) {
    if (lzma_stream_decoder(&state_, kDecoderMemory, LZMA_CONCATENATED) != LZMA_OK)
      throw std::runtime_error("the xz decoder does not start");
  }
  XzFile(const XzFile&) = delete;
  XzFile& operator=(const XzFile&) = delete;
  ~XzFile() override { lzma_end(&state_); }

  std::size_t read(char* to, std::size_t capacity) override {
    if (done_) return 0;
    state_.next_out = reinterpret_cast<std::uint8_t*>(to);
    state_.avail_out = capacity;
    while (state_.avail_out == capacity && !done_) {
      if (state_.avail_in == 0 && !drained_) {
        state_.next_in = reinterpret_cast<const std::uint8_t*>(in_.data());
        state_.avail_in = file_->read(in_.data(), in_.size());
        drained_ = state_.avail_in == 0;
      }
      const lzma_ret r = lzma_code(&state_, drained_ ? LZMA_FINISH : LZMA_RUN);
      if (r == LZMA_STREAM_END) {
        done_ = true;
      } else if (r == LZMA_BUF_ERROR) {
        throw std::runtime_error("ends in the middle of its xz data");
      } else if (r == LZMA_MEMLIMIT_ERROR) {
        throw std::runtime_error("has xz data that wants more than 256 MiB to decompress");
      } else if (r != LZMA_OK) {
        throw std::runtime_error("has corrupt xz data");
      }
    }
    return capacity - state_.avail_out;
  }
  FileFingerprint fingerprint() const override { return file_->fingerprint(); }

 private:
  std::unique_ptr<PlainFile> file_;
  std::array<char, kChunk> in_{};
  lzma_stream state_ = LZMA_STREAM_INIT;
  bool drained_ = false, done_ = false;
};

class GzFile final : public ByteStream {
 public:
  explicit GzFile(std::unique_ptr<PlainFile> file) : file_(std::move(file)) {
    // 15 bits of window, and a gzip header.
    if (inflateInit2(&state_, 15 + 16) != Z_OK) throw std::runtime_error("the gzip decoder does not start");
  }
  GzFile(const GzFile&) = delete;
  GzFile& operator=(const GzFile&) = delete;
  ~GzFile() override { inflateEnd(&state_); }

  std::size_t read(char* to, std::size_t capacity) override {
    state_.next_out = reinterpret_cast<Bytef*>(to);
    state_.avail_out = static_cast<uInt>(capacity);
    while (state_.avail_out == capacity) {
      if (state_.avail_in == 0) {
        state_.next_in = reinterpret_cast<Bytef*>(in_.data());
        state_.avail_in = static_cast<uInt>(file_->read(in_.data(), in_.size()));
        if (state_.avail_in == 0) {
          if (between_members_) return 0;
          throw std::runtime_error("ends in the middle of its gzip data");
        }
      }
      if (between_members_) {
        inflateReset(&state_);
        between_members_ = false;
      }
      const int r = inflate(&state_, Z_NO_FLUSH);
      if (r == Z_STREAM_END) {
        between_members_ = true;
      } else if (r != Z_OK && r != Z_BUF_ERROR) {
        throw std::runtime_error("has corrupt gzip data");
      }
    }
    return capacity - state_.avail_out;
  }
  FileFingerprint fingerprint() const override { return file_->fingerprint(); }

 private:
  std::unique_ptr<PlainFile> file_;
  std::array<char, kChunk> in_{};
  z_stream state_{};
  bool between_members_ = false;
};

}  // namespace

FileFingerprint fingerprint_of(const std::string& path) {
  PlainFile file(path, Fingerprint::wanted);
  std::vector<char> piece(kChunk);
  while (file.read(piece.data(), piece.size()) != 0) {
  }
  return file.fingerprint();
}

std::unique_ptr<ByteStream> open_stream(const std::string& path, Fingerprint fingerprint) {
  auto file = std::make_unique<PlainFile>(path, fingerprint);
  std::array<char, 6> start{};
  const std::string_view head(start.data(), file->peek(start.data(), start.size()));
  const bool xz = head == std::string_view(
                              "\xFD"
                              "7zXZ\0",
                              6);
  const bool gz = head.substr(0, 2) == "\x1F\x8B";
  if (ends_with(path, ".xz") && !xz) throw std::runtime_error("is named .xz but is not xz data");
  if (ends_with(path, ".gz") && !gz) throw std::runtime_error("is named .gz but is not gzip data");
  if (xz) return std::make_unique<XzFile>(std::move(file));
  if (gz) return std::make_unique<GzFile>(std::move(file));
  return file;
}

}  // namespace warpline::sass
