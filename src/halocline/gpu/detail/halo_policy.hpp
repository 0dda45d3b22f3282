// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What FaceExchange asks of a policy: where messages are written and read, and who moves them.
///
/// FaceExchange checks arguments and the order of calls, counts the steps, and keeps a failed exchange from further
/// use; a policy moves bytes. Its calls come in the order begin, post, wait, with step = 1, 2, ...

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "halocline/comm/process_grid.hpp"
#include "halocline/gpu/face_exchange.hpp"

namespace halocline::gpu::detail {

/// What every policy must know.
struct HaloPlan {
  Device device;
  comm::ProcessGrid grid;
  std::string policy;
  double time_limit;
  std::array<std::size_t, most_faces> bytes{};  ///< of a message, by Face::index(); 0 for a face that is not active
  std::array<int, most_faces> neighbour{};      ///< rank in the grid; -1 for a face that is not active

  bool active(int face) const noexcept { return bytes[static_cast<std::size_t>(face)] > 0; }
  bool to_self(int face) const noexcept { return neighbour[static_cast<std::size_t>(face)] == grid.rank(); }
  /// Shape (ndim,) [bytes], for comm::HaloExchange.
  std::vector<std::size_t> axis_bytes() const;
  /// "rank 3, halo policy remote-write: face +x (from rank 1), step 12", for sentences.
  std::string where(int face, std::uint64_t step) const;
};

/// Places of the faces in one allocation, each 256-byte aligned.
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
  /// Kernels may store into every neighbour, where the policy means them to.
  virtual bool direct() const noexcept { return true; }
  /// All null where no kernel signals.
  virtual FaceSignals signals(std::uint64_t) const noexcept { return {}; }
  /// FaceSignals::failed of a kernel that waited too long; 0 for none. For the host, after a synchronization.
  virtual std::uint64_t failed() const noexcept { return 0; }
};

/// Each is collective over the plan's grid, and throws on every rank or on none.
std::unique_ptr<HaloPolicy> make_staged_halo(const HaloPlan& plan);
std::unique_ptr<HaloPolicy> make_message_halo(const HaloPlan& plan);
std::unique_ptr<HaloPolicy> make_mapped_halo(const HaloPlan& plan);
std::unique_ptr<HaloPolicy> make_nvshmem_halo(const HaloPlan& plan);

/// Why a policy cannot be had; empty where it can. Collective: yes.
std::string message_halo_unavailable_reason(const Device& device, const comm::ProcessGrid& grid);
std::string mapped_halo_unavailable_reason(const Device& device, const comm::ProcessGrid& grid);
std::string nvshmem_halo_unavailable_reason(const Device& device);

}  // namespace halocline::gpu::detail
