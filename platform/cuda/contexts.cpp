#include "platform/cuda/contexts.h"

#include "platform/cuda/process.h"

namespace warpline::cuda {
namespace {

/// The runtime's device is that of the current context.
void follow_top(ThreadState& thread) {
  if (thread.contexts.empty()) return;
  if (const Context* const top = Contexts::instance().find(thread.contexts.back()); top != nullptr)
    thread.device = top->device;
}

}  // namespace

Contexts& Contexts::instance() {
  // Never destroyed: destructors of the program's own objects may still call.
  static Contexts* const contexts = new Contexts;
  return *contexts;
}

Context& Contexts::primary(unsigned device) {
  const std::lock_guard lock(mutex_);
  Context*& found = primary_[device];
  if (found == nullptr) {
    auto context = std::make_unique<Context>();
    context->device = device;
    context->primary = true;
    context->id = ++made_;
    found = context.get();
    all_[found] = std::move(context);
  }
  return *found;
}

Context& Contexts::create(unsigned device, std::uint32_t flags) {
  const std::lock_guard lock(mutex_);
  auto context = std::make_unique<Context>();
  context->device = device;
  context->flags = flags;
  context->id = ++made_;
  Context& made = *context;
  all_[&made] = std::move(context);
  return made;
}

bool Contexts::destroy(const void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(handle);
  if (found == all_.end() || found->second->primary) return false;
  all_.erase(found);
  return true;
}

Context* Contexts::find(const void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(handle);
  return found == all_.end() ? nullptr : found->second.get();
}

Context* Contexts::current() {
  const ThreadState& thread = this_thread();
  if (!thread.contexts.empty()) return thread.contexts.back();
  return thread.uses_runtime ? &instance().primary(thread.device) : nullptr;
}

void Contexts::set_current(Context* context) {
  ThreadState& thread = this_thread();
  if (!thread.contexts.empty()) thread.contexts.pop_back();
  if (context != nullptr) {
    push(*context);
  } else {
    thread.uses_runtime = false;
    follow_top(thread);
  }
}

void Contexts::push(Context& context) {
  ThreadState& thread = this_thread();
  thread.contexts.push_back(&context);
  thread.device = context.device;
}

Context* Contexts::pop() {
  ThreadState& thread = this_thread();
  Context* const top = current();
  if (!thread.contexts.empty()) {
    thread.contexts.pop_back();
    follow_top(thread);
  } else {
    thread.uses_runtime = false;
  }
  return top;
}

void Contexts::set_device(unsigned device) {
  ThreadState& thread = this_thread();
  thread.device = device;
  if (!thread.contexts.empty()) thread.contexts.back() = &instance().primary(device);
}

}  // namespace warpline::cuda
