#include "platform/cuda/abi/runtime_calls.h"

namespace warpline::cuda::runtime {
namespace {

int cudaStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return with_machine([&](Machine& m) {
    if (stream == nullptr || flags > 1) return Status::invalid_value;
    *stream = &m.add_stream(this_thread().device, flags == 0, priority);
    return Status::success;
  });
}

int cudaStreamCreateWithFlags(void** stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

int cudaStreamCreate(void** stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}

int cudaStreamDestroy(void* stream) {
  return with_machine([&](Machine& m) {
    if (!m.is_stream(stream)) return Status::invalid_resource_handle;
    m.remove_stream(*static_cast<Stream*>(stream));
    return Status::success;
  });
}

int cudaStreamSynchronize(void* stream) {
  return with_stream(stream, [](Machine& m, Stream& s) { return m.synchronize(s); });
}

int cudaStreamQuery(void* stream) {
  return with_stream(stream, [](Machine& m, Stream& s) { return m.query(s); });
}

constexpr unsigned kExternal = 1;  // cudaEventRecordExternal, cudaEventWaitExternal

int cudaStreamWaitEvent(void* stream, void* event, unsigned flags) {
  if (flags > kExternal) return noted(Status::invalid_value);
  return with_stream(stream, [&](Machine& m, Stream& s) {
    return m.is_event(event) ? m.wait_for(*static_cast<Event*>(event), s, flags == kExternal)
                             : Status::invalid_resource_handle;
  });
}

int cudaStreamGetPriority(void* stream, int* priority) {
  return with_stream(stream, [&](Machine&, Stream& s) {
    if (priority == nullptr) return Status::invalid_value;
    *priority = s.priority;
    return Status::success;
  });
}

int cudaStreamGetFlags(void* stream, unsigned* flags) {
  return with_stream(stream, [&](Machine&, Stream& s) {
    if (flags == nullptr) return Status::invalid_value;
    *flags = s.blocking ? 0 : 1;
    return Status::success;
  });
}

int cudaStreamGetId(void* stream, unsigned long long* id) {
  return with_stream(stream, [&](Machine&, Stream& s) {
    if (id == nullptr) return Status::invalid_value;
    *id = static_cast<unsigned long long>(s.id);
    return Status::success;
  });
}

int cudaStreamGetDevice(void* stream, int* device) {
  return with_stream(stream, [&](Machine&, Stream& s) {
    if (device == nullptr) return Status::invalid_value;
    *device = static_cast<int>(s.device);
    return Status::success;
  });
}

// Attributes of streams are hints, but for the priority.
constexpr int kPriority = 8, kLastAttribute = 16;
constexpr std::size_t kAttributeBytes = 64;

int cudaStreamSetAttribute(void* stream, int attribute, const void* value) {
  return with_stream(stream, [&](Machine&, Stream& s) {
    if (value == nullptr || attribute < 1 || attribute > kLastAttribute) return Status::invalid_value;
    if (attribute == kPriority) std::memcpy(&s.priority, value, sizeof s.priority);
    return Status::success;
  });
}

int cudaStreamGetAttribute(void* stream, int attribute, void* value) {
  return with_stream(stream, [&](Machine&, Stream& s) {
    if (value == nullptr || attribute < 1 || attribute > kLastAttribute) return Status::invalid_value;
    std::memset(value, 0, kAttributeBytes);
    if (attribute == kPriority) std::memcpy(value, &s.priority, sizeof s.priority);
    return Status::success;
  });
}

int cudaStreamCopyAttributes(void* to, void* from) {
  return with_stream(from, [&](Machine& m, Stream& s) {
    Stream* const target = stream_of(m, to);
    if (target == nullptr) return Status::invalid_resource_handle;
    target->priority = s.priority;
    return Status::success;
  });
}

int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return noted(Status::success);
}

using HostFunction = void (*)(void*);
int cudaLaunchHostFunc(void* stream, HostFunction function, void* data) {
  if (function == nullptr) return noted(Status::invalid_value);
  return with_stream(stream, [&](Machine& m, Stream& s) {
    // Behind an error it is not called.
    return m.call(
        [=, &m] {
          if (m.fault() == Status::success) function(data);
        },
        s);
  });
}

using StreamCallback = void (*)(void*, int, void*);
int cudaStreamAddCallback(void* stream, StreamCallback callback, void* data, unsigned flags) {
  if (callback == nullptr || flags != 0) return noted(Status::invalid_value);
  return with_stream(stream, [&](Machine& m, Stream& s) {
    return m.call([=, &m] { callback(stream, static_cast<int>(m.fault()), data); }, s);
  });
}

int cudaEventCreateWithFlags(void** event, unsigned flags) {
  constexpr unsigned kUntimed = 2;
  return with_machine([&](Machine& m) {
    if (event == nullptr || flags > 7) return Status::invalid_value;
    *event = &m.add_event((flags & kUntimed) == 0);
    return Status::success;
  });
}

int cudaEventCreate(void** event) {
  return cudaEventCreateWithFlags(event, 0);
}

/// Calls `f` with the machine and the event.
template <class F>
int with_event(void* handle, F&& f) {
  return with_machine([&](Machine& m) {
    return m.is_event(handle) ? f(m, *static_cast<Event*>(handle)) : Status::invalid_resource_handle;
  });
}

int cudaEventDestroy(void* event) {
  return with_event(event, [](Machine& m, Event& e) {
    m.remove_event(e);
    return Status::success;
  });
}

int cudaEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  if (flags > kExternal) return noted(Status::invalid_value);
  return with_event(event, [&](Machine& m, Event& e) {
    Stream* const s = stream_of(m, stream);
    return s == nullptr ? Status::invalid_resource_handle : m.record(e, *s, flags == kExternal);
  });
}

int cudaEventRecord(void* event, void* stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}

int cudaEventQuery(void* event) {
  return with_event(event, [](Machine& m, Event& e) { return m.query(e); });
}

int cudaEventSynchronize(void* event) {
  return with_event(event, [](Machine& m, Event& e) { return m.synchronize(e); });
}

int cudaEventElapsedTime(float* ms, void* first, void* last) {
  return with_machine([&](Machine& m) {
    if (ms == nullptr) return Status::invalid_value;
    if (!m.is_event(first) || !m.is_event(last)) return Status::invalid_resource_handle;
    return m.elapsed_ms(*static_cast<Event*>(first), *static_cast<Event*>(last), *ms);
  });
}

}  // namespace

void add_streams(Functions& f) {
  WARPLINE_ADD(f, cudaStreamCreateWithPriority);
  WARPLINE_ADD(f, cudaStreamCreateWithFlags);
  WARPLINE_ADD(f, cudaStreamCreate);
  WARPLINE_ADD(f, cudaStreamDestroy);
  WARPLINE_ADD(f, cudaStreamSynchronize);
  WARPLINE_ADD(f, cudaStreamQuery);
  WARPLINE_ADD(f, cudaStreamWaitEvent);
  WARPLINE_ADD(f, cudaStreamGetPriority);
  WARPLINE_ADD(f, cudaStreamGetFlags);
  WARPLINE_ADD(f, cudaDeviceGetStreamPriorityRange);
  WARPLINE_ADD(f, cudaLaunchHostFunc);
  WARPLINE_ADD(f, cudaStreamAddCallback);
  WARPLINE_ADD(f, cudaEventCreateWithFlags);
  WARPLINE_ADD(f, cudaEventCreate);
  WARPLINE_ADD(f, cudaEventDestroy);
  WARPLINE_ADD(f, cudaEventRecord);
  WARPLINE_ADD(f, cudaEventRecordWithFlags);
  WARPLINE_ADD(f, cudaEventQuery);
  WARPLINE_ADD(f, cudaEventSynchronize);
  WARPLINE_ADD(f, cudaEventElapsedTime);
  WARPLINE_ADD(f, cudaStreamGetId);
  WARPLINE_ADD(f, cudaStreamGetDevice);
  WARPLINE_ADD(f, cudaStreamSetAttribute);
  WARPLINE_ADD(f, cudaStreamGetAttribute);
  WARPLINE_ADD(f, cudaStreamCopyAttributes);
}

}  // namespace warpline::cuda::runtime
