// Ports of every type of number that RTL and its tools have, on our wires. One simulation per process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rtl_models/tlm/engine_process.h"
#include "rtl_models/tlm/pins/pin_through.h"
#include "rtl_models/tlm/pins/pin_wires.h"

namespace warpline::test {
namespace pin_signal_test {

using ::testing::HasSubstr;

/// A port of a type, and in how many deltas it saw something new.
template <class T>
struct Reader final : sc_core::sc_module {
  explicit Reader(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(Reader);
    SC_METHOD(note);
    dont_initialize();
    sensitive << in;
  }
  void note() {
    EXPECT_TRUE(in.event());
    seen = in.read();
    in_deltas.push_back(sc_core::sc_delta_count());
  }
  sc_core::sc_in<T> in{"in"};
  T seen{};
  std::vector<sc_dt::uint64> in_deltas;
};

template <class T>
struct Writer final : sc_core::sc_module {
  Writer(const sc_core::sc_module_name& name, T its_value) : sc_module(name), value(its_value) {
    SC_HAS_PROCESS(Writer);
    SC_METHOD(put);
    dont_initialize();
    sensitive << go;
  }
  void put() { out.write(value); }
  sc_core::sc_out<T> out{"out"};
  sc_core::sc_event go;
  T value;
};

/// Channels of a hop 32 bytes wide, and of one whose words are not full.
struct Wires {
  EngineProcess engine{"engine", 1000};
  PinChannel wide{"wide", engine, ChannelParameters{}, ClockDomain{}};
  PinChannel odd{"odd", engine, {12, 1, 4, 1}, ClockDomain{}};
};

constexpr std::uint64_t kPattern = 0xFEDC'BA98'7654'3210ULL;

TEST(PinSignal, IntegersOfEveryTypeReadAWireInTheSameDelta) {
  Wires w;
  Reader<unsigned long> a("a");
  Reader<unsigned long long> b("b");
  Reader<sc_dt::sc_uint<64>> c("c");
  Reader<sc_dt::sc_biguint<80>> d("d");
  Reader<sc_dt::sc_bv<64>> e("e");
  Reader<sc_dt::sc_lv<65>> f("f");
  Reader<std::uint32_t> identifier("identifier");
  Reader<std::uint16_t> beat("beat");
  Reader<std::uint8_t> sectors("sectors");
  Reader<bool> valid("valid");
  Reader<sc_dt::sc_uint<1>> also_valid("also_valid");
  a.in.bind(w.wide.address);
  b.in.bind(w.wide.address);
  c.in(w.wide.address);
  d.in(w.wide.address);
  e.in(w.wide.address);
  f.in(w.wide.address);
  identifier.in(w.wide.identifier);
  beat.in(w.wide.beat);
  sectors.in(w.wide.sectors);
  valid.in(w.wide.valid);
  also_valid.in(w.wide.valid);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  w.wide.address.write(kPattern);
  w.wide.identifier.write(0x89AB'CDEF);
  w.wide.beat.write(511);
  w.wide.sectors.write(10);
  w.wide.valid.write(true);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_PS));
  EXPECT_EQ(a.seen, kPattern);
  EXPECT_EQ(b.seen, kPattern);
  EXPECT_EQ(c.seen.to_uint64(), kPattern);
  EXPECT_EQ(d.seen.to_uint64(), kPattern);
  EXPECT_EQ(e.seen.to_uint64(), kPattern);
  EXPECT_EQ(f.seen.to_uint64(), kPattern);
  EXPECT_EQ(f.seen[64], sc_dt::SC_LOGIC_0);
  EXPECT_EQ(identifier.seen, 0x89AB'CDEFU);
  EXPECT_EQ(beat.seen, 511);
  EXPECT_EQ(sectors.seen, 10);
  EXPECT_TRUE(valid.seen);
  EXPECT_EQ(also_valid.seen, 1U);
  ASSERT_EQ(b.in_deltas.size(), 1U);
  EXPECT_EQ(a.in_deltas, b.in_deltas) << "no type is later than the wire's own";
  EXPECT_EQ(e.in_deltas, b.in_deltas);
  EXPECT_EQ(also_valid.in_deltas, valid.in_deltas);
}

TEST(PinSignal, IntegersOfEveryTypeDriveAWire) {
  Wires w;
  Writer<unsigned long> address("a", kPattern);
  Writer<std::uint32_t> identifier("b", 77);
  Writer<sc_dt::sc_uint<9>> beat("c", 300);
  Writer<sc_dt::sc_bv<4>> sectors("d", sc_dt::sc_bv<4>("1001"));
  Writer<sc_dt::sc_lv<3>> command("e", sc_dt::sc_lv<3>("1X0"));
  Writer<sc_dt::sc_biguint<64>> origin("f", sc_dt::sc_biguint<64>(kPattern));
  Writer<std::uint8_t> valid("g", 1);
  address.out(w.wide.address);
  identifier.out.bind(w.wide.identifier);
  beat.out(w.wide.beat);
  sectors.out(w.wide.sectors);
  command.out(w.wide.command);
  origin.out(w.wide.origin);
  valid.out(w.wide.valid);
  address.go.notify(sc_core::SC_ZERO_TIME);
  for (sc_core::sc_event* go : {&identifier.go, &beat.go, &sectors.go, &command.go, &origin.go, &valid.go})
    go->notify(sc_core::SC_ZERO_TIME);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_PS));
  EXPECT_EQ(w.wide.address.read(), kPattern);
  EXPECT_EQ(w.wide.identifier.read(), 77U);
  EXPECT_EQ(w.wide.beat.read(), 300U);
  EXPECT_EQ(w.wide.sectors.read(), 9U);
  EXPECT_EQ(w.wide.command.read(), 4U) << "what is undefined is 0";
  EXPECT_EQ(w.wide.origin.read(), kPattern);
  EXPECT_TRUE(w.wide.valid.read());
}

TEST(PinSignal, VectorsSpanAllWordsOfDataAndPortsOfWordsOne) {
  Wires w;
  Reader<sc_dt::sc_bv<256>> whole("whole");
  Reader<sc_dt::sc_biguint<256>> number("number");
  Reader<sc_dt::sc_lv<97>> lv("lv");
  Reader<unsigned long> word("word");
  Reader<std::uint32_t> strobes("strobes");
  Reader<sc_dt::sc_uint<12>> few("few");
  Writer<sc_dt::sc_bv<256>> driver("driver", {});
  whole.in(w.wide.data);
  number.in(w.wide.data);
  word.in(w.wide.data[2]);
  lv.in(w.odd.data);
  strobes.in(w.wide.strobes);
  few.in(w.odd.strobes);
  driver.out(w.wide.data);
  for (int i = 0; i < 8; ++i) driver.value.set_word(i, 0x1111'1111U * static_cast<unsigned>(i + 1));
  EXPECT_EQ(w.odd.data.size(), 2U);
  EXPECT_EQ(w.odd.data.bits(), 96U);
  EXPECT_EQ(w.odd.data[1].bits(), 32U);
  driver.go.notify(sc_core::SC_ZERO_TIME);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  w.odd.data[0].write(kPattern);
  w.odd.data[1].write(0x0123'4567);
  w.wide.strobes[0].write(0xF0F0'0F0F);
  w.odd.strobes[0].write(0xABC);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_PS));
  EXPECT_EQ(w.wide.data[0].read(), 0x2222'2222'1111'1111ULL);
  EXPECT_EQ(w.wide.data[3].read(), 0x8888'8888'7777'7777ULL);
  EXPECT_EQ(whole.seen, driver.value);
  EXPECT_EQ((number.seen >> 192).to_uint64(), 0x8888'8888'7777'7777ULL);
  EXPECT_EQ(number.seen.to_uint64(), 0x2222'2222'1111'1111ULL);
  EXPECT_EQ(word.seen, 0x6666'6666'5555'5555ULL);
  EXPECT_EQ(lv.seen.get_word(1), 0xFEDC'BA98U);
  EXPECT_EQ(lv.seen.get_word(2), 0x0123'4567U);
  EXPECT_EQ(lv.seen.get_word(3), 0U);
  EXPECT_EQ(strobes.seen, 0xF0F0'0F0FU);
  EXPECT_EQ(few.seen, 0xABCU);
  EXPECT_EQ(whole.in_deltas.size(), 1U) << "however many of its words change at once";
  w.odd.data[1].write(0);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_PS));
  EXPECT_EQ(lv.in_deltas.size(), 2U);
}

std::string report_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const sc_core::sc_report& r) {
    return r.get_msg();
  }
  return {};
}

TEST(PinSignal, APortThatHoldsTooFewBitsIsRefusedByName) {
  Wires w;
  Reader<std::uint32_t> narrow("narrow");
  Reader<sc_dt::sc_bv<255>> vector("vector");
  EXPECT_EQ(report_of([&] { narrow.in.bind(w.wide.address); }),
            "wide.address: these are 64 wires, and a port is bound to them that holds 32 bits");
  EXPECT_EQ(report_of([&] { vector.in.bind(w.wide.data); }),
            "wide.data: these are 256 wires, and a port is bound to them that holds 255 bits");
}

TEST(PinSignal, TwoWhoDriveAWireAreFoundWhateverTheirTypes) {
  Wires w;
  Writer<unsigned long> one("one", 1);
  Writer<sc_dt::sc_bv<64>> other("other", {});
  one.out(w.wide.address);
  other.out(w.wide.address);
  EXPECT_THAT(report_of([] { sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_PS)); }),
              HasSubstr("wide.address"));
}

TEST(PinThrough, DrivesWhatTheOtherChannelSays) {
  Wires w;
  PinChannel to("to", w.engine, ChannelParameters{}, ClockDomain{});
  PinThrough through("through", w.wide, to);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::uint64_t n = 1;
  w.wide.visit([&n](const std::string& wire, const auto& signal, unsigned bits) {
    using Signal = std::decay_t<decltype(signal)>;
    using T = std::decay_t<decltype(signal.read())>;
    if (wire == "clock" || wire == "ready") return;
    const_cast<Signal&>(signal).write(static_cast<T>(bits == 1 ? 1 : n++));
  });
  to.ready.write(true);
  sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_PS));
  std::vector<std::uint64_t> from, arrived;
  w.wide.visit([&](const std::string&, const auto& s, unsigned) { from.push_back(s.read()); });
  to.visit([&](const std::string&, const auto& s, unsigned) { arrived.push_back(s.read()); });
  EXPECT_EQ(from, arrived);
  EXPECT_GT(n, 10U);
  EXPECT_TRUE(w.wide.ready.read());
}

}  // namespace pin_signal_test
}  // namespace warpline::test
