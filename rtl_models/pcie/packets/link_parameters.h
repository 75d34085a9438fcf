#pragma once

#include <string>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/types.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// Framing, sequence number, header with a 64-bit address, and CRC of one packet, bytes.
inline constexpr unsigned kTlpOverhead = 24;

/// A PCI Express link between a root port and a function; times in cycles of the link clock.
struct WARPLINE_PUBLIC LinkParameters {
  unsigned latency = 100;             ///< one way, from the last byte sent to the first that can be used
  unsigned bytes_per_cycle = 16;      ///< of one direction: lanes times speed
  unsigned max_payload = 256;         ///< of one packet, bytes
  unsigned max_read_request = 512;    ///< asked for by one packet, bytes
  unsigned completion_boundary = 64;  ///< 64 or 128 bytes
  unsigned tags = 64;                 ///< requests of one function that are not yet completed
  unsigned posted_credits = 32;  ///< packets that the receiver of either direction has room for, by class
  unsigned non_posted_credits = 32;
  unsigned completion_credits = 64;
  unsigned completion_timeout = 50000;  ///< cycles on the wire after which a read is given up

  /// Cycles from the first beat of a packet that carries `payload` bytes until it can be used at the other
  /// end of an idle link.
  [[nodiscard]] unsigned cycles_of(unsigned payload) const {
    return (kTlpOverhead + payload + bytes_per_cycle - 1) / bytes_per_cycle - 1 + latency;
  }
  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    // As the three-bit fields of PCI Express device control can say.
    const auto need_size = [&rules](unsigned bytes, const char* name) {
      rules.need(bytes >= 128 && bytes <= 4096 && is_power_of_two(bytes), name,
                 "must be a power of two from 128 to 4096 bytes");
    };
    const auto need_credits = [&rules](unsigned credits, const char* name) {
      rules.need(credits >= 1 && credits <= 65536, name, "must be 1 to 65536 packets");
    };
    rules.need(latency >= 1 && latency <= 100000, "latency", "must be 1 to 100000 cycles");
    rules.need(bytes_per_cycle >= 1 && bytes_per_cycle <= kLineBytes, "bytes_per_cycle",
               "must be 1 to 128 bytes");
    need_size(max_payload, "max_payload");
    need_size(max_read_request, "max_read_request");
    rules.need(completion_boundary == 64 || completion_boundary == 128, "completion_boundary",
               "must be 64 or 128 bytes");
    rules.need(tags >= 1 && tags <= 256, "tags", "must be 1 to 256 requests");
    need_credits(posted_credits, "posted_credits");
    need_credits(non_posted_credits, "non_posted_credits");
    need_credits(completion_credits, "completion_credits");
    rules.need(completion_timeout / 2 > latency, "completion_timeout", "must be more than twice the latency");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("latency", latency, "one way, link cycles");
    f("bytes_per_cycle", bytes_per_cycle, "bandwidth of one direction, bytes per link cycle");
    f("max_payload", max_payload, "largest payload of one packet, bytes");
    f("max_read_request", max_read_request, "most that one read packet asks for, bytes");
    f("completion_boundary", completion_boundary, "read completion boundary, 64 or 128 bytes");
    f("tags", tags, "requests of one function in flight that are not posted");
    f("posted_credits", posted_credits, "posted packets that a receiver has room for");
    f("non_posted_credits", non_posted_credits, "packets not posted that a receiver has room for");
    f("completion_credits", completion_credits, "completions that a receiver has room for");
    f("completion_timeout", completion_timeout, "after which a read is given up, link cycles");
  }
};

}  // namespace warpline
