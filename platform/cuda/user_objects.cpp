#include "platform/cuda/user_objects.h"

#include <mutex>

namespace warpline::cuda {
namespace {

struct Known {
  std::weak_ptr<UserObject> object;
  std::shared_ptr<UserObject> of_program;  ///< null: the program has no reference
  std::uint64_t references = 0;            ///< of the program's
};
struct AllObjects {
  std::mutex mutex;
  std::map<const void*, Known> by_handle;
};

AllObjects& all_objects() {
  static auto* const all = new AllObjects;  // graphs may outlive statics
  return *all;
}

}  // namespace

UserObject& UserObject::create(void* pointer, Destroy destroy, unsigned references) {
  const std::shared_ptr<UserObject> object(new UserObject(pointer, destroy));
  const std::lock_guard lock(all_objects().mutex);
  all_objects().by_handle[object.get()] = {object, object, references};
  return *object;
}

std::shared_ptr<UserObject> UserObject::find(const void* handle) {
  const std::lock_guard lock(all_objects().mutex);
  const auto found = all_objects().by_handle.find(handle);
  return found == all_objects().by_handle.end() ? nullptr : found->second.object.lock();
}

bool UserObject::retain(const void* handle, unsigned count) {
  const std::lock_guard lock(all_objects().mutex);
  const auto found = all_objects().by_handle.find(handle);
  if (found == all_objects().by_handle.end()) return false;
  Known& known = found->second;
  if (known.of_program == nullptr) known.of_program = known.object.lock();
  if (known.of_program == nullptr) return false;
  known.references += count;
  return true;
}

bool UserObject::release(const void* handle, unsigned count) {
  std::shared_ptr<UserObject> last;  // destroyed without the lock
  const std::lock_guard lock(all_objects().mutex);
  const auto found = all_objects().by_handle.find(handle);
  if (found == all_objects().by_handle.end() || found->second.references < count) return false;
  found->second.references -= count;
  if (found->second.references == 0) last = std::move(found->second.of_program);
  return true;
}

UserObject::~UserObject() {
  {
    const std::lock_guard lock(all_objects().mutex);
    all_objects().by_handle.erase(this);
  }
  destroy_(pointer_);
}

void HeldObjects::retain(const std::shared_ptr<UserObject>& object, unsigned count) {
  Held& held = all_[object.get()];
  held.object = object;
  held.count += count;
}

bool HeldObjects::release(const void* handle, unsigned count) {
  const auto found = all_.find(handle);
  if (found == all_.end() || found->second.count < count) return false;
  found->second.count -= count;
  if (found->second.count == 0) all_.erase(found);
  return true;
}

void HeldObjects::add(const HeldObjects& others) {
  for (const auto& [handle, held] : others.all_) {
    Held& mine = all_[handle];
    mine.object = held.object;
    mine.count += held.count;
  }
}

}  // namespace warpline::cuda
