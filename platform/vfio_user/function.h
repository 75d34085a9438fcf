#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "platform/vfio_user/messages.h"

namespace warpline::vfio_user {

/// How what a function asked of its client's memory ended.
enum class DmaOutcome : std::uint8_t {
  done,
  unmapped,  ///< some of the addresses are not the client's memory, or may not be so used; or it is gone
  failed,    ///< the client was asked for it, and refused, or did not answer in time
};

/// What a function finds on the other side: its client's memory and interrupts. While there is no client,
/// nothing is mapped, and interrupts go nowhere.
class Client {
 public:
  /// `data`: the bytes, while `outcome` is done.
  using ReadDone = std::function<void(DmaOutcome outcome, const std::uint8_t* data)>;
  using WriteDone = std::function<void(DmaOutcome outcome)>;

  /// Reads memory of the client's. `done` is called once: within the call, where the memory is mapped here;
  /// later, where it takes messages.
  virtual void read(std::uint64_t address, std::uint32_t bytes, ReadDone done) = 0;
  /// Writes it, likewise. What is written where memory is mapped is seen in the order of the writes.
  virtual void write(std::uint64_t address, const std::uint8_t* data, std::uint32_t bytes,
                     WriteDone done) = 0;
  /// The 4 or 8 bytes there, aligned, if they are mapped here for reading and writing, for atomic operations
  /// that the client sees as such. Null: they are not. Pre: what is returned is used before control goes back
  /// to who called the function: the client may unmap it then.
  [[nodiscard]] virtual void* word(std::uint64_t address, std::uint32_t bytes) = 0;
  /// Raises a vector, if the client has asked to hear of it. INTx: a pulse; until the client unmasks it,
  /// another one is kept.
  virtual void interrupt(IrqKind kind, unsigned vector) = 0;
  /// The process that it was when it connected. Functions that one process has are one machine's.
  [[nodiscard]] virtual int process() const = 0;

 protected:
  ~Client() = default;
};

/// A PCI function that is served to a client. All is called by the thread that serves.
class Function {
 public:
  virtual ~Function() = default;

  struct Region {
    std::uint64_t bytes = 0;  ///< 0: there is none
    bool readable = true, writable = true;
    /// Memory that clients may map instead of making accesses, of which the function hears nothing then: a
    /// file that has just these bytes, and is open as long as the function is there; -1: accesses only.
    int file = -1;
  };
  /// Of kRegions.
  [[nodiscard]] virtual Region region(unsigned index) const = 0;
  /// How many vectors there are of a kind.
  [[nodiscard]] virtual unsigned vectors(IrqKind kind) const = 0;

  /// `data`: as many bytes as were asked for; null: the access was refused, and the client is told so.
  using ReadDone = std::function<void(const std::uint8_t* data)>;
  using Done = std::function<void()>;
  /// Accesses take effect in the order of these calls. `done` is called once, within the call or later; may
  /// be called when the client has gone. Pre: it lies in the region, which allows it, and has 1 to kMostData
  /// bytes.
  virtual void read(unsigned region, std::uint64_t offset, std::uint32_t bytes, ReadDone done) = 0;
  /// `posted`: nobody waits for it, and `done` says that the next may come.
  virtual void write(unsigned region, std::uint64_t offset, const std::uint8_t* data, std::uint32_t bytes,
                     bool posted, Done done) = 0;
  /// A reset of the function. Accesses under way are answered before `done` is called.
  virtual void reset(Done done) = 0;
  /// A client has come, and lives until detach().
  virtual void attach(Client& client) = 0;
  virtual void detach() = 0;
};

}  // namespace warpline::vfio_user
