// SPDX-License-Identifier: Apache-2.0
/// @file
/// Policy "nvshmem": inboxes and flags in NVSHMEM's symmetric memory, which reaches beyond a machine.
///
/// A neighbour may be within reach of loads and stores (on the same machine, or in the same NVLink domain). Such a
/// neighbour is treated as by the policies over CUDA IPC. If all neighbours of a process are within reach, packing,
/// interior and exterior are one kernel. For a neighbour across the network the packing kernel writes an outbox here,
/// and a put with a signal follows it on the stream; the exterior is then a kernel of its own. In both cases the same
/// flag word announces the message, so a process need not know how its neighbours send. Only NVSHMEM's host library is
/// used, so nothing is linked on the device.
///
/// Processing elements are the ranks of the grid. The first user in a process initialises the library. Symmetric memory
/// is freed at the end of the process. Until then a later halo of the same size reuses the piece of one that has been
/// destroyed on every rank (symmetric_pieces.hpp). Stores of the former halo may then still be under way, so all ranks
/// wait for their devices and for their own puts before any rank clears the flags.
///
/// Compiled if nvcc is the compiler and CMake has found the library. Never run so far.

#include "halocline/gpu/detail/halo_policy.hpp"

#if defined(__CUDACC__) && defined(HALOCLINE_NVSHMEM)

#include <cuda_runtime.h>
#include <nvshmem_host.h>

#include <algorithm>
#include <cstring>

#include "halocline/core/error.hpp"
#include "halocline/gpu/array.hpp"
#include "halocline/gpu/detail/await_faces.hpp"
#include "halocline/gpu/detail/symmetric_pieces.hpp"

namespace halocline::gpu::detail {
namespace {

constexpr std::size_t flag_stride = 256;  // [bytes]
constexpr std::int64_t count_stride = 32;

void require(bool good, const char* call, const comm::ProcessGrid& grid) {
  if (!good) throw core::Error("rank " + std::to_string(grid.rank()) + ": " + call + " of NVSHMEM failed", grid.rank());
}

/// Starts NVSHMEM with the ranks of this grid as its processing elements. Collective.
void start_library(const comm::ProcessGrid& grid) {
  const comm::Communicator& group = grid.communicator();
  const bool running = nvshmemx_init_status() >= NVSHMEM_STATUS_IS_INITIALIZED;
  if (!group.any(running)) {
    nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
    comm::on_every_rank(group, [&] {
      if (grid.rank() == 0) require(nvshmemx_get_uniqueid(&id) == 0, "nvshmemx_get_uniqueid", grid);
    });
    group.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
    nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
    nvshmemx_set_attr_uniqueid_args(grid.rank(), grid.size(), &id, &attributes);
    const int status = nvshmemx_hostlib_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes);
    comm::on_every_rank(group, [&] { require(status == 0, "nvshmemx_hostlib_init_attr", grid); });
  }
  comm::on_every_rank(group, [&] {
    if (nvshmem_my_pe() != grid.rank() || nvshmem_n_pes() != grid.size())
      throw core::InvalidArgument(
          "NVSHMEM runs with other processes than this grid's; let all halos of a program be those of one group, or "
          "take another policy");
  });
}

/// The pieces of this process, as NVSHMEM's memory is the process's. Never destroyed, because a halo may be destroyed
/// at the very end of the process.
SymmetricPieces& pieces() {
  static auto* const all = new SymmetricPieces;
  return *all;
}

/// A piece of symmetric memory. Its destructor says that this rank has done with it.
class HeldPiece {
public:
  HeldPiece() = default;
  HeldPiece(const HeldPiece&) = delete;
  HeldPiece& operator=(const HeldPiece&) = delete;
  ~HeldPiece() {
    if (taken_.number >= 0) pieces().release(taken_.number);
  }

  /// Call once. Contents are unspecified; no store of a former user is under way. Collective: yes.
  std::byte* take(const HaloPlan& plan, std::size_t bytes) {
    const comm::Communicator& group = plan.grid.communicator();
    taken_ = pieces().take(group, bytes, [](std::size_t n) { return static_cast<std::byte*>(nvshmem_malloc(n)); });
    comm::on_every_rank(group, [&] {
      if (taken_.data == nullptr)
        throw core::Error("rank " + std::to_string(plan.grid.rank()) + ": NVSHMEM has no " + std::to_string(bytes) +
                              " bytes of symmetric memory left; set NVSHMEM_SYMMETRIC_SIZE higher",
                          plan.grid.rank());
      if (!taken_.reused) return;
      plan.device.synchronize();
      nvshmem_quiet();
    });
    return taken_.data;
  }

private:
  SymmetricPieces::Taken taken_;
};

class NvshmemHalo final : public HaloPolicy {
public:
  explicit NvshmemHalo(const HaloPlan& plan) : plan_(plan), places_(plan) {
    start_library(plan.grid);
    const comm::Communicator& group = plan.grid.communicator();
    comm::on_every_rank(group, [&] {
      counts_ = DeviceArray<std::uint32_t>(plan.device, most_faces * count_stride);
      failed_ = PinnedArray<std::uint64_t>(plan.device, 1);
    });
    // Symmetric memory has one layout on all ranks: each face gets the size of the largest one.
    std::array<double, most_faces> longest{};
    for (int face = 0; face < most_faces; ++face) longest[at(face)] = static_cast<double>(plan.bytes[at(face)]);
    group.max(longest);
    for (int face = 0; face < most_faces; ++face) {
      begin_[at(face)] = buffer_;
      buffer_ += (static_cast<std::size_t>(longest[at(face)]) + 255) / 256 * 256;
    }
    std::byte* const memory = piece_.take(plan, 4 * buffer_ + most_faces * flag_stride);
    comm::on_every_rank(group, [&] {  // no rank goes on, and sends, before all flags are zero
      in_ = memory;
      out_ = memory + 2 * buffer_;
      flags_ = memory + 4 * buffer_;
      Stream stream(plan.device);
      stream.set_zero(flags_, most_faces * flag_stride);
      stream.set_zero(counts_.data(), counts_.bytes());
      stream.synchronize();
      for (int face = 0; face < most_faces; ++face) {
        if (!plan.active(face)) continue;
        there_[at(face)] = static_cast<std::byte*>(nvshmem_ptr(in_, plan.neighbour[at(face)]));
        if (there_[at(face)] == nullptr) direct_ = false;
      }
    });
  }

  bool direct() const noexcept override { return direct_; }
  void begin(Stream&, std::uint64_t) override {}

  std::byte* outbox(int face, std::uint64_t step) const noexcept override {
    const std::size_t place = (step % 2) * buffer_;
    return there_[at(face)] != nullptr ? there_[at(face)] + place + begin_[at(face ^ 1)]
                                       : out_ + place + begin_[at(face)];
  }
  const std::byte* inbox(int face, std::uint64_t step) const noexcept override {
    return in_ + (step % 2) * buffer_ + begin_[at(face)];
  }

  void post(Stream& stream, std::uint64_t step) override {
    for (int face = 0; face < most_faces; ++face)
      if (plan_.active(face) && there_[at(face)] == nullptr)
        nvshmemx_putmem_signal_on_stream(in_ + (step % 2) * buffer_ + begin_[at(face ^ 1)], outbox(face, step),
                                         plan_.bytes[at(face)], flag(face ^ 1), step, NVSHMEM_SIGNAL_SET,
                                         plan_.neighbour[at(face)], static_cast<cudaStream_t>(stream.handle()));
  }

  void wait(Stream& stream, std::uint64_t step) override {
    await_faces(stream, signals(step));            // within the time limit; sets the flags of faces given up
    for (int face = 0; face < most_faces; ++face)  // NVSHMEM's wait makes the network's writes visible
      if (plan_.active(face) && there_[at(face)] == nullptr)
        nvshmemx_signal_wait_until_on_stream(flag(face), NVSHMEM_CMP_GE, step,
                                             static_cast<cudaStream_t>(stream.handle()));
  }

  FaceSignals signals(std::uint64_t step) const noexcept override {
    FaceSignals out;
    for (int face = 0; face < most_faces; ++face) {
      if (!plan_.active(face)) continue;
      if (there_[at(face)] != nullptr)
        out.raise[face] = reinterpret_cast<std::uint64_t*>(there_[at(face)] + 4 * buffer_ + at(face ^ 1) * flag_stride);
      out.await[face] = flag(face);
      out.arriving[face] = const_cast<std::byte*>(inbox(face, step));
      out.bytes[face] = plan_.bytes[at(face)];
      out.packed[face] = const_cast<std::uint32_t*>(counts_.data()) + face * count_stride;
    }
    out.step = step;
    out.failed = const_cast<std::uint64_t*>(failed_.data());
    out.time_limit = plan_.time_limit;
    return out;
  }
  std::uint64_t failed() const noexcept override { return *const_cast<const volatile std::uint64_t*>(failed_.data()); }

private:
  static constexpr std::size_t at(int face) noexcept { return static_cast<std::size_t>(face); }
  std::uint64_t* flag(int face) const noexcept {
    return reinterpret_cast<std::uint64_t*>(flags_ + at(face) * flag_stride);
  }

  HaloPlan plan_;
  FacePlaces places_;
  HeldPiece piece_;
  std::size_t buffer_ = 0;  ///< size of one inbox of all faces [bytes], the same on every rank
  std::array<std::size_t, most_faces> begin_{};
  std::byte *in_ = nullptr, *out_ = nullptr, *flags_ = nullptr;  ///< in symmetric memory
  std::array<std::byte*, most_faces> there_{};                   ///< in_ of the neighbour; null across the network
  bool direct_ = true;
  DeviceArray<std::uint32_t> counts_;
  PinnedArray<std::uint64_t> failed_;
};

}  // namespace

std::string nvshmem_halo_unavailable_reason(const Device& device) {
  return device.on_gpu() ? "" : "NVSHMEM needs GPUs, and this is the host executor";
}
std::unique_ptr<HaloPolicy> make_nvshmem_halo(const HaloPlan& plan) { return std::make_unique<NvshmemHalo>(plan); }

}  // namespace halocline::gpu::detail

#else

#include "halocline/core/error.hpp"

namespace halocline::gpu::detail {

std::string nvshmem_halo_unavailable_reason(const Device&) { return "this build was made without NVSHMEM"; }
std::unique_ptr<HaloPolicy> make_nvshmem_halo(const HaloPlan&) {
  throw core::InvalidArgument(nvshmem_halo_unavailable_reason(Device::host_executor()));
}

}  // namespace halocline::gpu::detail

#endif
