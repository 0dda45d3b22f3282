// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The interface of a halo policy: where messages are written and read, and what moves them.
///
/// FaceExchange checks arguments and the order of calls, counts the steps, and blocks further use after a failure. A
/// policy moves bytes. FaceExchange calls it in the order begin, post, wait, with step = 1, 2, ...

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "halocline/comm/group/process_grid.hpp"
#include "halocline/gpu/face_exchange.hpp"

namespace halocline::gpu::detail {

/// Input of every policy.
struct HaloPlan {
  Device device;
  comm::ProcessGrid grid;
  std::string policy;
  double time_limit;
  int ranks_per_node = 0;                       ///< as in FaceExchangeOptions
  std::array<std::size_t, most_faces> bytes{};  ///< size of a message, by Face::index(); 0 for an inactive face
  std::array<int, most_faces> neighbour{};      ///< rank in the grid; -1 for an inactive face

  bool active(int face) const noexcept { return bytes[static_cast<std::size_t>(face)] > 0; }
  bool to_self(int face) const noexcept { return neighbour[static_cast<std::size_t>(face)] == grid.rank(); }
  /// Shape (ndim,) [bytes], for comm::HaloExchange.
  std::vector<std::size_t> axis_bytes() const;
  /// "rank 3, halo policy remote-write: face +x (from rank 1), step 12", for error messages.
  std::string where(int face, std::uint64_t step) const;
};

/// Offsets of the faces in one allocation, each 256-byte aligned.
struct FacePlaces {
  std::array<std::size_t, most_faces> begin{};
  std::size_t bytes = 0;
  explicit FacePlaces(const HaloPlan& plan);
};

class HaloPolicy {
public:
  HaloPolicy() = default;
  HaloPolicy(const HaloPolicy&) = delete;
  HaloPolicy& operator=(const HaloPolicy&) = delete;
  virtual ~HaloPolicy() = default;

  virtual void begin(Stream& stream, std::uint64_t step) = 0;
  virtual std::byte* outbox(int face, std::uint64_t step) const noexcept = 0;
  virtual const std::byte* inbox(int face, std::uint64_t step) const noexcept = 0;
  virtual void post(Stream& stream, std::uint64_t step) = 0;
  virtual void wait(Stream& stream, std::uint64_t step) = 0;
  /// Whether kernels may store into the memory of every neighbour (for policies whose kernels do).
  virtual bool direct() const noexcept { return true; }
  /// Flags and counters for kernels; all null if the policy's kernels do not signal.
  virtual FaceSignals signals(std::uint64_t) const noexcept { return {}; }
  /// FaceSignals::failed as left by a kernel that waited too long; 0 for no failure. For the host, after a
  /// synchronization.
  virtual std::uint64_t failed() const noexcept { return 0; }
};

/// The memory that MPI sends and receives: device memory; pinned host memory, copied from and to device memory; pinned
/// host memory that kernels store to and load from.
enum class MessageMemory { device, staged, pinned };

/// Collective over the plan's grid. Each throws on every rank or on none.
std::unique_ptr<HaloPolicy> make_staged_halo(const HaloPlan& plan);
/// @param memory  that messages leave from and arrive in
std::unique_ptr<HaloPolicy> make_message_halo(const HaloPlan& plan, MessageMemory memory);
/// @param whole  the plan of all faces, of which `plan` may be a part
std::unique_ptr<HaloPolicy> make_mapped_halo(const HaloPlan& plan, const HaloPlan& whole);
std::unique_ptr<HaloPolicy> make_mixed_halo(const HaloPlan& plan);
std::unique_ptr<HaloPolicy> make_nvshmem_halo(const HaloPlan& plan);

/// The reason why a policy is unavailable; empty if it is available. Collective: yes.
std::string message_halo_unavailable_reason(const Device& device, const comm::ProcessGrid& grid);
std::string mapped_halo_unavailable_reason(const Device& device, const comm::ProcessGrid& grid);
std::string nvshmem_halo_unavailable_reason(const Device& device);

}  // namespace halocline::gpu::detail
