// Files that commands write, streams that take no more, and signals that come early or twice: nothing of the
// user's is lost, and what cannot be written is said before the work, not after it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/integration/workspace.h"

namespace warpline::test {
namespace files_test {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class Files : public testing::Test {
 protected:
  void SetUp() override {
    w_.write("vecadd.ptx", read_file(in_source("sw/kernels/vecadd.sm_80.ptx")));
    launch("");
  }
  /// Writes launch.toml, a small sum whose result has these keys besides.
  void launch(const std::string& of_result) const {
    w_.write("launch.toml",
             "module = \"vecadd.ptx\"\nkernel = \"vecadd\"\ngrid = [1]\nblock = [32]\n"
             "[[argument]]\nbuffer = \"a\"\ntype = \"f32\"\ncount = 32\n"
             "[[argument]]\nbuffer = \"b\"\ntype = \"f32\"\ncount = 32\n"
             "[[argument]]\nbuffer = \"c\"\ntype = \"f32\"\ncount = 32\n" +
                 of_result + "[[argument]]\nscalar = 32\ntype = \"u32\"\n");
  }
  [[nodiscard]] Finished run(std::vector<std::string> options) const {
    options.insert(options.begin(), {"run", "launch.toml", "--quiet"});
    return w_.warpline(options);
  }
  [[nodiscard]] bool exists(const std::string& name) const { return fs::exists(w_.path(name)); }
  [[nodiscard]] bool is_json(const std::string& name) const {
    return nlohmann::json::accept(read_file(w_.path(name)));
  }
  Workspace w_;
};

TEST_F(Files, AnOutputIsWrittenThroughWhatItNames) {
  ASSERT_EQ(::mkfifo(w_.path("pipe").c_str(), 0600), 0);
  w_.write("target.json", "old");
  fs::create_symlink("target.json", w_.path("link.json"));
  w_.write("own.json", "old");
  ASSERT_EQ(::chmod(w_.path("own.json").c_str(), 0640), 0);
  std::string piped;
  std::thread reader([&] { piped = read_file(w_.path("pipe")); });
  EXPECT_EQ(run({"--stats", "pipe"}).status, 0);
  reader.join();
  EXPECT_TRUE(nlohmann::json::accept(piped));
  EXPECT_TRUE(fs::is_fifo(w_.path("pipe")));
  EXPECT_EQ(run({"--stats", "link.json"}).status, 0);
  EXPECT_TRUE(fs::is_symlink(w_.path("link.json")));
  EXPECT_TRUE(is_json("target.json"));
  EXPECT_EQ(run({"--stats", "own.json"}).status, 0);
  EXPECT_EQ(fs::status(w_.path("own.json")).permissions(), fs::perms(0640));
  fs::create_symlink("/proc/self/fd/1", w_.path("stdout"));  // as /dev/stdout is
  const Finished streamed = run({"--stats", "stdout"});
  EXPECT_EQ(streamed.status, 0) << streamed.err;
  EXPECT_TRUE(nlohmann::json::accept(streamed.out));
}

TEST_F(Files, EveryOutputMakesTheFoldersItsPathLacks) {
  launch("dump = \"e/c.bin\"\n");
  const Finished good = run({"--stats", "a/b/s.json", "--wave", "c/w.vcd", "--timeline", "d/t.json"});
  EXPECT_EQ(good.status, 0) << good.err;
  for (const char* name : {"a/b/s.json", "c/w.vcd", "d/t.json", "e/c.bin"}) EXPECT_TRUE(exists(name)) << name;
  fs::create_symlink("newdir", w_.path("dangling"));
  EXPECT_EQ(run({"--stats", "dangling/g/s.json", "--wave", "newdir/w.vcd"}).status, 0);
  EXPECT_TRUE(is_json("newdir/g/s.json"));
  EXPECT_TRUE(exists("newdir/w.vcd"));
  EXPECT_EQ(run({"--stats", "f/s.json", "--set", "sms=0"}).status, 2);
  EXPECT_FALSE(exists("f")) << "a run that does not begin leaves nothing";
}

TEST_F(Files, FilesThatAreTheSameAreRefusedBeforeTheRun) {
  w_.write("a.bin", std::string(128, '\0'));
  fs::create_directory(w_.path("sub"));
  fs::create_symlink("sub", w_.path("link"));
  const auto refused = [&](const std::vector<std::string>& options, const std::string& why) {
    const Finished bad = run(options);
    EXPECT_EQ(bad.status, 2) << why;
    EXPECT_THAT(bad.err, HasSubstr(why));
    EXPECT_THAT(bad.out, IsEmpty());
  };
  refused({"--stats", "./x.json", "--wave", "x.json"}, "--wave: error: x.json is the file of --stats, too");
  refused({"--stats", "x", "--wave", "x/x.vcd"}, "--wave: error: x/x.vcd leads through the file of --stats");
  refused({"--wave", "x/x.vcd", "--timeline", "x/x.vcd/t.json"}, "x.vcd/t.json leads through the file of");
  refused({"--stats", "sub/x", "--timeline", "link/x"}, "link/x is the file of --stats, too");
  refused({"--stats", "x", "--check-consistency", "--dot", "sub/../x"},
          "--dot: error: sub/../x is the file of");
  refused({"--stats", "launch.toml"}, "launch.toml is an input, too");
  refused({"--stats", "link/../vecadd.ptx"}, "is a module of this run, too");
  // Through folders that are not there, and links to what is not there.
  fs::create_symlink("newdir", w_.path("dangling"));
  w_.write("gpu.toml", "name = \"mine\"\n");
  w_.write("old.json", "");
  refused({"--stats", "q/../vecadd.ptx"}, "q/../vecadd.ptx is a module of this run, too");
  refused({"--wave", "q/r/../../launch.toml"}, "is an input, too");
  refused({"--gpu", "gpu.toml", "--stats", "q/../gpu.toml"}, "is the file of --gpu, too");
  refused({"--stats", "old.json", "--wave", "q/../old.json"}, "is the file of --stats, too");
  refused({"--stats", "dangling/x.json", "--wave", "newdir/x.json"},
          "newdir/x.json is the file of --stats, too");
  launch("dump = \"c.bin\"\n");
  refused({"--stats", "c.bin"}, "launch.toml:17:8: error: dump: c.bin is the file of --stats, too");
  launch("dump = \"vecadd.ptx\"\n");
  refused({}, "dump: vecadd.ptx is a module of this run, too");
  launch("init = { file = \"a.bin\" }\ndump = \"a.bin\"\n");
  refused({}, "dump: a.bin is read (init), too");
  launch("dump = \"x\"\n");
  refused({"--stats", "x/s.json"}, "17:8: error: dump: x is a folder on the way to the file of --stats, too");
  launch("dump = \"sub/../c.bin\"\n");
  w_.write("launch.toml", replaced(read_file(w_.path("launch.toml")), "buffer = \"b\"\n",
                                   "buffer = \"b\"\ndump = \"link/../c.bin\"\n"));
  refused({}, "c.bin is the dump of buffer \"b\", too");
  for (const char* name : {"x", "x.json", "c.bin", "q", "newdir"}) EXPECT_FALSE(exists(name)) << name;
  EXPECT_EQ(read_file(w_.path("vecadd.ptx")), read_file(in_source("sw/kernels/vecadd.sm_80.ptx")));

  const std::string test = in_source("tests/litmus/MP+cg.litmus");
  w_.write("t.litmus", read_file(test));
  EXPECT_THAT(w_.warpline({"litmus", "t.litmus", "--runs", "0", "--dot", "./t.litmus"}).err,
              HasSubstr("--dot: error: ./t.litmus is an input, too"));
  EXPECT_THAT(w_.warpline({"litmus", "t.litmus", "--runs", "0", "--dot", "./q/../t.litmus"}).err,
              HasSubstr("is an input, too"));
  EXPECT_EQ(read_file(w_.path("t.litmus")), read_file(test));
}

TEST_F(Files, WhereStandardOutputGoesIsNoOtherFile) {
  const Finished bad = w_.with_output_to(w_.path("s.json"), {"run", "launch.toml", "--stats", "s.json"});
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("s.json is where standard output goes, too"));
  EXPECT_THAT(w_.with_output_to(w_.path("s.json"), {"run", "launch.toml", "--stats", "q/../s.json"}).err,
              HasSubstr("q/../s.json is where standard output goes, too"));
}

TEST_F(Files, WhatCannotBeWrittenIsFoundBeforeTheRun) {
  fs::create_symlink("loop", w_.path("loop"));
  w_.write("file", "");
  launch("dump = \"file/c.bin\"\n");
  for (const auto& [path, why] : {std::pair<std::string, std::string>{"loop/x.json", "symbolic links"},
                                  {std::string(300, 'a') + "/x.json", "name too long"},
                                  {"file/x.json", "Not a directory"},
                                  {"q/" + std::string(300, 'a') + "/x.json", "name too long"},
                                  {".", "is a folder"}}) {
    const Finished bad = run({"--stats", path});
    EXPECT_EQ(bad.status, 2) << path;
    EXPECT_THAT(bad.err, AllOf(HasSubstr("--stats: error: " + path), HasSubstr(why),
                               HasSubstr("launch.toml:17:8: error: dump: file/c.bin: cannot be created")));
  }
}

/// A disk that fills up is seen only when it does.
TEST_F(Files, AFileThatIsNotTakenInTheEndIsTheExitStatusToo) {
  launch("dump = \"full\"\n");
  // A device of this folder, never one of the machine's; others than root make none, and replace none.
  constexpr dev_t kFull = 0x107;
  if (::geteuid() != 0)
    fs::create_symlink("/dev/full", w_.path("full"));
  else if (::mknod(w_.path("full").c_str(), S_IFCHR | 0666, kFull) != 0 || !std::ofstream(w_.path("full")))
    GTEST_SKIP() << "no device can be made here";
  const Finished dumped = run({"--stats", "s.json"});
  EXPECT_EQ(dumped.status, 2);
  EXPECT_THAT(dumped.err,
              HasSubstr("dump of buffer \"c\": full: cannot be written: No space left on device"));
  EXPECT_TRUE(is_json("s.json")) << "the others are written";
  launch("");
  EXPECT_EQ(run({"--stats", "full"}).status, 2);
  EXPECT_TRUE(fs::is_character_file(w_.path("full")));
}

TEST_F(Files, FoldersThatMayNotBeSearchedOrWrittenAreMessages) {
  for (const char* name : {"closed", "full", "tests"}) fs::create_directory(w_.path(name));
  fs::create_directory(w_.path("closed/sub"));
  fs::create_directory(w_.path("tests/sub"));
  w_.write("tests/t.litmus", read_file(in_source("tests/litmus/MP+cg.litmus")));
  const auto may = [&](const char* name, mode_t mode) { ASSERT_EQ(::chmod(w_.path(name).c_str(), mode), 0); };
  EXPECT_EQ(w_.as_ordinary_user({"--version"}).status, 0);
  may("closed", 0);
  may("full", 0555);
  may("tests/sub", 0);
  launch("dump = \"full/c.bin\"\n");
  ASSERT_EQ(::chmod(w_.path("launch.toml").c_str(), 0644), 0);
  const Finished bad = w_.as_ordinary_user({"run", "launch.toml", "--stats", "closed/sub/s.json"});
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err,
              AllOf(HasSubstr("--stats: error: closed/sub/s.json: cannot be created: Permission denied"),
                    HasSubstr("dump: full/c.bin: cannot be created: Permission denied")));
  EXPECT_THAT(bad.out, IsEmpty());
  const Finished listed = w_.as_ordinary_user({"litmus", "tests", "--runs", "1"});
  EXPECT_EQ(listed.status, 2);
  EXPECT_THAT(listed.err, HasSubstr("tests/sub: error: cannot be listed: Permission denied"));
  EXPECT_THAT(listed.out, HasSubstr("tests/t"));
  may("closed", 0755);
  may("tests/sub", 0755);
}

/// Every command says so where its results are lost; the device is only written to.
TEST_F(Files, ResultsThatStdoutDoesNotTakeAreErrors) {
  const std::string test = in_source("tests/litmus/MP+cg.litmus");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--version"},
                                             {"run", "--help"},
                                             {"run", "launch.toml"},
                                             {"config", "list"},
                                             {"config", "show", "v100"},
                                             {"config", "keys"},
                                             {"config", "check", "v100"},
                                             {"counters"},
                                             {"cctl", "CCTL.D.IV [R2];"},
                                             {"check", "vecadd.ptx"},
                                             {"explain", "ld.global.u32 d, [a];"},
                                             {"policy", "static", "persisting"},
                                             {"litmus", test, "--runs", "0"},
                                             {"litmus", test, "--runs", "0", "--json"}}) {
    const Finished bad = w_.with_output_to("/dev/full", words);
    EXPECT_EQ(bad.status, 2) << words[0];
    EXPECT_THAT(bad.err, HasSubstr("standard output cannot be written: No space left on device")) << words[0];
  }
}

TEST_F(Files, AReaderThatGoesAwayLosesNoFile) {
  const Finished left = w_.with_output_to("", {"run", "launch.toml", "--stats", "s.json"});
  EXPECT_EQ(left.status, 0);
  EXPECT_THAT(left.err, IsEmpty());
  EXPECT_TRUE(is_json("s.json"));
  fs::create_symlink("/proc/self/fd/1", w_.path("stdout"));  // as /dev/stdout is
  const Finished streamed =
      w_.with_output_to("", {"run", "launch.toml", "--stats", "stdout", "--timeline", "t.json"});
  EXPECT_EQ(streamed.status, 0);
  EXPECT_THAT(streamed.err, IsEmpty());
  EXPECT_TRUE(is_json("t.json"));
}

TEST_F(Files, AComparisonCanBeInterruptedAndTheStatisticsAreThere) {
  launch("expect = { expression = \"sum(k, 0, 9223372036854775807, 0)\" }\n");
  const std::vector<std::string> arguments = {"run", "launch.toml", "--quiet", "--stats", "s.json"};
  const Finished cut = w_.signalled(arguments, {SIGUSR1, SIGINT}, "results are compared");
  EXPECT_EQ(cut.status, 130);
  EXPECT_THAT(cut.err, HasSubstr("interrupted while results were compared"));
  EXPECT_TRUE(is_json("s.json"));
}

TEST_F(Files, NoControlCharacterOfAnInputReachesTheTerminal) {
  const auto is_safe = [](const Finished& f) {
    const std::string all = f.out + f.err;
    return std::none_of(all.begin(), all.end(), [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    });
  };
  const std::string evil = "\\u001b]0;owned\\u0007\\u009b31m";
  w_.write("module.toml", "module = \"" + evil + "\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n");
  w_.write("kernel.toml", "module = \"vecadd.ptx\"\nkernel = \"" + evil + "\"\ngrid = [1]\nblock = [1]\n");
  w_.write("evil.ptx", ".version 7.0\n.target \x1b[31m\n");
  w_.write("evil.wls", "\x1b[31m\n");
  w_.write("evil.litmus", "PTX \x1b[31m\n{ x=0; }\n P0@cta 0 ;\n ld.weak r0, x ;\nexists (P0:r0 == 42)\n");
  w_.write("evil.traceg", "-kernel name = \x1b[31m\n");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"run", "module.toml"},
                                             {"run", "kernel.toml"},
                                             {"run", "launch.toml", "--set", "name=\"" + evil + "\""},
                                             {"run", "launch.toml", "--gpu", "\x1b[31m"},
                                             {"run", "\x1b[31m.toml"},
                                             {"run", "evil.wls"},
                                             {"run", "evil.traceg"},
                                             {"check", "evil.ptx"},
                                             {"check", "\x1b[31m"},
                                             {"litmus", "evil.litmus", "--runs", "1"},
                                             {"cctl", "CCTL\x1b[31m"},
                                             {"explain", "ld\x1b[31m"},
                                             {"policy", "decode", "\x1b[31m"},
                                             {"config", "check", "mini", "--set", "name=\"" + evil + "\""},
                                             {"config", "show", "mini", "--set", "name=\"" + evil + "\""},
                                             {"\x1b[31m"},
                                             {"run", "--\x1b[31m"}})
    EXPECT_TRUE(is_safe(w_.warpline(words))) << words[0] << " " << words.back();
}

/// Files that people look at, or send to the terminal, are no way round it; and JSON says what was there.
TEST_F(Files, NoControlCharacterOfAnInputReachesAnOutput) {
  const std::string evil =
      "a\x1b[31m\xc2\x9b"
      "31m\x7f\xe2\x80\xae\xd8\x9c";
  const auto is_safe = [](const std::string& text) {
    for (const char* raw : {"\x1b", "\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xd8\x9c"})
      if (text.find(raw) != std::string::npos) return false;
    return !text.empty();
  };
  w_.write(evil + ".toml", read_file(w_.path("launch.toml")));
  const Finished ran =
      w_.warpline({"run", evil + ".toml", "--quiet", "--set", "name=\"\\u009b\\u001b\\u202e\"", "--stats",
                   "s.json", "--timeline", "t.json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(is_safe(read_file(w_.path("t.json"))));
  EXPECT_TRUE(is_safe(read_file(w_.path("s.json"))));
  const nlohmann::json statistics = nlohmann::json::parse(read_file(w_.path("s.json")));
  EXPECT_EQ(statistics["input"][0], evil + ".toml");
  EXPECT_EQ(statistics["files"][0]["path"], evil + ".toml");
  EXPECT_EQ(statistics["configuration"]["name"], "\xc2\x9b\x1b\xe2\x80\xae");
  const Finished shown = w_.warpline({"config", "show", "mini", "--set", "name=\"\\u009b\\u202e\""});
  EXPECT_THAT(shown.out, HasSubstr("name = \"\\u009b\\u202e\"")) << "a file of it is the same GPU";

  w_.write(evil + ".litmus",
           "PTX " + evil + "\n{ x=0; }\n P0@cta 0 ;\n ld.weak r0, x ;\nexists (P0:r0 == 0)\n");
  const Finished judged =
      w_.warpline({"litmus", evil + ".litmus", "--runs", "1", "--json", "--dot", "t.dot"});
  ASSERT_EQ(judged.status, 0) << judged.err;
  EXPECT_TRUE(is_safe(judged.out));
  EXPECT_TRUE(is_safe(read_file(w_.path("t.dot"))));
  EXPECT_EQ(nlohmann::json::parse(judged.out)["file"], evil + ".litmus");
}

/// A pipe holds its bytes once; what was read is hashed, so that two files of statistics tell inputs apart.
TEST_F(Files, PipesAreDescribedAsTheyWereRead) {
  launch("init = { file = \"c.bin\" }\n");
  w_.write("c.bin", std::string(128, '\x07'));
  w_.write("gpu.toml", "sms = 2\n");
  ASSERT_EQ(
      w_.warpline({"run", "launch.toml", "--quiet", "--gpu", "gpu.toml", "--stats", "plain.json"}).status, 0);
  std::vector<std::thread> writers;
  for (const char* name : {"launch.toml", "vecadd.ptx", "c.bin", "gpu.toml"}) {
    const std::string bytes = read_file(w_.path(name)), path = w_.path(name);
    fs::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    writers.emplace_back([path, bytes] { std::ofstream(path) << bytes; });
  }
  const Finished piped =
      w_.warpline({"run", "launch.toml", "--quiet", "--gpu", "gpu.toml", "--stats", "piped.json"});
  for (std::thread& writer : writers) writer.join();
  ASSERT_EQ(piped.status, 0) << piped.err;
  const auto files = [&](const char* name) {
    return nlohmann::json::parse(read_file(w_.path(name)))["files"];
  };
  EXPECT_EQ(files("plain.json").size(), 4U);
  EXPECT_EQ(files("piped.json"), files("plain.json"));
}

TEST_F(Files, ATraceIsNoPipe) {
  ASSERT_EQ(::mkfifo(w_.path("t.traceg").c_str(), 0600), 0);
  std::thread writer([path = w_.path("t.traceg")] { std::ofstream(path) << "-kernel name = k\n"; });
  const Finished refused = w_.warpline({"run", "t.traceg"});
  writer.join();
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("t.traceg: error: is a pipe; traces and lists of them are plain files"));
}

TEST_F(Files, AKeyThatReachesTooDeepIsAMessage) {
  std::string key = "a";
  for (unsigned n = 0; n < 60000; ++n) key += ".a";
  for (const std::string& text : {key + " = 1\n", "[" + key + "]\n", "x = { " + key + " = 1 }\n"}) {
    w_.write("deep.toml", text);
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"run", "deep.toml"}, {"config", "check", "deep.toml"}}) {
      const Finished bad = w_.warpline(words);
      EXPECT_EQ(bad.status, 2);
      EXPECT_THAT(bad.err, HasSubstr("a key has at most 16 parts"));
      EXPECT_LT(bad.err.size(), 1000U) << "of a long line a part is shown";
    }
  }
  EXPECT_THAT(w_.warpline({"config", "check", "mini", "--set", key + "=1"}).err,
              HasSubstr("at most 16 parts"));
  // Points in strings, comments and numbers are no parts of keys.
  w_.write("gpu.toml",
           "name = \"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r\" # a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r\n");
  EXPECT_EQ(w_.warpline({"config", "check", "gpu.toml"}).status, 0);
}

TEST_F(Files, AGpuThatIsNotThereIsAnsweredWithThosePresent) {
  const Finished unknown = run({"--gpu", "h900"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("h900: error: there is no such preset, and no such file"),
                                 HasSubstr("presets: mini, titanv, v100, rtx2060")));
  EXPECT_THAT(run({"--gpu", ""}).err,
              AllOf(HasSubstr("--gpu: error: names no GPU"), HasSubstr("presets: mini,")));
  EXPECT_THAT(run({"--gpu", "gone.toml"}).err, HasSubstr("gone.toml: error: cannot be opened"));
}

}  // namespace files_test
}  // namespace warpline::test
