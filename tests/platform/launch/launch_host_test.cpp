// What launch files say of devices and of the host: what is read, and the words of what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "platform/launch/launch_file.h"
#include "rtl_models/queue_device/registers/peer.h"

namespace warpline {
namespace launch_host_test {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class LaunchHosts : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("warpline-hosts-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "k.ptx") << "the module";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Result<LaunchFile> parse(const std::string& text) {
    return parse_launch_file((folder_ / "l.toml").string(), kHead + text);
  }
  LaunchFile good(const std::string& text) {
    auto r = parse(text);
    if (r.ok()) return std::move(r.value());
    for (const Diagnostic& d : r.faults()) ADD_FAILURE() << d.text();
    return {};
  }
  /// The only fault of a bad file.
  Diagnostic bad(const std::string& text) {
    const auto r = parse(text);
    EXPECT_FALSE(r.ok()) << text;
    if (r.ok()) return {};
    EXPECT_EQ(r.faults().size(), 1U) << r.faults().back().text();
    return r.faults().front();
  }
  void refuses(const std::string& text, const std::string& message, const std::string& underlined,
               const std::string& hint = {}) {
    const Diagnostic d = bad(text);
    EXPECT_EQ(d.message, message) << text;
    ASSERT_GE(d.column, 1U) << text;
    EXPECT_EQ(d.source.substr(d.column - 1, d.length), underlined) << d.text();
    EXPECT_EQ(d.hint, hint) << text;
  }
  const std::string kHead =
      "module = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n"
      "[[argument]]\nbuffer = \"flags\"\ntype = \"u32\"\ncount = 4\naperture = \"sysmem\"\n"
      "[[argument]]\nbuffer = \"local\"\ntype = \"u32\"\ncount = 4\n"
      "[[argument]]\nbuffer = \"reals\"\ntype = \"f32\"\ncount = 4\naperture = \"sysmem\"\n";
  std::filesystem::path folder_;
};

std::string argument(const std::string& text) {
  return "[[argument]]\n" + text + "\n";
}
std::string step(const std::string& text) {
  return "[[host]]\n" + text + "\n";
}
std::string one_register(const std::string& text) {
  return "[[register]]\n" + text + "\n";
}

TEST_F(LaunchHosts, RegistersAndBarsAreArguments) {
  const LaunchFile f = good(
      argument("address = \"peer[1].SCRATCH[1]\"") + argument("address = \"peer[0].sq_tail_doorbell[15]\"") +
      argument("address = \"peer[0].bar[4]+0x20\"") + argument("address = \"peer[7].bar[0]\"") +
      argument("bus = \"flags\"\ndevice = \"peer[2]\"\noffset = 12"));
  ASSERT_THAT(f.addresses, SizeIs(5));
  ASSERT_THAT(f.launches[0].arguments, SizeIs(8));
  for (std::size_t n = 0; n < 5; ++n) {
    EXPECT_EQ(f.launches[0].arguments[n + 3].kind, Argument::Kind::device);
    EXPECT_EQ(f.launches[0].arguments[n + 3].number, n);
  }
  EXPECT_EQ(f.addresses[0].where->device.number, 1U);
  EXPECT_EQ(f.addresses[0].where->offset, 0x2CU);
  EXPECT_EQ(f.addresses[0].where->bytes, 4U);
  EXPECT_EQ(f.addresses[1].where->offset, 0x1000U + 15 * 8);
  EXPECT_EQ(f.addresses[2].where->bar, 4U);
  EXPECT_EQ(f.addresses[2].where->offset, 0x20U);
  EXPECT_EQ(f.addresses[2].where->bytes, 0U);
  EXPECT_EQ(f.addresses[4].bus->device.number, 2U);
  EXPECT_EQ(f.addresses[4].bus->offset, 12U);
  EXPECT_EQ(f.host_needs().front().device->number, 7U);
}

TEST_F(LaunchHosts, DevicesOfEachKindAreNeededByThemselves) {
  const LaunchFile f =
      good(step("interrupt = \"nvme[1].vector[2]\"") + step("write = \"nvme[0].cc\"\nvalue = 1") +
           step("delay = 5") + step("read = \"peer[3].STATUS\"") +
           step("write = \"nvme[0].ASQ\"\nvalue = { bus = \"flags\" }"));
  const std::vector<HostStep>& steps = f.launches[0].host;
  EXPECT_EQ(steps[0].device.text(), "nvme[1]");
  EXPECT_EQ(steps[0].vector, 2U);
  EXPECT_EQ(steps[1].target.device->device.text(), "nvme[0]");
  EXPECT_EQ(steps[1].target.device->offset, 0x14U);
  EXPECT_EQ(steps[4].value->bus->device.text(), "nvme[0]");
  std::set<std::string> needed;
  for (const LaunchFile::HostNeed& need : f.host_needs())
    needed.insert(need.device ? need.device->text() : "any");
  EXPECT_EQ(needed, (std::set<std::string>{"nvme[1]", "peer[3]", "any"}));
  EXPECT_FALSE(f.host_needs().back().device);
}

TEST_F(LaunchHosts, EveryRegisterOfTheManualIsFoundByItsName) {
  for (unsigned r = 0; r < regs::peer::kMap.register_count; ++r) {
    const RegisterDescription& d = regs::peer::kMap.registers[r];
    const std::string name = d.name + (d.count > 1 ? "[" + std::to_string(d.count - 1) + "]" : std::string());
    const LaunchFile f = good(argument("address = \"peer[0]." + name + "\""));
    ASSERT_THAT(f.addresses, SizeIs(1));
    EXPECT_EQ(f.addresses[0].where->offset, d.offset + std::uint64_t{d.stride} * (d.count - 1U)) << name;
    EXPECT_EQ(f.addresses[0].where->bytes, d.bytes) << name;
  }
}

TEST_F(LaunchHosts, ABusAddressMayDeclareItsBuffer) {
  const LaunchFile f = good(
      argument("bus = \"data\"\ndevice = \"peer[0]\"\ntype = \"u64\"\ncount = 9\naperture = \"sysmem\""));
  ASSERT_THAT(f.buffers, SizeIs(4));
  EXPECT_EQ(f.buffers[3].count, 9U);
  EXPECT_EQ(f.addresses[0].bus->buffer, 3U);
}

TEST_F(LaunchHosts, StepsAreReadInOrder) {
  const LaunchFile f =
      good(step("write = \"flags[3]\"\nvalue = 7") + step("wait = \"reals[1]\"\nat_least = 1.5") +
           step("read = \"peer[0].STATUS\"\nvalue = 1\nmask = 0xF") + step("read = \"peer[0].EVENT_FIFO\"") +
           step("write = \"peer[0].SQ_BASE[2]\"\nvalue = { bus = \"flags\", offset = 4 }") +
           step("write = \"peer[1].bar[4]+8\"\ntype = \"u16\"\nvalue = 65535") +
           step("interrupt = \"peer[1].vector[15]\"") + step("delay = 100"));
  const std::vector<HostStep>& s = f.launches[0].host;
  ASSERT_THAT(s, SizeIs(8));
  using Kind = HostStep::Kind;
  EXPECT_EQ(s[0].kind, Kind::write);
  EXPECT_FALSE(s[0].target.device);
  EXPECT_EQ(s[0].target.element, 3U);
  EXPECT_EQ(s[0].value->bits, 7U);
  EXPECT_EQ(s[1].kind, Kind::wait);
  EXPECT_TRUE(s[1].at_least);
  EXPECT_EQ(s[1].target.buffer, 2U);
  EXPECT_EQ(s[1].value->bits, 0x3FC0'0000U);
  EXPECT_EQ(s[2].mask, 0xFU);
  EXPECT_FALSE(s[3].value);
  EXPECT_EQ(s[4].target.type, DataType::u64);
  EXPECT_EQ(s[4].value->bus->offset, 4U);
  EXPECT_EQ(s[4].value->bus->device.number, 0U);
  EXPECT_EQ(s[5].target.device->bar, 4U);
  EXPECT_EQ(s[6].kind, Kind::interrupt);
  EXPECT_EQ(s[6].device.number, 1U);
  EXPECT_EQ(s[6].vector, 15U);
  EXPECT_EQ(s[7].cycles, 100U);
}

TEST_F(LaunchHosts, RegistersAreSetAndExpected) {
  const LaunchFile f = good(one_register("name = \"peer[0].CQ_BASE[0]\"\ninit = { bus = \"reals\" }") +
                            one_register("name = \"peer[0].ERROR\"\nexpect = 4\nmask = 6"));
  ASSERT_THAT(f.registers, SizeIs(2));
  EXPECT_EQ(f.registers[0].initial->bus->buffer, 2U);
  EXPECT_FALSE(f.registers[0].expect);
  EXPECT_EQ(*f.registers[1].expect, 4U);
  EXPECT_EQ(f.registers[1].mask, 6U);
}

TEST_F(LaunchHosts, ValuesBeyondTheNumbersOfTomlAreQuoted) {
  const LaunchFile f = good(one_register("name = \"peer[0].CQ_BASE[0]\"\ninit = \"0xFFFFFFFFFFFFFFC0\""));
  EXPECT_EQ(f.registers.at(0).initial->bits, 0xFFFF'FFFF'FFFF'FFC0U);
  const Diagnostic d = bad(one_register("name = \"peer[0].CQ_BASE[0]\"\ninit = 0xFFFFFFFFFFFFFFC0"));
  EXPECT_THAT(d.message, HasSubstr("not representable in 64 bits"));
  EXPECT_THAT(d.hint, HasSubstr("larger values in quotes"));
}

TEST_F(LaunchHosts, AFileWithoutDevicesNeedsNoHost) {
  EXPECT_TRUE(good("").host_needs().empty());
}

TEST_F(LaunchHosts, PlacesThatAreNoneAreRefused) {
  const std::string forms = "a register is \"peer[0].SCRATCH[1]\", bytes of a BAR are \"peer[0].bar[4]+256\"";
  const auto address = [this](const std::string& text, const std::string& message,
                              const std::string& underlined, const std::string& hint = {}) {
    refuses(argument("address = \"" + text + "\""), "address: " + message, underlined, hint);
  };
  address("peer[0].SCRATHC[0]", "a peer has no register SCRATHC", "SCRATHC[0]", "did you mean \"SCRATCH\"?");
  address("peer[0].SCRATCH", "the registers SCRATCH are SCRATCH[0] to SCRATCH[1]", "SCRATCH");
  address("peer[0].SCRATCH[2]", "the registers SCRATCH are SCRATCH[0] to SCRATCH[1]", "SCRATCH[2]");
  address("peer[0].STATUS[0]", "STATUS is one register: leave out its index", "STATUS[0]");
  address("peer[0].bar[1]", "a peer has no BAR 1", "bar[1]",
          "it has bar[0], its registers, bar[2], its MSI-X table, and bar[4], its buffer");
  address("peer[0].bar[4]+x", "\"peer[0].bar[4]+x\" names no place in a device", "peer[0].bar[4]+x", forms);
  address("peer[0].bar", "\"peer[0].bar\" names no place in a device", "peer[0].bar", forms);
  address("peer[0].STATUS+4", "\"peer[0].STATUS+4\" names no place in a device", "peer[0].STATUS+4", forms);
  address("peer[0]", "\"peer[0]\" names no place in a device", "peer[0]", forms);
  address("peer[8].STATUS", "there are at most 8 peers", "peer[8]");
  address("gpu[0].STATUS", "\"gpu[0].STATUS\" begins with no device", "gpu[0]",
          "devices are \"peer[0]\", \"peer[1]\" and so on, and \"nvme[0]\"");
  address("nvme[4].CC", "there are at most 4 NVMe controllers", "nvme[4]");
  address("nvme[0].CCC", "an NVMe controller has no register CCC", "CCC", "did you mean \"CC\"?");
  address("nvme[0].STATUS", "an NVMe controller has no register STATUS", "STATUS");
  address("nvme[0].SQ_TAIL_DOORBELL[64]",
          "the registers SQ_TAIL_DOORBELL are SQ_TAIL_DOORBELL[0] to SQ_TAIL_DOORBELL[63]",
          "SQ_TAIL_DOORBELL[64]");
  address("nvme[0].bar[1]", "an NVMe controller has no BAR 1", "bar[1]",
          "it has bar[0], its registers, bar[2], its MSI-X table, and bar[4], its memory buffer");
  refuses(argument("address = 5"), "address: must be a string, not an integer", "5");
}

TEST_F(LaunchHosts, BusAddressesThatAreNoneAreRefused) {
  refuses(argument("buffer = \"plain\"\ntype = \"u32\"\ncount = 4\naperture = \"peer\"") +
              argument("bus = \"plain\"\ndevice = \"peer[0]\""),
          "bus: buffer \"plain\" lies in the plain peer's memory, which no host or device reaches",
          "\"plain\"", "they reach aperture = \"sysmem\", and \"vidmem\" by the GPU's BAR");
  refuses(argument("bus = \"flags\"\ndevice = \"peer[0]\"\noffset = 16"),
          "offset: buffer \"flags\" has 16 bytes", "16");
  refuses(step("write = \"peer[0].SQ_BASE[0]\"\nvalue = { bus = \"flags\", offset = 20 }"),
          "offset: buffer \"flags\" has 16 bytes", "20");
  refuses(argument("bus = \"flag\"\ndevice = \"peer[0]\""),
          "buffer \"flag\" is not declared: say type and count here, or in an argument before", "\"flag\"",
          "did you mean \"flags\"?");
  EXPECT_EQ(bad(argument("bus = \"flags\"")).message, "[[argument]] lacks \"device\"");
  refuses(argument("bus = \"flags\"\ndevice = \"peer[0].STATUS\""),
          "device: a device is \"peer[0]\" or \"nvme[0]\", and nothing more", ".STATUS");
  refuses(step("write = \"peer[0].CONTROL\"\nvalue = { bus = \"flags\" }"),
          "value: a bus address has 8 bytes, and the target is a u32", "{ bus = \"flags\" }");
  EXPECT_EQ(bad(step("write = \"flags[0]\"\nvalue = { bus = \"flags\" }")).message,
            "value: a bus address has 8 bytes, and the target is a u32");
}

TEST_F(LaunchHosts, StepsThatMeanNothingAreRefused) {
  const std::string which = "[[host]] must say exactly one of write, read, wait, interrupt, delay";
  EXPECT_EQ(bad(step("value = 1")).message, which);
  EXPECT_EQ(bad(step("write = \"flags[0]\"\nread = \"flags[0]\"\nvalue = 1")).message, which);
  EXPECT_EQ(bad(step("write = \"flags[0]\"")).message, "[[host]] lacks \"value\"");
  refuses(step("wait = \"flags[0]\""), "wait: must say exactly one of value, at_least", "wait");
  refuses(step("wait = \"flags[0]\"\nvalue = 1\nat_least = 1"),
          "wait: must say exactly one of value, at_least", "wait");
  refuses(step("wait = \"flags[4]\"\nvalue = 1"), "wait: buffer \"flags\" has 4 elements", "[4]");
  refuses(step("wait = \"flag[0]\"\nvalue = 1"), "wait: there is no buffer \"flag\"", "flag",
          "did you mean \"flags\"?");
  refuses(argument("buffer = \"plain\"\ntype = \"u32\"\ncount = 4\naperture = \"peer\"") +
              step("read = \"plain[0]\""),
          "read: buffer \"plain\" lies in the plain peer's memory, which no host or device reaches", "plain",
          "they reach aperture = \"sysmem\", and \"vidmem\" by the GPU's BAR");
  refuses(step("read = \"flags\""),
          "read: \"flags\" is neither an element of a buffer nor a place in a device", "\"flags\"",
          "an element is \"flags[0]\", a register \"peer[0].SCRATCH[1]\"");
  refuses(step("write = \"flags[0]\"\nvalue = -1"), "value: -1 is not a value of type u32", "-1");
  refuses(step("read = \"flags[0]\"\nmask = 3"), "mask: is for a value to be compared with", "mask");
  refuses(step("wait = \"reals[0]\"\nvalue = 1\nmask = 3"), "mask: is for integers", "mask");
  refuses(step("wait = \"flags[0]\"\nvalue = 0\nmask = 0"), "mask: 0 leaves nothing to compare", "0");
  refuses(step("read = \"peer[0].STATUS\"\nvalue = 0x12\nmask = 0xF"),
          "value: has bits that the mask leaves out", "0x12");
  refuses(step("read = \"flags[0]\"\nvalue = 1\nmask = -1"), "mask: -1 is not a value of type u32", "-1");
  EXPECT_EQ(bad(step("write = \"peer[0].bar[4]\"\nvalue = 1")).message, "[[host]] lacks \"type\"");
  refuses(step("read = \"peer[0].bar[4]+2\"\ntype = \"u32\""),
          "read: the offset is no multiple of the size of a u32", "\"peer[0].bar[4]+2\"");
  refuses(step("read = \"peer[0].bar[4]\"\ntype = \"u33\""), "type: \"u33\" is no type of elements",
          "\"u33\"", "did you mean \"u32\"?");
  refuses(step("write = \"flags[0]\"\nvalue = 1\ntype = \"u8\""), "unknown key \"type\" in [[host]]", "type");
  refuses(step("delay = 0"), "delay: must be 1 to 4294967296, not 0", "0");
  refuses(step("interrupt = \"peer[0].vector[16]\""), "interrupt: a peer has the vectors 0 to 15",
          "peer[0].vector[16]");
  refuses(step("interrupt = \"nvme[3].vector[64]\""), "interrupt: an NVMe controller has the vectors 0 to 63",
          "nvme[3].vector[64]");
  refuses(step("interrupt = 3"), "interrupt: must be a string, not an integer", "3");
  refuses(step("interrupt = \"peer[0]\""), "interrupt: \"peer[0]\" is no vector of a device", "peer[0]",
          "a vector is \"peer[0].vector[3]\"");
}

TEST_F(LaunchHosts, RegistersThatMeanNothingAreRefused) {
  refuses(one_register("name = \"peer[0].STATUS\""), "[[register]] must say init, expect or both",
          "\"peer[0].STATUS\"");
  refuses(one_register("name = \"peer[0].bar[4]\"\nexpect = 1"),
          "name: must be that of a register, not a BAR", "\"peer[0].bar[4]\"");
  refuses(one_register("name = \"peer[0].CONTROL\"\ninit = 0x100000000"),
          "init: 4294967296 is not a value of type u32", "0x100000000");
  refuses(one_register("name = \"peer[0].CONTROL\"\ninit = 1\nmask = 1"), "mask: is for what is expected",
          "mask");
  refuses(one_register("name = \"peer[0].CONTROL\"\nexpect = 0\nmask = 0"),
          "mask: 0 leaves nothing to compare", "0");
  refuses(one_register("name = \"peer[0].CONTROL\"\nexpect = 3\nmask = 2"),
          "expect: has bits that the mask leaves out", "3");
  refuses(one_register("name = \"peer[0].CONTROL\"\ninit = 1") +
              one_register("name = \"peer[0].control\"\nexpect = 1"),
          "register \"peer[0].control\" stands here twice", "\"peer[0].control\"");
  EXPECT_EQ(bad(one_register("init = 1")).message, "[[register]] lacks \"name\"");
}

TEST_F(LaunchHosts, ConcurrentLaunchesHaveAGpuEach) {
  const auto launches = [](const std::string& second, const std::string& third = {}) {
    const std::string launch = "[[launch]]\nmodule = \"k.ptx\"\nkernel = \"k\"\ngrid = [1]\nblock = [1]\n";
    return launch +
           "[[launch.argument]]\nbuffer = \"f\"\ntype = \"u32\"\ncount = 1\naperture = \"sysmem\"\n" +
           launch + second + (third.empty() ? "" : launch + third);
  };
  const auto faults = [this](const std::string& text) {
    const auto r = parse_launch_file((folder_ / "l.toml").string(), text);
    return r.ok() ? std::string() : r.faults().front().message;
  };
  EXPECT_EQ(faults(launches("gpu = 1\nconcurrent = true\n", "gpu = 2\nconcurrent = true\n")), "");
  EXPECT_EQ(faults(launches("concurrent = true\n")),
            "concurrent: GPU 0 runs a launch at that time; say another (gpu = 1)");
  EXPECT_EQ(faults(launches("gpu = 1\nconcurrent = true\n", "gpu = 0\nconcurrent = true\n")),
            "concurrent: GPU 0 runs a launch at that time; say another (gpu = 1)");
  EXPECT_EQ(faults(launches("gpu = 1\n", "concurrent = true\n")), "") << "GPU 0 is free by then";
  EXPECT_EQ(faults(launches("gpu = 1\nconcurrent = true\n[[launch.host]]\ndelay = 1\n")),
            "host: belongs to the first of the launches that run at the same time");
}

}  // namespace launch_host_test
}  // namespace warpline
