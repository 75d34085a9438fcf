#include <elf.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "platform/cuda/fat_binary_source.h"
#include "tests/support/fat_binary_writer.h"

namespace warpline::cuda::test {
namespace object_code_test {

using testing::HasSubstr;

std::string fat_binary_of(const std::string& text) {
  FatBinaryWriter writer;
  writer.add_ptx(80, text);
  return writer.bytes();
}

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// An object file of the host with one section of that name.
std::string object_with(const std::string& name, const std::string& content) {
  const std::string names = std::string(1, '\0') + name + std::string(1, '\0');
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_REL;
  header.e_machine = EM_X86_64;
  header.e_shoff = sizeof header + content.size() + names.size();
  header.e_shnum = 3;
  header.e_shstrndx = 2;
  Elf64_Shdr none = {}, code = {}, strings = {};
  code.sh_type = SHT_PROGBITS;
  code.sh_name = 1;
  code.sh_offset = sizeof header;
  code.sh_size = content.size();
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = sizeof header + content.size();
  strings.sh_size = names.size();
  std::string bytes;
  append(bytes, header);
  bytes += content + names;
  for (const Elf64_Shdr& section : {none, code, strings}) append(bytes, section);
  return bytes;
}

std::string archive_of(const std::vector<std::string>& members) {
  std::string bytes = "!<arch>\n";
  for (const std::string& member : members) {
    std::string header(60, ' ');
    header.replace(0, 2, "m/");
    const std::string size = std::to_string(member.size());
    header.replace(48, size.size(), size);
    header.replace(58, 2, "`\n");
    bytes += header + member + std::string(member.size() % 2, '\n');
  }
  return bytes;
}

/// The first lines of the texts in it, or the first fault.
std::string linked(const std::string& bytes, const std::string& name = "lib.a") {
  const auto texts = texts_to_link(bytes, 80, name);
  if (!texts.ok()) return texts.faults().front().text();
  std::string all;
  for (const PtxText& t : texts.value()) all += t.text.substr(0, t.text.find('\n')) + ";";
  return all;
}

TEST(ObjectCode, GivesItsFatBinaries) {
  const std::string one = fat_binary_of("// one\n"), two = fat_binary_of("// two\n");
  EXPECT_EQ(linked(object_with(".nv_fatbin", one)), "// one;");
  EXPECT_EQ(linked(object_with("__nv_relfatbin", one + two)), "// one;// two;");
  EXPECT_EQ(linked(archive_of({"an index", object_with("__nv_relfatbin", one), object_with(".text", "code"),
                               object_with("__nv_relfatbin", two)})),
            "// one;// two;");
  EXPECT_EQ(linked(one), "// one;") << "as before";
  EXPECT_EQ(linked(".version 8.0\n"), ".version 8.0;");
}

TEST(ObjectCode, WithoutPtxIsRefusedByName) {
  FatBinaryWriter machine_code;
  machine_code.add_elf(80, "machine code");
  EXPECT_THAT(linked(archive_of({object_with("__nv_relfatbin", machine_code.bytes())})), HasSubstr("lib.a"));
  EXPECT_THAT(linked(object_with(".text", "code")), HasSubstr("there is no code for GPUs in it"));
  EXPECT_EQ(linked(archive_of({object_with("__nv_relfatbin", machine_code.bytes())}), "/x/libcudadevrt.a"),
            "")
      << "what that has is built in";
}

TEST(ObjectCode, DamageIsRefused) {
  std::mt19937_64 random(11);
  const std::string good =
      archive_of({object_with("__nv_relfatbin", fat_binary_of("// one\n")), object_with(".text", "code")});
  unsigned refused = 0;
  for (unsigned round = 0; round < 1000; ++round) {
    std::string bytes = good;
    for (std::uint64_t i = 1 + random() % 6; i-- > 0;)
      bytes[random() % bytes.size()] ^= static_cast<char>(1u << random() % 8);
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    const std::vector<char> own(bytes.begin(), bytes.end());  // the sanitizer sees what is read outside
    const auto texts = texts_to_link({own.data(), own.size()}, 80, "lib.a");
    if (texts.ok()) continue;
    ++refused;
    EXPECT_FALSE(texts.faults().front().message.empty());
  }
  EXPECT_GT(refused, 100u);
}

}  // namespace object_code_test
}  // namespace warpline::cuda::test
