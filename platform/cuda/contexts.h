#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace warpline::cuda {

/// A context of the driver API, which programs name by the object's address: which GPU calls mean. What a
/// GPU has, such as memory, modules and streams, belongs to the GPU, and all its contexts have it.
struct Context {
  unsigned device = 0;
  bool primary = false;  ///< the one of its device that the runtime uses
  std::uint32_t flags = 0;
  std::uint64_t id = 0;
  unsigned retained = 0;     ///< of a primary one: how often it is held
  int cache_preference = 0;  ///< CUfunc_cache
  int bank_size = 0;         ///< CUsharedconfig
};

/// All contexts of a process, and which of them the calling thread's calls mean: the top of a stack of each
/// thread; where that is empty and the thread uses the runtime, the primary one of the runtime's device.
class Contexts {
 public:
  static Contexts& instance();

  [[nodiscard]] Context& primary(unsigned device);
  Context& create(unsigned device, std::uint32_t flags);
  /// Ends one that create() made; false: it is none.
  bool destroy(const void* handle);
  /// Null: no context is there, or it is none any more.
  [[nodiscard]] Context* find(const void* handle);

  /// Of the calling thread; null: none.
  [[nodiscard]] static Context* current();
  /// Makes it the current one in place of what is; null: takes that away.
  static void set_current(Context* context);
  static void push(Context& context);
  /// Takes the current one away, and returns it; null: there is none.
  static Context* pop();
  /// The runtime's cudaSetDevice: the primary context of the device is current, in place of what was.
  static void set_device(unsigned device);

 private:
  std::mutex mutex_;
  std::map<const void*, std::unique_ptr<Context>> all_;
  std::map<unsigned, Context*> primary_;
  std::uint64_t made_ = 0;
};

}  // namespace warpline::cuda
