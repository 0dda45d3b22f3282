// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Halo exchange between devices: kernels pack and read the faces of a process grid.
///
/// A face is a two-way link with one neighbour, as in comm::HaloExchange, and the protocol is the same. There are two
/// buffers, and step k uses buffer k mod 2. A flag follows the data. A neighbour's message of step k says that the
/// neighbour has read step k-1 (docs/design/0002-double-buffered-halo.md). The policies differ in what moves the bytes.
/// The caller chooses one by name:
///
///   "staged"        device -> pinned host memory -> comm::HaloExchange -> pinned host memory -> device
///   "zero-copy"     kernels store to and load from pinned host memory, which MPI sends and receives
///   "gpu-aware-mpi" MPI sends device memory (if the MPI library says that it can)
///   "copy-engine"   an asynchronous copy into the neighbour's device memory (CUDA IPC), its flag behind it
///   "remote-write"  the packing kernel stores into the neighbour's device memory itself, and raises the flags; the
///                   exterior kernel waits for them
///   "merged-pack"   as remote-write, but blocks of the interior kernel do the packing
///   "one-kernel"    packing, interior and exterior in one kernel, whose exterior blocks wait for the flags
///   "nvshmem"       through NVSHMEM, if the library was built with it: as one-kernel if loads and stores reach all
///                   neighbours, else a packing kernel, and puts for the neighbours across the network
///
/// On the host executor, POSIX shared memory takes the place of device memory that neighbours map. All policies except
/// nvshmem therefore run between processes there too. An axis that one process holds whole may be treated as split
/// (`emulated`): the process then sends the messages of this axis to itself, by the same code.
/// docs/design/0011-device-halo.md states the protocol's requirements and why they are met.
///
/// One step:
///   exchange.begin(stream)          opens the step; waits if the policy must
///   a kernel packs into outbox(face) for every active face; if packs_remotely(), the kernel raises the flag of a
///     face when all of the face is written (face_signals.cuh)
///   exchange.post(stream)           starts the transfers that the kernel did not start
///   ...interior kernel...
///   exchange.wait(stream)           the stream continues when every face has arrived
///   a kernel reads inbox(face)
/// If waits_in_kernel(), the kernel that reads may wait for signals() itself, and wait_in_kernel() takes the place of
/// wait(). This saves a launch.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halocline/comm/group/process_grid.hpp"
#include "halocline/core/device.hpp"
#include "halocline/gpu/array.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::gpu {

struct FaceExchangeOptions {
  unsigned emulated = 0;      ///< bit `axis` set: treat this axis as split
  double time_limit = 300.0;  ///< longest wait for a neighbour [s]
  /// Under "mixed", treat every so many consecutive ranks as one machine, for tests; 0: the machines that there are.
  int ranks_per_node = 0;
};

/// Largest number of faces: four axes, two sides.
inline constexpr int most_faces = 8;
/// A failure is one number: failure_number * step + 1 + face.
inline constexpr std::uint64_t failure_number = 16;

/// For kernels: the flags that tell a neighbour of a finished face, and the flags of arriving faces. A plain value.
struct FaceSignals {
  std::uint64_t* raise[most_faces] = {};        ///< the neighbour's flag, in its memory; null: no kernel raises it
  const std::uint64_t* await[most_faces] = {};  ///< this rank's flag; null: no kernel awaits it
  std::uint32_t* packed[most_faces] = {};       ///< counts blocks of this rank's packing kernel; 0 at its start
  std::byte* arriving[most_faces] = {};         ///< the inboxes; a message that does not come is replaced by NaNs
  std::uint64_t bytes[most_faces] = {};         ///< size of a message
  std::uint64_t step = 0;                       ///< value of the flag in this step, less *base
  const std::uint64_t* base = nullptr;          ///< in device memory; null for zero, but in recorded steps
  std::uint64_t* failed = nullptr;              ///< a kernel that waited too long stores 16 step + 1 + face here
  double time_limit = 0;                        ///< [s]
};

/// Steps that were recorded in a graph. They may run again where the exchange has made an even number of steps since.
struct RecordedSteps {
  std::uint64_t before = 0;  ///< steps made before the recording
  std::uint64_t count = 0;
};

/// The names of all policies.
std::span<const char* const> halo_policy_names() noexcept;

/// A policy, and the reason why it is unavailable here if it is.
struct PolicyInfo {
  std::string name;
  bool available;
  std::string reason;
};
/// All policies, in the order above. @param ranks_per_node  as in FaceExchangeOptions. Collective: yes.
std::vector<PolicyInfo> halo_policies(const Device& device, const comm::ProcessGrid& grid, int ranks_per_node = 0);

class FaceExchange {
public:
  /// @param grid        at most four axes
  /// @param face_bytes  shape (ndim,) [bytes]: size of a message along each axis. 0 leaves the axis out; so does an
  ///                    axis of one process that is not emulated
  /// @param policy      one of the names above; empty for the first available of remote-write, copy-engine, mixed,
  /// staged
  /// @throws InvalidArgument  an unknown or unavailable policy (gives the reason and lists the others), sizes that
  ///                          differ between neighbours, an emulated axis of several processes; on every rank
  /// Collective: yes. Cost: 2 to 4 buffers for each face, each rounded up to 256 bytes.
  FaceExchange(const Device& device, const comm::ProcessGrid& grid, std::span<const std::size_t> face_bytes,
               std::string_view policy, const FaceExchangeOptions& options = {});
  /// Waits for the device. If neighbours map this rank's memory, also waits up to ten seconds for them to unmap it.
  /// Collective: no, but all ranks should have waited for the posted messages.
  ~FaceExchange();
  FaceExchange(FaceExchange&&) noexcept;
  FaceExchange& operator=(FaceExchange&&) noexcept;

  const std::string& policy() const noexcept;
  /// The number of this exchange, which no other of this process has had, and of the buffers of the next step. Graphs
  /// of steps are kept by this number.
  std::uint64_t number() const noexcept;
  const FaceExchangeOptions& options() const noexcept;
  bool active(comm::Face face) const noexcept;
  /// The packing kernel itself stores into neighbours' memory and raises their flags.
  bool packs_remotely() const noexcept;
  /// The interior kernel should also do the packing.
  bool merges_packing() const noexcept;
  /// Packing, interior and exterior should be one kernel.
  bool one_kernel() const noexcept;
  /// The kernel that reads the inboxes should wait for the flags itself. Then call wait_in_kernel() in place of wait().
  /// Not under copy-engine: a copy within one device may need places that the waiting blocks occupy.
  bool waits_in_kernel() const noexcept;

  /// Opens the next step. @throws core::Error  after an earlier failure, or while the stream is capturing outside of a
  /// recording. Collective: no.
  void begin(Stream& stream);

  /// Whether steps can be recorded in a graph: kernels alone move the messages and wait for them (remote-write,
  /// merged-pack, one-kernel). Recorded kernels read the number of their step from device memory.
  bool records() const noexcept;
  /// Steps from now on until end_recording() are recorded. Call before the capture begins. Neighbours may record or
  /// not.
  void begin_recording();
  /// Takes the recorded steps back: none has run.
  RecordedSteps end_recording();
  /// Call before the launch of a graph with these steps. Returns false, and does nothing, if the graph's buffers are
  /// not those of the next step; then enqueue the steps one by one. @throws core::Error  after an earlier failure
  bool replay(Stream& stream, const RecordedSteps& steps);
  /// Memory, of the device or pinned, to which this step's message of a face is written, 256-byte aligned; null for an
  /// inactive face.
  std::byte* outbox(comm::Face face) const noexcept;
  /// Memory, of the device or pinned, from which the message that arrives at a face is read; null for an inactive face.
  const std::byte* inbox(comm::Face face) const noexcept;
  /// The signals of this step, for kernels that pack remotely or wait themselves; all null under policies without.
  FaceSignals signals() const noexcept;
  void post(Stream& stream);
  /// Work enqueued after this call reads messages that have arrived. Under policies with signals a kernel does the
  /// waiting, and check() reports a failure. @throws core::Error  a neighbour has not sent within the time limit; names
  /// rank, face, step and policy
  void wait(Stream& stream);
  /// Call in place of wait() if the kernel that reads the inboxes has waited for the flags of signals() itself.
  void wait_in_kernel();
  /// Throws if a neighbour's message never arrived, as a waiting kernel found; sites computed from the missing message
  /// are NaN. Call after synchronizing the stream. begin() checks as well.
  void check();

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::gpu
