// Copies of which one call asks for many. They are done one after the other, which any order may be. The
// stream may be the default one: which of the two defaults is meant does not show here.
#include "platform/cuda/abi/runtime_calls.h"
#include "platform/cuda/arrays.h"

namespace warpline::cuda::runtime {
namespace {

/// `cudaMemcpyAttributes`.
struct CopyAttributes {
  std::int32_t source_order = 0;
  MemoryLocation from, to;
  std::uint32_t flags = 0;
};
static_assert(sizeof(CopyAttributes) == 24);

/// `cudaMemcpy3DOperand`.
struct CopyOperand {
  struct Memory {
    void* address;
    std::size_t row_elements, rows;
    MemoryLocation hint;
  };
  struct InArray {
    void* handle;
    Position at;
  };
  std::int32_t type = 0;
  union {
    Memory memory;
    InArray array;
  };
  CopyOperand() : memory{} {}
};
static_assert(sizeof(CopyOperand) == 40);

/// `cudaMemcpy3DBatchOp`.
struct CopyOfBatch {
  CopyOperand from, to;
  Extent extent;
  std::int32_t source_order = 0;
  std::uint32_t flags = 0;
};
static_assert(sizeof(CopyOfBatch) == 112 && offsetof(CopyOfBatch, source_order) == 104);

/// `cudaMemcpySrcAccessOrder`.
enum SourceOrder : int { kInStream = 1, kDuringCall = 2, kAnyOrder = 3 };

struct BatchedCopy {
  CopyRequest copy;
  bool asynchronous = true;
};

bool is_valid(std::int32_t order, std::uint32_t flags) {
  constexpr std::uint32_t kKnownFlags = 1;  // to be done beside grids if possible
  return order >= kInStream && order <= kAnyOrder && flags <= kKnownFlags;
}

/// Asks for all, if all can be done. `failed`: unless null, becomes the number of that which cannot.
Status do_batch(Machine& m, Stream& s, std::vector<BatchedCopy>& all, std::size_t* failed) {
  for (std::size_t n = 0; n < all.size(); ++n) {
    CopyRequest checked = all[n].copy;
    const Status status = m.check(checked);
    if (status == Status::success) continue;
    if (failed != nullptr) *failed = n;
    return status;
  }
  for (const BatchedCopy& b : all)
    if (const Status status = m.copy(b.copy, s, b.asynchronous); status != Status::success) return status;
  return Status::success;
}

int copy_batch_12(void* const* to, const void* const* from, const std::size_t* sizes, std::size_t count,
                  const CopyAttributes* attributes, const std::size_t* first_of, std::size_t attribute_count,
                  std::size_t* failed, void* stream) {
  if (failed != nullptr) *failed = ~std::size_t{0};  // none by itself
  return with_stream(stream, [&](Machine& m, Stream& s) {
    if (to == nullptr || from == nullptr || sizes == nullptr || count == 0 || attributes == nullptr ||
        first_of == nullptr || attribute_count == 0 || attribute_count > count || first_of[0] != 0)
      return Status::invalid_value;
    for (std::size_t n = 0; n < attribute_count; ++n)
      if ((n != 0 && first_of[n] <= first_of[n - 1]) || first_of[n] >= count ||
          !is_valid(attributes[n].source_order, attributes[n].flags))
        return Status::invalid_value;
    std::vector<BatchedCopy> all;
    for (std::size_t n = 0, attribute = 0; n < count; ++n) {
      if (attribute + 1 < attribute_count && first_of[attribute + 1] == n) ++attribute;
      all.push_back({{address_of(to[n]), address_of(from[n]), sizes[n], 1, sizes[n], sizes[n]},
                     attributes[attribute].source_order != kDuringCall});
    }
    return do_batch(m, s, all, failed);
  });
}

int cudaMemcpyBatchAsync(void* const* to, const void* const* from, const std::size_t* sizes,
                         std::size_t count, const CopyAttributes* attributes, const std::size_t* first_of,
                         std::size_t attribute_count, void* stream) {
  return copy_batch_12(to, from, sizes, count, attributes, first_of, attribute_count, nullptr, stream);
}

/// A copy of a batch as a copy of slices. False: an operand is of no known type.
bool parameters_of(Machine& m, const CopyOfBatch& given, CopyParameters& p) {
  enum Type : int { kMemory = 1, kArray = 2 };
  std::uint64_t element = 1;
  for (const CopyOperand* o : {&given.from, &given.to})
    if (o->type == kArray)
      if (const Array* const array = m.arrays().find(o->array.handle)) element = array->image.format.bytes();
  p.extent = given.extent;
  p.kind = static_cast<std::int32_t>(CopyKind::by_address);
  const auto side = [&](const CopyOperand& o, void*& array, Position& at, PitchedPointer& memory) {
    if (o.type == kArray) {
      array = o.array.handle;
      at = o.array.at;
      return true;
    }
    if (o.type != kMemory) return false;
    const std::size_t row = o.memory.row_elements == 0 ? given.extent.width : o.memory.row_elements;
    const std::size_t rows = o.memory.rows == 0 ? given.extent.height : o.memory.rows;
    memory = {o.memory.address, row * element, row, rows};
    return row >= given.extent.width && rows >= given.extent.height;
  };
  return side(given.from, p.from_array, p.from_position, p.from) &&
         side(given.to, p.to_array, p.to_position, p.to);
}

int copy_3d_batch_12(std::size_t count, const CopyOfBatch* copies, std::size_t* failed,
                     unsigned long long flags, void* stream) {
  if (failed != nullptr) *failed = ~std::size_t{0};
  return with_stream(stream, [&](Machine& m, Stream& s) {
    if (count == 0 || copies == nullptr || flags != 0) return Status::invalid_value;
    std::vector<BatchedCopy> all;
    for (std::size_t n = 0; n < count; ++n) {
      const CopyOfBatch& given = copies[n];
      if (failed != nullptr) *failed = n;
      CopyParameters p;
      if (!is_valid(given.source_order, given.flags) || given.extent.width == 0 || given.extent.height == 0 ||
          given.extent.depth == 0 || !parameters_of(m, given, p))
        return Status::invalid_value;
      BatchedCopy b;
      b.asynchronous = given.source_order != kDuringCall;
      if (const Status status = m.arrays().copy_of(p, b.copy); status != Status::success) return status;
      all.push_back(b);
    }
    if (failed != nullptr) *failed = ~std::size_t{0};
    return do_batch(m, s, all, failed);
  });
}

int cudaMemcpy3DBatchAsync(std::size_t count, const CopyOfBatch* copies, unsigned long long flags,
                           void* stream) {
  return copy_3d_batch_12(count, copies, nullptr, flags, stream);
}

}  // namespace

void add_batches(Functions& f) {
  WARPLINE_ADD(f, cudaMemcpyBatchAsync);
  WARPLINE_ADD(f, cudaMemcpy3DBatchAsync);
  f.add("cudaMemcpyBatchAsync", &copy_batch_12, 12);
  f.add("cudaMemcpy3DBatchAsync", &copy_3d_batch_12, 12);
}

}  // namespace warpline::cuda::runtime
