// A kernel that works on the blocks of an NVMe drive without the host: it reads them into its own memory, several commands
// at once, changes what has come and writes it to other blocks. It builds commands in a submission queue, makes sure that
// the controller will see them, rings the doorbell, and looks for completions by their phase tag. One thread block; its
// first thread talks to the controller, all of them work on the data. Commands, completions and doorbells are those of the
// controller's manual (sw/regs/nvme.toml).
//
// Pointers are addresses as the kernel has them; `..._bus` is where the controller finds the same memory. Queues, data and
// lists may lie in video memory or anywhere else that both reach.

// An I/O queue pair that whoever has the admin queue has created, and that nobody else uses meanwhile.
struct NvmeQueue {
  uint4* submissions;            // 4 to a command
  const uint4* completions;
  unsigned* tail_doorbell;       // SQ_TAIL_DOORBELL and CQ_HEAD_DOORBELL of the queue
  unsigned* head_doorbell;
  unsigned long long* progress;  // since it was created: commands put in, completions taken out; zeros at first
  unsigned entries;              // of each of the two queues
  unsigned page_bytes;           // of a memory page, as CC.MPS says
};

// Where data of commands goes: to the first buffer or to the next, which begin a whole number of pages apart.
struct NvmeBuffers {
  unsigned* data;
  unsigned long long data_bus;    // a multiple of a page
  unsigned long long* lists;      // a page for each buffer, where a command has more than two pages of data
  unsigned long long lists_bus;   // likewise
  unsigned count;                 // at most 256, of which no more are used than the queue has room for
};

// Chunk n, of n from 0 to `chunks` - 1, is read from block from + n * blocks on, each of its 32-bit words increased by `add`,
// and written to block to + n * blocks on.
struct NvmeWork {
  unsigned long long from, to, chunks;
  unsigned long long patience;  // looks at a completion before it is given up; 0: no end of them
  unsigned nsid, block_bytes;   // of the namespace; a multiple of 4
  unsigned blocks;              // of a chunk, which has no more bytes than the pages that a page of a list has room for
  unsigned add;
};

// Launch files and programs lay these out by themselves.
static_assert(sizeof(NvmeQueue) == 48 && sizeof(NvmeBuffers) == 40 && sizeof(NvmeWork) == 48, "as they do");

// What came of it is added to what stands here.
struct NvmeReport {
  unsigned long long written;  // chunks that are where they should be
  unsigned long long failed;   // chunks that are not
  unsigned long long sum;      // of all words read
  // Word 3 of the first completion that told of a failure: identifier and status; all ones: one did not come in time, or was
  // of no command of these. Then the queue is of no use before it is deleted and created again. 0: all went well.
  unsigned long long failure;
};

constexpr unsigned kWrite = 1, kRead = 2;              // opcodes
constexpr unsigned kCreateSq = 1, kCreateCq = 5;       // of the admin queue
constexpr unsigned kContiguous = 1;                    // of a queue that is created
constexpr unsigned kMostBuffers = 256;
constexpr unsigned kLate = ~0u;

__device__ void store_mmio(unsigned* address, unsigned value) {
  asm volatile("st.mmio.relaxed.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

__device__ unsigned load_acquire(const unsigned* address) {
  unsigned value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

// Of word 3 of a completion: status code type and status code.
__device__ unsigned status_of(unsigned completion) { return completion >> 17 & 0x7FF; }

// A queue pair, as the thread that uses it has it.
class Commands {
 public:
  __device__ Commands(const NvmeQueue& queue, unsigned long long patience) : queue_(queue), patience_(patience) {
    tail_ = queue.progress[0] % queue.entries;
    head_ = queue.progress[1] % queue.entries;
    phase_ = 1 - queue.progress[1] / queue.entries % 2;
  }

  // Puts a command into the queue. `data1`, `data2`: the entries of its data pointer.
  __device__ void add(unsigned opcode, unsigned id, unsigned nsid, unsigned long long data1, unsigned long long data2,
                      unsigned dword10, unsigned dword11, unsigned dword12) {
    uint4* const command = queue_.submissions + 4ull * tail_;
    command[0] = make_uint4(opcode | id << 16, nsid, 0, 0);
    command[1] = make_uint4(0, 0, (unsigned)data1, (unsigned)(data1 >> 32));
    command[2] = make_uint4((unsigned)data2, (unsigned)(data2 >> 32), dword10, dword11);
    command[3] = make_uint4(dword12, 0, 0, 0);
    tail_ = tail_ + 1 == queue_.entries ? 0 : tail_ + 1;
    ++added_;
  }

  // The controller may fetch all that was added: commands, lists and data are in memory before the doorbell rings.
  __device__ void ring() {
    __threadfence_system();
    store_mmio(queue_.tail_doorbell, tail_);
  }

  // Word 3 of the next completion, or kLate. What the command did is seen by whoever has this word.
  __device__ unsigned take() {
    const unsigned* const word = &queue_.completions[head_].w;
    unsigned value = load_acquire(word);
    for (unsigned long long looks = 1; (value >> 16 & 1) != phase_; value = load_acquire(word))
      if (looks++ == patience_) return kLate;
    if (++head_ == queue_.entries) {
      head_ = 0;
      phase_ ^= 1;
    }
    ++taken_;
    store_mmio(queue_.head_doorbell, head_);
    return value;
  }

  // Whoever uses the queue next goes on from here.
  __device__ void leave() {
    queue_.progress[0] += added_;
    queue_.progress[1] += taken_;
  }

 private:
  const NvmeQueue& queue_;
  unsigned long long patience_;
  unsigned tail_, head_, phase_;
  unsigned long long added_ = 0, taken_ = 0;
};

extern "C" __global__ void nvme_io(NvmeQueue queue, NvmeBuffers buffers, NvmeWork work, NvmeReport* report) {
  __shared__ unsigned long long chunk_in[kMostBuffers];
  __shared__ bool is_written[kMostBuffers];  // the chunk in a buffer is on its way out
  __shared__ unsigned completion;
  __shared__ bool goes_on;
  const unsigned bytes = work.blocks * work.block_bytes;
  const unsigned pages = (bytes + queue.page_bytes - 1) / queue.page_bytes;
  const unsigned stride = pages * queue.page_bytes;
  unsigned count = buffers.count < kMostBuffers ? buffers.count : kMostBuffers;
  if (count > queue.entries - 1) count = queue.entries - 1;

  if (pages > 2)
    for (unsigned i = threadIdx.x; i < count * (pages - 1); i += blockDim.x) {
      const unsigned buffer = i / (pages - 1), page = i % (pages - 1);
      buffers.lists[buffer * (queue.page_bytes / 8) + page] =
          buffers.data_bus + (unsigned long long)buffer * stride + (page + 1ull) * queue.page_bytes;
    }
  __syncthreads();

  Commands commands(queue, work.patience);
  unsigned long long next = 0, written = 0, failure = 0, sum = 0;
  unsigned under_way = 0;
  const auto add = [&](unsigned opcode, unsigned buffer, unsigned long long block) {
    const unsigned long long first = buffers.data_bus + (unsigned long long)buffer * stride;
    const unsigned long long second = pages == 1   ? 0
                                      : pages == 2 ? first + queue.page_bytes
                                                   : buffers.lists_bus + (unsigned long long)buffer * queue.page_bytes;
    commands.add(opcode, buffer, work.nsid, first, second, (unsigned)block, (unsigned)(block >> 32), work.blocks - 1);
  };
  const auto read_next = [&](unsigned buffer) {
    chunk_in[buffer] = next;
    is_written[buffer] = false;
    add(kRead, buffer, work.from + next++ * work.blocks);
    ++under_way;
  };
  if (threadIdx.x == 0) {
    while (next < work.chunks && under_way < count) read_next(under_way);
    if (under_way != 0) commands.ring();
  }
  for (;;) {
    if (threadIdx.x == 0) {
      goes_on = under_way != 0;
      if (goes_on) completion = commands.take();
      // One of no command of these, by whoever uses the queue besides, leaves none of them known.
      if (goes_on && (completion == kLate || (completion & 0xFFFF) >= count)) {
        failure = ~0ull;
        goes_on = false;
      }
    }
    __syncthreads();
    if (!goes_on) break;
    const unsigned buffer = completion & 0xFFFF;
    const bool good = status_of(completion) == 0;
    const bool came = good && !is_written[buffer];
    if (came) {
      unsigned* const data = buffers.data + (unsigned long long)buffer * (stride / 4);
      for (unsigned i = threadIdx.x; i < bytes / 4; i += blockDim.x) {
        const unsigned word = data[i];
        sum += word;
        data[i] = word + work.add;
      }
    }
    __syncthreads();
    if (threadIdx.x != 0) continue;
    if (came) {
      is_written[buffer] = true;
      add(kWrite, buffer, work.to + chunk_in[buffer] * work.blocks);
    } else {
      --under_way;
      if (good) ++written;
      else if (failure == 0) failure = completion;
      if (next < work.chunks) read_next(buffer);
      else continue;
    }
    commands.ring();
  }

  atomicAdd(&report->sum, sum);
  if (threadIdx.x != 0) return;
  commands.leave();
  report->written += written;
  report->failed += work.chunks - written;
  if (report->failure == 0) report->failure = failure;
}

// Creates I/O queue pair `number` by the admin queue, where the host leaves that to the GPU, and has no other command in it
// whose completion could come between, as that of an Asynchronous Event Request. Its memory is zeros. *failure:
// word 3 of the completion that told of a failure, all ones: it did not come in time; 0: the queues are there. One thread.
extern "C" __global__ void nvme_create(NvmeQueue admin, unsigned number, unsigned entries, unsigned long long submissions_bus,
                                       unsigned long long completions_bus, unsigned long long patience,
                                       unsigned long long* failure) {
  Commands commands(admin, patience);
  const unsigned which = (entries - 1) << 16 | number;
  commands.add(kCreateCq, 0, 0, completions_bus, 0, which, kContiguous, 0);
  commands.ring();
  unsigned completion = commands.take();
  if (completion != kLate && status_of(completion) == 0) {
    commands.add(kCreateSq, 1, 0, submissions_bus, 0, which, number << 16 | kContiguous, 0);
    commands.ring();
    completion = commands.take();
  }
  commands.leave();
  *failure = completion == kLate ? ~0ull : status_of(completion) != 0 ? completion : 0;
}
