// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Halo exchange between devices: the faces of a process grid, packed and read by kernels.
///
/// A face is a link with one neighbour, both ways, as in comm::HaloExchange, and the protocol is the same: two buffers,
/// step k uses buffer k mod 2, a flag follows the data, and a neighbour's message of step k says that it has read step
/// k-1 (docs/design/0002-double-buffered-halo.md). What differs is who moves the bytes: the policy, chosen by name.
///
///   "staged"        device -> pinned host memory -> comm::HaloExchange -> pinned host memory -> device
///   "gpu-aware-mpi" MPI sends device memory (where the MPI library says it can)
///   "copy-engine"   an asynchronous copy into the neighbour's device memory (CUDA IPC), its flag behind it
///   "remote-write"  the packing kernel stores into the neighbour's device memory itself, and raises the flags
///   "merged-pack"   the same, the packing done by blocks of the interior kernel
///   "one-kernel"    packing, interior and exterior in one kernel, whose exterior blocks wait for the flags
///   "nvshmem"       one kernel as well, through NVSHMEM; where the library was built with it
/// On the host executor device memory that neighbours map is POSIX shared memory, so all of them but NVSHMEM run
/// between processes there too. An axis may be treated as split although one process holds it whole (`emulated`): its
/// messages go to the process itself, by the same code. docs/design/0012-device-halo.md says what must hold and why it
/// does.
///
/// One step:
///   exchange.begin(stream)          which buffer; waits where a policy must
///   a kernel packs into outbox(face) for every active face; where packs_remotely(), it raises the flag of a face when
///     all of it is written (face_signals.cuh)
///   exchange.post(stream)           starts what the kernel did not
///   ...interior kernel...
///   exchange.wait(stream)           the stream goes on when every face has arrived
///   a kernel reads inbox(face)

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halocline/comm/process_grid.hpp"
#include "halocline/core/device.hpp"
#include "halocline/gpu/array.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::gpu {

struct FaceExchangeOptions {
  unsigned emulated = 0;      ///< bit `axis`: treat it as split
  double time_limit = 300.0;  ///< [s] of waiting for a neighbour
};

/// Most faces: four axes, two sides.
inline constexpr int most_faces = 8;
/// A failure in one number: this times the step, and 1 + face.
inline constexpr std::uint64_t failure_number = 16;

/// For kernels: how a finished face is told to its neighbour, and how an arriving one is waited for. A plain value.
struct FaceSignals {
  std::uint64_t* raise[most_faces] = {};        ///< in the neighbour's memory, null for faces without one
  const std::uint64_t* await[most_faces] = {};  ///< here
  std::uint32_t* packed[most_faces] = {};       ///< counts blocks of the packing kernel here; 0 when it begins
  std::byte* arriving[most_faces] = {};         ///< the inboxes, which are filled with NaNs where no message comes
  std::uint64_t bytes[most_faces] = {};         ///< of a message
  std::uint64_t step = 0;                       ///< the flag's value
  std::uint64_t* failed = nullptr;              ///< a kernel that waited too long leaves 16 step + 1 + face here
  double time_limit = 0;                        ///< [s]
};

/// What a policy needs, and why it cannot be had here where it cannot.
struct PolicyInfo {
  std::string name;
  bool available;
  std::string reason;
};
/// All that there are, in the order above. Collective: yes.
std::vector<PolicyInfo> halo_policies(const Device& device, const comm::ProcessGrid& grid);

class FaceExchange {
public:
  /// @param grid        of at most four axes
  /// @param face_bytes  shape (ndim,) [bytes] a message along each axis; 0 leaves it out, and so is an axis of one
  ///                    process that is not emulated
  /// @param policy      one of the names above; empty for the first available of remote-write, copy-engine, staged
  /// @throws InvalidArgument  an unknown or unavailable policy (says why, and lists the others), sizes that differ
  ///                          between neighbours, an emulated axis of several processes; on every rank
  /// Collective: yes. Cost: 2 to 4 buffers a face, in device memory, each rounded up to 256 bytes.
  FaceExchange(const Device& device, const comm::ProcessGrid& grid, std::span<const std::size_t> face_bytes,
               std::string_view policy, const FaceExchangeOptions& options = {});
  /// Waits for the device, and where neighbours map memory, some seconds for them to have let it go. Collective: no,
  /// but what was posted should have been waited for by all.
  ~FaceExchange();
  FaceExchange(FaceExchange&&) noexcept;
  FaceExchange& operator=(FaceExchange&&) noexcept;

  const std::string& policy() const noexcept;
  const FaceExchangeOptions& options() const noexcept;
  bool active(comm::Face face) const noexcept;
  /// The packing kernel itself stores into neighbours and raises their flags.
  bool packs_remotely() const noexcept;
  /// Packing is meant to be part of the kernel of the interior.
  bool merges_packing() const noexcept;
  /// The kernel that reads is meant to wait for the flags itself, with wait_in_kernel() in place of wait().
  bool waits_in_kernel() const noexcept;

  /// Opens the next step. @throws core::Error  after an earlier failure, or while the stream is capturing: a step is
  /// numbered when it is enqueued, so a recorded one could not be run twice. Collective: no.
  void begin(Stream& stream);
  /// Where this step's message of a face is written, device memory, 256-byte aligned.
  std::byte* outbox(comm::Face face) const noexcept;
  /// Where the message that arrives at a face is read.
  const std::byte* inbox(comm::Face face) const noexcept;
  /// Of this step, for kernels that pack remotely or wait themselves; all null under other policies.
  FaceSignals signals() const noexcept;
  void post(Stream& stream);
  /// What is enqueued after it reads what has arrived. Under the policies that signal, a kernel waits, and a failure
  /// shows in check(). @throws core::Error  when a neighbour has not sent within the time limit: rank, face, step and
  /// policy are named
  void wait(Stream& stream);
  /// In its place: the kernel that reads has waited for the flags of signals() itself.
  void wait_in_kernel();
  /// Throws what a kernel that waited left behind; begin() does as well. Called by whoever has synchronized the stream.
  /// What was computed from a message that did not come is NaN.
  void check();

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::gpu
