// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The halo of the hopping term on a device: projected half spinors, packed by a kernel into the buffers of
/// gpu::FaceExchange, and how the exterior kernel reads them.
///
/// What arrives from direction d at a target site is (1 -+ gamma_mu) psi of its neighbour, upper two spins, in the
/// storage of the field: 12 reals and the scale of fixed point, in words of 16 bytes, `[column][word][slot]`. That is
/// 96, 48, 32 and 16 bytes a slot and column in double, float, fixed16 and fixed8.

#include "halocline/gpu/face_exchange.hpp"
#include "halocline/qcd/device/spinor_array.cuh"

namespace halocline::qcd::device {

/// For kernels: what has arrived, by direction.
template <class S>
struct HaloReader {
  using Real = RealOf<S>;
  const std::byte* inbox[8] = {};  ///< null where the axis is not split
  int slots[8] = {};
  int columns = 1;

  HALOCLINE_INLINE HalfSpinor<Real> load(int d, int slot, int column) const;
};

/// Writes a half spinor into a message of `slots` slots. For packing kernels.
template <class S>
HALOCLINE_INLINE void store_half(std::byte* outbox, int slots, int columns, int slot, int column,
                                 const HalfSpinor<RealOf<S>>& h);
/// Bytes of a message.
template <class S>
constexpr std::size_t halo_bytes(int slots, int columns);

template <class S>
struct HaloPacker;  // detail/halo_pack.cuh

template <class S>
class HopHalo {
public:
  /// @param policy  as gpu::FaceExchange takes it; "auto" is its default here
  /// @throws  as gpu::FaceExchange. Collective: yes.
  HopHalo(ContextPtr context, int columns, std::string_view policy);

  /// Begins a step, packs what neighbours need for their sites of target_parity from `in` (which holds the other
  /// parity), and starts the messages. Enqueued. Collective: yes.
  void send(const DeviceSpinor<S>& in, int target_parity, bool dagger);
  /// The stream waits until all faces are there. Enqueued, or waited for by the host, as the policy does.
  HaloReader<S> receive();

  /// The parts of send() and receive(), for kernels that pack beside other work: what to pack into the buffers of the
  /// step that exchange().begin() has opened, and where what arrives is read.
  HaloPacker<S> packer(const DeviceSpinor<S>& in, int target_parity, bool dagger) const;
  HaloReader<S> reader() const;

  gpu::FaceExchange& exchange() noexcept { return exchange_; }
  const ContextPtr& context() const noexcept { return context_; }

private:
  ContextPtr context_;
  int columns_;
  gpu::FaceExchange exchange_;
};

}  // namespace halocline::qcd::device

#include "halocline/qcd/wilson/detail/halo_access.cuh"
