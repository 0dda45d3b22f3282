// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The halo of the hopping term on a device: projected half spinors, packed by a kernel into the buffers of
/// gpu::FaceExchange, and how the exterior kernel reads them.
///
/// For direction d, a target site receives (1 -+ gamma_mu) psi of its neighbour, upper two spins, in the storage of
/// the field. These are 12 reals, and in fixed point their scale, in words of 16 bytes, `[column][word][slot]`:
///
///   | storage                 | double | float | fixed16 | fixed8 |
///   |-------------------------|--------|-------|---------|--------|
///   | bytes a slot and column | 96     | 48    | 32      | 16     |

#include "halocline/gpu/face_exchange.hpp"
#include "halocline/qcd/device/spinor_array.cuh"

namespace halocline::qcd::device {

/// For kernels: the received messages, by direction.
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
  /// @param policy  as for gpu::FaceExchange; "auto" means its default here
  /// @throws  as gpu::FaceExchange. Collective: yes.
  HopHalo(ContextPtr context, int columns, std::string_view policy);

  /// Begins a step, packs the half spinors of `in` that neighbours need for their sites of target_parity, and starts
  /// the messages. `in` must hold the other parity. Enqueued. Collective: yes.
  void send(const DeviceSpinor<S>& in, int target_parity, bool dagger);
  /// Waits for all faces. Depending on the policy, the wait is enqueued on the stream or the host waits.
  HaloReader<S> receive();

  /// Parts of send() and receive(), for kernels that pack beside other work: packer() packs into the buffers of the
  /// step that exchange().begin() has opened, and reader() reads the messages that arrive in this step.
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
