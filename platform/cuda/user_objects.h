#pragma once

#include <cstdint>
#include <map>
#include <memory>

namespace warpline::cuda {

/// Something of a program that is destroyed when nobody refers to it any more: not the program, nor graphs,
/// nor launches of them that are under way (CUDA C++ Programming Guide, "CUDA User Objects"). Programs name
/// it by the object's address.
class UserObject {
 public:
  using Destroy = void (*)(void*);

  /// With references of the program's.
  static UserObject& create(void* pointer, Destroy destroy, unsigned references);
  /// Null: it is none that the program refers to, or a graph.
  [[nodiscard]] static std::shared_ptr<UserObject> find(const void* handle);
  /// References of the program's; false: there are not as many.
  static bool retain(const void* handle, unsigned count);
  static bool release(const void* handle, unsigned count);

  /// Calls the program's function.
  ~UserObject();
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;

 private:
  UserObject(void* pointer, Destroy destroy) : pointer_(pointer), destroy_(destroy) {}

  void* pointer_;
  Destroy destroy_;
};

/// References of a graph to objects.
class HeldObjects {
 public:
  void retain(const std::shared_ptr<UserObject>& object, unsigned count);
  /// False: it has not as many.
  bool release(const void* handle, unsigned count);
  void add(const HeldObjects& others);

 private:
  struct Held {
    std::shared_ptr<UserObject> object;
    std::uint64_t count = 0;
  };
  std::map<const void*, Held> all_;
};

}  // namespace warpline::cuda
