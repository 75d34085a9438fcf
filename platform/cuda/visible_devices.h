#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace warpline::cuda {

/// What tells a GPU of the platform apart from others: the bytes of its UUID.
[[nodiscard]] std::array<std::uint8_t, 16> uuid_of(unsigned gpu);
/// The same as text, as programs and users write it: "GPU-57617270-6c69-6e65-2047-505520300000".
[[nodiscard]] std::string uuid_text(unsigned gpu);

/// Which of a platform's GPUs a program sees, in its order, of a value of CUDA_VISIBLE_DEVICES (CUDA C++
/// Programming Guide, "CUDA Environment Variables"): numbers, or UUIDs that begin with "GPU-" and may be cut
/// short as long as they mean one GPU. It ends at the first that names none. One that is named twice leaves
/// the program none at all.
[[nodiscard]] std::vector<unsigned> visible_devices(const std::string& list, unsigned gpus);

}  // namespace warpline::cuda
