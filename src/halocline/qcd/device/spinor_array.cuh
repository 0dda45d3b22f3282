// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Spinor fields on a device.
///
/// The 24 reals of a site and column, in the order [colour][spin][re, im], are cut into chunks of what a thread loads
/// at once, and chunk j of consecutive sites stands side by side: `[column][chunk][site]`. A chunk is 16 bytes (two
/// doubles, four floats, eight 16-bit integers; eight 8-bit integers are 8 bytes, as 24 are no multiple of 16), so a
/// warp reads whole lines. Scales of fixed-point fields are a float array `[column][site]` behind the chunks.

#include "halocline/gpu/array.hpp"
#include "halocline/lattice/field.hpp"
#include "halocline/qcd/device/context.cuh"
#include "halocline/qcd/device/storage.cuh"
#include "halocline/qcd/wilson/detail/kernels.hpp"

namespace halocline::qcd::device {

template <class Real>
using Spinor = wilson::Spinor<Real>;
template <class Real>
using HalfSpinor = wilson::HalfSpinor<Real>;

/// Read access to one parity, for kernels. `stride` counts sites of one chunk row.
template <class S>
struct SpinorReader {
  using Real = RealOf<S>;
  const typename Storage<S>::Word* data = nullptr;
  const float* scale = nullptr;  ///< fixed point only
  int stride = 0;
  int columns = 1;

  HALOCLINE_INLINE Spinor<Real> load(int site, int column) const;
};
/// The same with write access. A stored fixed-point spinor gets its scale from its own largest real.
template <class S>
struct SpinorWriter {
  using Real = RealOf<S>;
  typename Storage<S>::Word* data = nullptr;
  float* scale = nullptr;
  int stride = 0;
  int columns = 1;

  HALOCLINE_INLINE Spinor<Real> load(int site, int column) const {
    return SpinorReader<S>{data, scale, stride, columns}.load(site, column);
  }
  HALOCLINE_INLINE void store(int site, int column, const Spinor<Real>& psi) const;
};

/// A field on one parity or both. Move-only; contents unspecified at first.
template <class S>
class DeviceSpinor {
public:
  using Real = RealOf<S>;

  DeviceSpinor() = default;
  /// @param columns  1 to 32. @throws InvalidArgument  for others. Collective: no.
  DeviceSpinor(ContextPtr context, lattice::Subset subset, int columns = 1);

  const ContextPtr& context() const noexcept { return context_; }
  lattice::Subset subset() const noexcept { return subset_; }
  int columns() const noexcept { return columns_; }
  int sites() const noexcept { return context_->box.sites; }  ///< of each parity that is held

  /// The field must hold this parity.
  SpinorReader<S> reader(int parity) const noexcept;
  SpinorWriter<S> writer(int parity) noexcept;
  /// Memory of all, for copies and borders.
  gpu::DeviceArray<std::byte>& memory() noexcept { return memory_; }
  const gpu::DeviceArray<std::byte>& memory() const noexcept { return memory_; }

  /// Bytes of a field, without making one.
  static std::int64_t bytes(const Box& box, lattice::Subset subset, int columns);

private:
  ContextPtr context_;
  lattice::Subset subset_ = lattice::Subset::full;
  int columns_ = 1;
  gpu::DeviceArray<std::byte> memory_;
};

/// One column from or to the local box in canonical order [t][z][y][x][spin][colour]; of the sites that the field
/// holds. The conversion runs on the device, in and out of double. Waits. @throws InvalidArgument  a wrong length
template <class S>
void from_canonical(DeviceSpinor<S>& field, int column, std::span<const std::complex<double>> canonical);
template <class S>
void to_canonical(std::span<std::complex<double>> canonical, const DeviceSpinor<S>& field, int column = 0);
/// out = in between storages; same subset and columns. Enqueued. @throws InvalidArgument  where they differ
template <class To, class From>
void convert(DeviceSpinor<To>& out, const DeviceSpinor<From>& in);

}  // namespace halocline::qcd::device

#include "halocline/qcd/device/detail/spinor_access.cuh"
