#include "platform/cuda/abi/driver_calls.h"

namespace warpline::cuda::driver {
namespace {

int cuStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return with_context([&](Machine& m, Context& context) {
    if (stream == nullptr || flags > 1) return Status::invalid_value;
    *stream = &m.add_stream(context.device, flags == 0, priority);
    return Status::success;
  });
}

int cuStreamCreate(void** stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

int cuStreamDestroy_v2(void* stream) {
  return with_context([&](Machine& m, Context&) {
    if (!m.is_stream(stream)) return Status::invalid_resource_handle;
    m.remove_stream(*static_cast<Stream*>(stream));
    return Status::success;
  });
}

int cuStreamSynchronize(void* stream) {
  return with_stream(stream, [](Machine& m, Stream& s) { return m.synchronize(s); });
}

int cuStreamQuery(void* stream) {
  return with_stream(stream, [](Machine& m, Stream& s) { return m.query(s); });
}

int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    if (flags > 1) return Status::invalid_value;
    return m.is_event(event) ? m.wait_for(*static_cast<Event*>(event), s, flags == 1)
                             : Status::invalid_resource_handle;
  });
}

/// Writes what `f` says of a stream where the program wants it.
template <class T, class F>
int tell_of_stream(void* stream, T* to, F&& f) {
  if (to == nullptr) return result(Status::invalid_value);
  return with_stream(stream, [&](Machine&, Stream& s) {
    *to = f(s);
    return Status::success;
  });
}

int cuStreamGetPriority(void* stream, int* priority) {
  return tell_of_stream(stream, priority, [](const Stream& s) { return s.priority; });
}

int cuStreamGetFlags(void* stream, unsigned* flags) {
  return tell_of_stream(stream, flags, [](const Stream& s) { return s.blocking ? 0U : 1U; });
}

int cuStreamGetId(void* stream, std::uint64_t* id) {
  return tell_of_stream(stream, id, [](const Stream& s) { return static_cast<std::uint64_t>(s.id); });
}

int cuStreamGetDevice(void* stream, int* device) {
  return tell_of_stream(stream, device, [](const Stream& s) { return static_cast<int>(s.device); });
}

/// Streams are their GPU's: the context is the current one, where that is of the same GPU.
int cuStreamGetCtx(void* stream, void** context) {
  return tell_of_stream(stream, context, [](const Stream& s) -> void* {
    Context* const current = Contexts::current();
    return current->device == s.device ? current : &Contexts::instance().primary(s.device);
  });
}

int cuStreamGetCtx_v2(void* stream, void** context, void** green) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}

using StreamCallback = void (*)(void*, int, void*);
int cuStreamAddCallback(void* stream, StreamCallback callback, void* data, unsigned flags) {
  if (callback == nullptr || flags != 0) return result(Status::invalid_value);
  return with_stream(stream, [&](Machine& m, Stream& s) {
    return m.call([=, &m] { callback(stream, static_cast<int>(m.fault()), data); }, s);
  });
}

// ---- Events

int cuEventCreate(void** event, unsigned flags) {
  constexpr unsigned kUntimed = 2, kBetweenProcesses = 4;
  return with_context([&](Machine& m, Context&) {
    if (event == nullptr || flags > 7) return Status::invalid_value;
    if ((flags & kBetweenProcesses) != 0) {
      if ((flags & kUntimed) == 0) return Status::invalid_value;
      return refuse("events that processes share (CU_EVENT_INTERPROCESS) are not modelled");
    }
    *event = &m.add_event((flags & kUntimed) == 0);
    return Status::success;
  });
}

/// Calls `f` with the machine and the event.
template <class F>
int with_event(void* handle, F&& f) {
  return with_machine([&](Machine& m) {
    return m.is_event(handle) ? f(m, *static_cast<Event*>(handle)) : Status::invalid_resource_handle;
  });
}

int cuEventDestroy_v2(void* event) {
  return with_event(event, [](Machine& m, Event& e) {
    m.remove_event(e);
    return Status::success;
  });
}

int cuEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    if (flags > 1) return Status::invalid_value;
    return m.is_event(event) ? m.record(*static_cast<Event*>(event), s, flags == 1)
                             : Status::invalid_resource_handle;
  });
}

int cuEventRecord(void* event, void* stream) {
  return cuEventRecordWithFlags(event, stream, 0);
}

int cuEventQuery(void* event) {
  return with_event(event, [](Machine& m, Event& e) { return m.query(e); });
}

int cuEventSynchronize(void* event) {
  return with_event(event, [](Machine& m, Event& e) { return m.synchronize(e); });
}

int cuEventElapsedTime_v2(float* ms, void* first, void* last) {
  return with_machine([&](Machine& m) {
    if (ms == nullptr) return Status::invalid_value;
    if (!m.is_event(first) || !m.is_event(last)) return Status::invalid_resource_handle;
    return m.elapsed_ms(*static_cast<Event*>(first), *static_cast<Event*>(last), *ms);
  });
}

// ---- Values in memory that streams write, and wait for

enum MemoryOperation : int { kWait32 = 1, kWrite32 = 2, kFlush = 3, kWait64 = 4, kWrite64 = 5, kBarrier = 6 };

Status write_value(Machine& m, Stream& s, std::uint64_t address, std::uint64_t value, unsigned bytes,
                   unsigned flags) {
  if (flags > 1) return Status::invalid_value;
  return m.write_value(address, value, bytes, s);
}

Status wait_for_value(Machine& m, Stream& s, std::uint64_t address, std::uint64_t value, unsigned bytes,
                      unsigned flags) {
  constexpr unsigned kFlushWrites = 1U << 30U;
  const unsigned way = flags & ~kFlushWrites;
  enum Way : unsigned { kAtLeast, kEqual, kAnd, kNor };
  if (way > kNor) return Status::invalid_value;
  const auto holds = [way, value, bytes](std::uint64_t is) {
    switch (way) {
      case kAtLeast:  // the difference is signed, so that counters may wrap
        return bytes == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(is - value)) >= 0
                          : static_cast<std::int64_t>(is - value) >= 0;
      case kEqual: return is == value;
      case kAnd: return (is & value) != 0;
      default: return bytes == 4 ? static_cast<std::uint32_t>(~(is | value)) != 0 : ~(is | value) != 0;
    }
  };
  return m.wait_for_value(address, bytes, holds, s);
}

template <unsigned bytes, class Value>
int write_value_in(void* stream, std::uint64_t address, Value value, unsigned flags) {
  return with_stream(stream,
                     [&](Machine& m, Stream& s) { return write_value(m, s, address, value, bytes, flags); });
}
template <unsigned bytes, class Value>
int wait_for_value_in(void* stream, std::uint64_t address, Value value, unsigned flags) {
  return with_stream(
      stream, [&](Machine& m, Stream& s) { return wait_for_value(m, s, address, value, bytes, flags); });
}

int cuStreamWriteValue32(void* stream, std::uint64_t address, std::uint32_t value, unsigned flags) {
  return write_value_in<4>(stream, address, value, flags);
}
int cuStreamWriteValue64(void* stream, std::uint64_t address, std::uint64_t value, unsigned flags) {
  return write_value_in<8>(stream, address, value, flags);
}
int cuStreamWaitValue32(void* stream, std::uint64_t address, std::uint32_t value, unsigned flags) {
  return wait_for_value_in<4>(stream, address, value, flags);
}
int cuStreamWaitValue64(void* stream, std::uint64_t address, std::uint64_t value, unsigned flags) {
  return wait_for_value_in<8>(stream, address, value, flags);
}

int cuStreamBatchMemOp(void* stream, unsigned count, const StreamMemoryOperation* operations,
                       unsigned flags) {
  return with_stream(stream, [&](Machine& m, Stream& s) {
    if (flags != 0 || (count != 0 && operations == nullptr) || count > 256) return Status::invalid_value;
    for (unsigned n = 0; n < count; ++n) {
      const StreamMemoryOperation& o = operations[n];
      const unsigned bytes = o.operation == kWait64 || o.operation == kWrite64 ? 8 : 4;
      const std::uint64_t value = bytes == 4 ? static_cast<std::uint32_t>(o.value) : o.value;
      Status status = Status::success;
      switch (o.operation) {
        case kWait32:
        case kWait64: status = wait_for_value(m, s, o.address, value, bytes, o.flags); break;
        case kWrite32:
        case kWrite64: status = write_value(m, s, o.address, value, bytes, o.flags); break;
        case kFlush:
        case kBarrier: break;  // a stream's work is done in its order, and all sees it
        default: status = Status::invalid_value;
      }
      if (status != Status::success) return status;
    }
    return Status::success;
  });
}

}  // namespace

void add_streams(Functions& f) {
  WARPLINE_ADD(f, cuStreamCreate);
  WARPLINE_ADD(f, cuStreamCreateWithPriority);
  f.add("cuStreamDestroy", &cuStreamDestroy_v2);
  WARPLINE_ADD(f, cuStreamDestroy_v2);
  WARPLINE_ADD(f, cuStreamSynchronize);
  WARPLINE_ADD(f, cuStreamQuery);
  WARPLINE_ADD(f, cuStreamWaitEvent);
  WARPLINE_ADD(f, cuStreamGetPriority);
  WARPLINE_ADD(f, cuStreamGetFlags);
  WARPLINE_ADD(f, cuStreamGetId);
  WARPLINE_ADD(f, cuStreamGetDevice);
  WARPLINE_ADD(f, cuStreamGetCtx);
  WARPLINE_ADD(f, cuStreamGetCtx_v2);
  WARPLINE_ADD(f, cuStreamAddCallback);
  WARPLINE_ADD(f, cuEventCreate);
  f.add("cuEventDestroy", &cuEventDestroy_v2);
  WARPLINE_ADD(f, cuEventDestroy_v2);
  WARPLINE_ADD(f, cuEventRecord);
  WARPLINE_ADD(f, cuEventRecordWithFlags);
  WARPLINE_ADD(f, cuEventQuery);
  WARPLINE_ADD(f, cuEventSynchronize);
  f.add("cuEventElapsedTime", &cuEventElapsedTime_v2);
  WARPLINE_ADD(f, cuEventElapsedTime_v2);
  WARPLINE_ADD(f, cuStreamWriteValue32);
  f.add("cuStreamWriteValue32_v2", &cuStreamWriteValue32);
  WARPLINE_ADD(f, cuStreamWriteValue64);
  f.add("cuStreamWriteValue64_v2", &cuStreamWriteValue64);
  WARPLINE_ADD(f, cuStreamWaitValue32);
  f.add("cuStreamWaitValue32_v2", &cuStreamWaitValue32);
  WARPLINE_ADD(f, cuStreamWaitValue64);
  f.add("cuStreamWaitValue64_v2", &cuStreamWaitValue64);
  WARPLINE_ADD(f, cuStreamBatchMemOp);
  f.add("cuStreamBatchMemOp_v2", &cuStreamBatchMemOp);
}

}  // namespace warpline::cuda::driver
