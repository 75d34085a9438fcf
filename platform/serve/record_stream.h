#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "platform/serve/served_event.h"
#include "rtl_models/base/problem.h"

namespace warpline {

/// What is recorded of a served machine, as a file: a heading that says which machine it is, and blocks of
/// events, compressed, each with a checksum. A file that ends in the middle of a block is one that was cut
/// off while it was written, and good up to there.
class RecordWriter final : public ServedTape {
 public:
  /// `out` outlives it. `machine`: all that a replay has to have alike (RecordedMachine::to_text()).
  /// `failed`, unless null: called once, when something cannot be written, with the errno of it, or 0. From
  /// then on nothing is recorded; what is there can be replayed.
  using Failed = std::function<void(int error)>;
  RecordWriter(std::ostream& out, const std::string& machine, Failed failed = nullptr);
  ~RecordWriter();
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;

  void happen(ServedEvent& event) override;
  [[nodiscard]] bool replays() const override { return false; }
  /// What was told reaches the file, where something was.
  void rest() override { flush(); }
  /// Whether all of it could be written.
  [[nodiscard]] bool good() const;
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  class Packer;
  /// Of events, before they become a block.
  static constexpr std::size_t kBlock = std::size_t{256} * 1024;
  void flush();
  void write(const std::string& bytes, std::size_t unpacked);

  std::ostream& out_;
  Failed failed_;
  std::unique_ptr<Packer> packer_;
  std::string block_;
  std::uint64_t events_ = 0;
};

/// Reads such a file, a block at a time.
class RecordReader {
 public:
  /// `in` outlives it.
  [[nodiscard]] static Result<std::unique_ptr<RecordReader>> open(std::istream& in, const std::string& name);
  virtual ~RecordReader() = default;

  [[nodiscard]] virtual const std::string& machine() const = 0;
  /// The next event; null: there is none, because the file ends, or what follows is damaged.
  [[nodiscard]] virtual const ServedEvent* next() = 0;
  virtual void take() = 0;
  /// How many were taken.
  [[nodiscard]] virtual std::uint64_t events() const = 0;
  /// The file ends in the middle of a block.
  [[nodiscard]] virtual bool cut() const = 0;
  /// What is wrong with it; empty: nothing.
  [[nodiscard]] virtual Diagnostics faults() const = 0;
};

/// What became of a replay.
struct ReplayEnd {
  std::uint64_t events = 0;
  bool cut = false;        ///< the file ends in the middle of a block
  bool ended = false;      ///< the recording had its end, and was not cut off
  bool stopped = false;    ///< somebody wished so, and there was more
  std::string difference;  ///< the first, a sentence; empty: all was equal
  Diagnostics faults;      ///< of the file, which was replayed up to there
};
class ServedMachine;
/// Has a machine, of which nothing has been used, do what was recorded, unless `stop`, asked again and again,
/// says that this is enough; null: all of it.
[[nodiscard]] ReplayEnd replay(ServedMachine& machine, RecordReader& reader,
                               const std::function<bool()>& stop = nullptr);

}  // namespace warpline
