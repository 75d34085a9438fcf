#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtl_models/base/bits.h"
#include "rtl_models/base/problem.h"
#include "rtl_models/base/visibility.h"

namespace warpline {

/// NVMe controllers of one system at most, and namespaces of one of them.
inline constexpr unsigned kMaxNvme = 4, kMaxNvmeNamespaces = 16;

/// NVMe controllers and what is behind them. Chances of failures are in millionths, drawn from the seed for
/// each command by queue and number, so that timed and loosely timed runs draw the same.
struct WARPLINE_PUBLIC NvmeParameters {
  unsigned count = 0;                                        ///< controllers; 0: none
  unsigned namespaces = 1;                                   ///< of each
  std::uint64_t namespace_bytes = std::uint64_t{64} << 20U;  ///< of one that is no file
  unsigned block_bytes = 512;                                ///< of a logical block at first: 512 or 4096
  /// Paths, separated by commas, of the files that are the namespaces of the first controller, then those of
  /// the next; an empty one, and all that are not named: memory.
  std::string files;
  unsigned queues = 16;               ///< I/O queue pairs
  unsigned queue_entries = 1024;      ///< of the longest I/O queue
  std::uint64_t buffer_bytes = 0;     ///< of the controller memory buffer; 0: there is none
  unsigned commands = 64;             ///< in execution at once
  unsigned max_transfer = 131072;     ///< of one command, bytes
  bool write_cache = true;            ///< whether written data stays in a volatile cache until it is flushed
  unsigned access_latency = 4;        ///< from a register access's arrival to its answer, cycles
  unsigned write_queue = 8;           ///< packets that wait for the link before no more data is moved
  unsigned channels = 8;              ///< accesses to the media at once
  unsigned read_ns = 60'000;          ///< of a read of the media, before its bytes
  unsigned write_ns = 15'000;         ///< of a write
  unsigned flush_ns = 50'000;         ///< of a flush of the cache, and of a write that goes through it
  unsigned channel_mb_per_s = 400;    ///< at which the bytes of one access follow
  unsigned read_errors = 0;           ///< of a million reads: unrecovered
  unsigned write_faults = 0;          ///< of a million writes: not taken
  unsigned internal_errors = 0;       ///< of a million commands
  unsigned timeouts = 0;              ///< of a million commands: never completed
  unsigned not_ready = 0;             ///< of a million commands: the namespace is not ready
  std::uint64_t seed = 1;             ///< of what fails, and of what identifies disks
  std::uint64_t log_entries = 65536;  ///< of the access log: older ones are forgotten

  /// The files, one for each namespace in turn, and none behind the last that is named.
  [[nodiscard]] std::vector<std::string> file_list() const {
    std::vector<std::string> out;
    if (files.empty()) return out;
    std::size_t from = 0;
    for (;;) {
      const std::size_t comma = files.find(',', from);
      out.push_back(files.substr(from, comma == std::string::npos ? comma : comma - from));
      if (comma == std::string::npos) return out;
      from = comma + 1;
    }
  }
  /// The file behind a namespace, counted from 0; empty: it is memory.
  [[nodiscard]] std::string file_of(unsigned controller, unsigned index) const {
    const std::vector<std::string> list = file_list();
    const std::size_t at = std::size_t{controller} * namespaces + index;
    return at < list.size() ? list[at] : std::string();
  }

  [[nodiscard]] Problems problems(const std::string& path) const {
    Rules rules(path);
    rules.need(count <= kMaxNvme, "count", "must be at most 4");
    rules.need(namespaces >= 1 && namespaces <= kMaxNvmeNamespaces, "namespaces", "must be between 1 and 16");
    rules.need(
        namespace_bytes >= 4096 && namespace_bytes % 4096 == 0 && namespace_bytes <= std::uint64_t{1} << 40U,
        "namespace_bytes", "must be a multiple of 4096, at most 2^40");
    rules.need(block_bytes == 512 || block_bytes == 4096, "block_bytes", "must be 512 or 4096");
    rules.need(files.empty() || file_list().size() <= std::size_t{count} * namespaces, "files",
               "must not name more files than there are namespaces");
    rules.need(queues >= 1 && queues <= 63, "queues", "must be between 1 and 63");
    rules.need(queue_entries >= 2 && queue_entries <= 65536, "queue_entries", "must be between 2 and 65536");
    rules.need(buffer_bytes == 0 || (buffer_bytes >= 4096 && buffer_bytes <= std::uint64_t{1} << 30U &&
                                     is_power_of_two(buffer_bytes)),
               "buffer_bytes", "must be 0 or a power of two from 4096 to 2^30");
    rules.need(commands >= 1 && commands <= 256, "commands", "must be between 1 and 256");
    // A page is what MDTS cannot say: 0 is no limit there.
    rules.need(is_power_of_two(max_transfer) && max_transfer >= 8192 && max_transfer <= 1U << 20U,
               "max_transfer", "must be a power of two from 8192 to 2^20");
    rules.need(access_latency >= 1, "access_latency", "must be at least 1");
    rules.need(write_queue >= 1, "write_queue", "must be at least 1");
    rules.need(channels >= 1 && channels <= 256, "channels", "must be between 1 and 256");
    for (const auto& [ns, name] :
         {std::pair{read_ns, "read_ns"}, std::pair{write_ns, "write_ns"}, std::pair{flush_ns, "flush_ns"}})
      rules.need(ns <= 1'000'000'000, name, "must be at most a second");
    rules.need(channel_mb_per_s >= 1, "channel_mb_per_s", "must be at least 1");
    for (const auto& [chance, name] :
         {std::pair{read_errors, "read_errors"}, std::pair{write_faults, "write_faults"},
          std::pair{internal_errors, "internal_errors"}, std::pair{timeouts, "timeouts"},
          std::pair{not_ready, "not_ready"}})
      rules.need(chance <= 1'000'000, name, "must be at most a million");
    return rules.take();
  }
  template <class F>
  void visit(F&& f) {
    f("count", count, "NVMe controllers behind the root complex");
    f("namespaces", namespaces, "namespaces of each");
    f("namespace_bytes", namespace_bytes, "size of a namespace that is no file, bytes");
    f("block_bytes", block_bytes, "logical block at first, bytes: 512 or 4096");
    f("files", files,
      "paths of the files that namespaces are, separated by commas, controller by controller; an empty one, "
      "and those not named, are memory");
    f("queues", queues, "I/O queue pairs; there is one MSI-X vector more");
    f("queue_entries", queue_entries, "entries of the longest I/O queue");
    f("buffer_bytes", buffer_bytes, "controller memory buffer, bytes; 0: none");
    f("commands", commands, "commands in execution at once");
    f("max_transfer", max_transfer, "most data of one command, bytes");
    f("write_cache", write_cache, "whether written data stays in a volatile cache until it is flushed");
    f("access_latency", access_latency, "from a register access's arrival to its answer, cycles");
    f("write_queue", write_queue, "packets that wait for the link before no more data is moved");
    f("channels", channels, "accesses to the media at once");
    f("read_ns", read_ns, "of a read of the media, before its bytes, ns");
    f("write_ns", write_ns, "of a write, before its bytes, ns");
    f("flush_ns", flush_ns, "of a flush of the cache, and besides of a write that goes through it, ns");
    f("channel_mb_per_s", channel_mb_per_s, "at which the bytes of one access to the media follow, MB/s");
    f("read_errors", read_errors, "reads of a million that are not recovered");
    f("write_faults", write_faults, "writes of a million that the media does not take");
    f("internal_errors", internal_errors, "I/O commands of a million that end with an internal error");
    f("timeouts", timeouts, "I/O commands of a million that never complete");
    f("not_ready", not_ready, "I/O commands of a million that find their namespace not ready");
    f("seed", seed, "of what fails, and of what identifies disks");
    f("log_entries", log_entries, "accesses that the log keeps");
  }
};

}  // namespace warpline
