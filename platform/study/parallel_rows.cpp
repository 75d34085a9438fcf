#include "platform/study/parallel_rows.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "platform/study/model_device.h"

namespace warpline::study {

std::vector<RowResult> measure_rows(const GpuConfig& config, const std::vector<const MeasuredRow*>& rows,
                                    unsigned jobs, const std::function<bool()>& go_on) {
  std::vector<RowResult> results(rows.size());
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stopped{false};
  std::mutex turn;  // for go_on and thrown
  std::exception_ptr thrown;
  const auto work = [&] {
    try {
      ModelDevice device(config);
      for (std::size_t n = next++; n < rows.size() && !stopped; n = next++) {
        results[n] = measure(device, *rows[n]);
        const std::lock_guard lock(turn);
        if (!stopped && !go_on()) stopped = true;
      }
    } catch (...) {
      const std::lock_guard lock(turn);
      thrown = std::current_exception();
      stopped = true;
    }
  };
  std::vector<std::thread> others;
  try {
    for (std::size_t n = 1; n < std::min<std::size_t>(jobs, rows.size()); ++n) others.emplace_back(work);
  } catch (const std::system_error&) {
    // The host has no room for more threads: those that there are do it.
  }
  work();
  for (std::thread& t : others) t.join();
  if (thrown != nullptr) std::rethrow_exception(thrown);
  if (stopped) results.clear();
  return results;
}

}  // namespace warpline::study
