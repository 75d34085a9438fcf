#include "platform/cuda/program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>

namespace warpline::cuda {
namespace {

/// The bytes of a file, mapped as long as this lives.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw std::runtime_error(std::strerror(errno));
    struct stat status {};
    const bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
    if (regular && status.st_size > 0) {
      bytes_ = static_cast<std::size_t>(status.st_size);
      data_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
    }
    close(file);
    if (!regular) throw std::runtime_error("it is no file");
    if (data_ == MAP_FAILED) throw std::runtime_error("it cannot be mapped");
  }
  ~MappedFile() {
    if (bytes_ != 0) munmap(data_, bytes_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  [[nodiscard]] std::string_view bytes() const { return {static_cast<const char*>(data_), bytes_}; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// What is read beyond the end of a file.
class Damaged : public std::runtime_error {
 public:
  Damaged() : std::runtime_error("it is damaged: it leads out of itself") {}
};

template <class T>
T at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) throw Damaged();
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view part(std::string_view bytes, std::uint64_t offset, std::uint64_t count) {
  if (offset > bytes.size() || count > bytes.size() - offset) throw Damaged();
  return bytes.substr(offset, count);
}

std::string_view text(std::string_view strings, std::uint64_t offset) {
  if (offset >= strings.size()) throw Damaged();
  const std::string_view rest = strings.substr(offset);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) throw Damaged();
  return rest.substr(0, end);
}

Elf64_Shdr section_of(std::string_view bytes, const Elf64_Ehdr& header, unsigned number) {
  if (number >= header.e_shnum) throw Damaged();
  return at<Elf64_Shdr>(bytes, header.e_shoff + std::uint64_t{number} * sizeof(Elf64_Shdr));
}

std::string_view name_of_section(std::string_view bytes, const Elf64_Ehdr& header, const Elf64_Shdr& s) {
  const auto names = section_of(bytes, header, header.e_shstrndx);
  return text(part(bytes, names.sh_offset, names.sh_size), s.sh_name);
}

class Reader {
 public:
  Reader(std::string_view bytes, const std::function<bool(std::string_view)>& wanted)
      : bytes_(bytes), wanted_(wanted) {}

  ProgramFile read() {
    const auto header = at<Elf64_Ehdr>(bytes_, 0);
    for (unsigned n = 0; n < header.e_phnum; ++n)
      if (at<Elf64_Phdr>(bytes_, header.e_phoff + std::uint64_t{n} * sizeof(Elf64_Phdr)).p_type == PT_INTERP)
        file_.dynamic = true;
    if (header.e_type == ET_DYN) file_.dynamic = true;
    for (unsigned n = 0; n < header.e_shnum; ++n) {
      const auto section = section_of(bytes_, header, n);
      if (section.sh_type == SHT_DYNAMIC) read_needed(header, section);
      if (section.sh_type == SHT_SYMTAB) read_symbols(header, section);
      if (section.sh_type == SHT_PROGBITS && name_of(header, section) == ".nvFatBinSegment")
        file_.registers_code = true;
    }
    return std::move(file_);
  }

 private:
  [[nodiscard]] std::string_view strings_of(const Elf64_Ehdr& header, const Elf64_Shdr& s) const {
    const auto strings = section_of(bytes_, header, s.sh_link);
    return part(bytes_, strings.sh_offset, strings.sh_size);
  }
  /// Empty: it has none that can be read.
  [[nodiscard]] std::string_view name_of(const Elf64_Ehdr& header, const Elf64_Shdr& s) const {
    try {
      return name_of_section(bytes_, header, s);
    } catch (const Damaged&) {
      return {};
    }
  }
  void read_needed(const Elf64_Ehdr& header, const Elf64_Shdr& s) {
    const std::string_view strings = strings_of(header, s);
    const std::string_view all = part(bytes_, s.sh_offset, s.sh_size);
    for (std::uint64_t offset = 0; offset + sizeof(Elf64_Dyn) <= all.size(); offset += sizeof(Elf64_Dyn)) {
      const auto entry = at<Elf64_Dyn>(all, offset);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) file_.needed.emplace_back(text(strings, entry.d_un.d_val));
    }
  }
  void read_symbols(const Elf64_Ehdr& header, const Elf64_Shdr& s) {
    file_.has_symbols = true;
    const std::string_view strings = strings_of(header, s);
    const std::string_view all = part(bytes_, s.sh_offset, s.sh_size);
    for (std::uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= all.size(); offset += sizeof(Elf64_Sym)) {
      const auto symbol = at<Elf64_Sym>(all, offset);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value == 0) continue;
      const std::string_view name = text(strings, symbol.st_name);
      if (wanted_(name)) file_.functions.push_back({std::string(name), symbol.st_value, symbol.st_size});
    }
  }

  std::string_view bytes_;
  const std::function<bool(std::string_view)>& wanted_;
  ProgramFile file_;
};

bool is_ours_to_read(std::string_view bytes) {
  return bytes.size() >= sizeof(Elf64_Ehdr) && bytes.substr(0, SELFMAG) == ELFMAG &&
         bytes[EI_CLASS] == ELFCLASS64 && bytes[EI_DATA] == ELFDATA2LSB;
}

constexpr std::string_view kArchive = "!<arch>\n";

/// Adds the fat binaries of an object file. nvcc keeps them in sections of these names, padded to 8 bytes,
/// one after another.
void add_fat_binaries(std::string_view object, std::vector<std::string_view>& all) {
  constexpr std::uint64_t kHeader = 16, kBody = 8;
  const auto header = at<Elf64_Ehdr>(object, 0);
  for (unsigned n = 0; n < header.e_shnum; ++n) {
    const auto s = section_of(object, header, n);
    const std::string_view name =
        s.sh_type == SHT_PROGBITS ? name_of_section(object, header, s) : std::string_view();
    if (name != ".nv_fatbin" && name != "__nv_relfatbin") continue;
    std::string_view rest = part(object, s.sh_offset, s.sh_size);
    while (rest.size() >= kHeader) {
      const std::uint64_t bytes = kHeader + at<std::uint64_t>(rest, kBody);
      if (bytes < kHeader) throw Damaged();
      all.push_back(part(rest, 0, bytes));
      rest.remove_prefix(std::min<std::uint64_t>((bytes + 7) / 8 * 8, rest.size()));
    }
  }
}

/// Calls `f` with each member of an archive (System V and GNU form: a header of 60 bytes, then the member,
/// padded to 2 bytes).
template <class F>
void each_member(std::string_view archive, F&& f) {
  constexpr std::uint64_t kHeader = 60, kSize = 48, kDigits = 10;
  for (std::uint64_t offset = kArchive.size(); offset + kHeader <= archive.size();) {
    std::uint64_t bytes = 0;
    for (const char c : archive.substr(offset + kSize, kDigits))
      if (c >= '0' && c <= '9') bytes = bytes * 10 + static_cast<std::uint64_t>(c - '0');
    f(part(archive, offset + kHeader, bytes));
    offset += kHeader + bytes + bytes % 2;
  }
}

}  // namespace

bool is_object_code(std::string_view bytes) {
  return bytes.substr(0, kArchive.size()) == kArchive ||
         (is_ours_to_read(bytes) && at<Elf64_Ehdr>(bytes, 0).e_machine == EM_X86_64);
}

Result<std::vector<std::string_view>> fat_binaries_of(std::string_view bytes, const std::string& name) {
  std::vector<std::string_view> all;
  try {
    if (bytes.substr(0, kArchive.size()) != kArchive) {
      add_fat_binaries(bytes, all);
      return all;
    }
    each_member(bytes, [&all](std::string_view member) {
      if (is_ours_to_read(member)) add_fat_binaries(member, all);
    });
  } catch (const std::runtime_error& error) {
    return Diagnostic::about(name, error.what());
  }
  return all;
}

std::string ProgramFile::runtime_library() const {
  for (const std::string& library : needed)
    if (library.rfind("libcudart.so", 0) == 0) return library;
  return {};
}

Result<ProgramFile> read_program_file(const std::string& path,
                                      const std::function<bool(std::string_view)>& wanted) {
  try {
    const MappedFile file(path);
    if (!is_ours_to_read(file.bytes())) return Diagnostic::about(path, "it is no program of x86-64 in ELF");
    return Reader(file.bytes(), wanted).read();
  } catch (const std::runtime_error& error) {
    return Diagnostic::about(path, error.what());
  }
}

}  // namespace warpline::cuda
