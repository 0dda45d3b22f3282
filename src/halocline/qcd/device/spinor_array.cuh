// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Spinor fields on a device.
///
/// The 24 reals of a site and column, in the order [colour][spin][re, im], are a record of record_access.cuh. A record
/// is cut into chunks that a thread loads at once. The chunks of consecutive sites are contiguous,
/// `[column][chunk][site]`, so a warp reads whole lines. A chunk is 16 bytes: two doubles, four floats, eight 16-bit or
/// sixteen 8-bit integers. A fixed8 spinor has a second chunk of 8 bytes. A row of chunks has padded(sites) places. The
/// scales of a fixed-point field are a float array `[column][site]`. A field of both parities holds the records of
/// parity 0, then those of parity 1, then the scales of each parity.
///
/// A staggered quark has 6 reals at a site. Its fields have the same records, each of four consecutive sites: the index
/// "spin" of the record counts the sites. So all algebra of vectors is the same, and so is the memory that a warp
/// reads.
///
/// A reader uses the read-only path of the device, so no kernel may write a field that it also reads through a reader.
/// A kernel that must do both loads through the writer.

#include <cassert>
#include <complex>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "halocline/gpu/array.hpp"
#include "halocline/lattice/field.hpp"
#include "halocline/qcd/device/context.cuh"
#include "halocline/qcd/device/storage.cuh"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/site/hop.hpp"

namespace halocline::qcd::device {

template <class Real>
using Spinor = wilson::Spinor<Real>;
template <class Real>
using HalfSpinor = wilson::HalfSpinor<Real>;

/// Read access to one parity, for kernels. `stride` is the length of a row of chunks in sites.
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

  HALOCLINE_INLINE Spinor<Real> load(int site, int column) const;
  /// @param streams  the second-level cache of a GPU gives the data up before others
  HALOCLINE_INLINE void store(int site, int column, const Spinor<Real>& psi, bool streams = false) const;
};

/// A field on one parity or both. Move-only; contents unspecified at first. Its memory comes from the pool of its
/// context and goes back there, so it may be destroyed while work on it is enqueued on the context's stream.
template <class S>
class DeviceSpinor {
public:
  using Real = RealOf<S>;

  DeviceSpinor() = default;
  /// @param columns     1 to 2048
  /// @param components  complex numbers of a quark at one site: 12, or 3 for staggered quarks
  /// @throws InvalidArgument  for others, or three components on a box whose sites of one parity are no multiple of 4.
  /// Collective: no.
  DeviceSpinor(ContextPtr context, lattice::Subset subset, int columns = 1, int components = spinor_components);
  DeviceSpinor(DeviceSpinor&&) noexcept = default;
  /// Swaps, so that memory and the context that keeps its pool alive stay together.
  DeviceSpinor& operator=(DeviceSpinor&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(subset_, other.subset_);
    std::swap(columns_, other.columns_);
    std::swap(components_, other.components_);
    std::swap(memory_, other.memory_);
    return *this;
  }

  const ContextPtr& context() const noexcept { return context_; }
  lattice::Subset subset() const noexcept { return subset_; }
  int columns() const noexcept { return columns_; }
  int components() const noexcept { return components_; }
  /// Number of records of one parity and column: its sites, or a quarter of them for staggered quarks.
  int sites() const noexcept { return context_->box.sites / (spinor_components / components_); }

  /// The field must hold this parity.
  SpinorReader<S> reader(int parity) const noexcept {
    const auto* bytes = memory_.data();
    return {reinterpret_cast<const Word*>(bytes) + place(parity) * spinor_reals, scale_of(bytes, parity), stride(),
            columns_};
  }
  SpinorWriter<S> writer(int parity) noexcept {
    auto* bytes = memory_.data();
    return {reinterpret_cast<Word*>(bytes) + place(parity) * spinor_reals, scale_of(bytes, parity), stride(), columns_};
  }
  /// The whole memory of the field.
  gpu::DeviceArray<std::byte>& memory() noexcept { return memory_; }
  const gpu::DeviceArray<std::byte>& memory() const noexcept { return memory_; }

  /// Bytes of a field, without making one.
  static std::int64_t bytes(const Box& box, lattice::Subset subset, int columns, int components = spinor_components);

private:
  using Word = typename Storage<S>::Word;

  int parities() const noexcept { return subset_ == lattice::Subset::full ? 2 : 1; }
  int stride() const noexcept { return padded(sites()); }
  /// Number of places before those of a parity, over all columns.
  std::int64_t place(int parity) const noexcept {
    assert(subset_ == lattice::Subset::full || static_cast<int>(subset_) == parity);
    return subset_ == lattice::Subset::full ? std::int64_t{stride()} * columns_ * parity : 0;
  }
  template <class Byte>
  auto scale_of(Byte* bytes, int parity) const noexcept {
    using Float = std::conditional_t<std::is_const_v<Byte>, const float, float>;
    if constexpr (Storage<S>::scaled)
      return reinterpret_cast<Float*>(bytes +
                                      std::int64_t{stride()} * columns_ * parities() * spinor_reals * sizeof(Word)) +
             place(parity);
    else
      return static_cast<Float*>(nullptr);
  }

  ContextPtr context_;  // destroyed after the memory, whose pool it owns
  lattice::Subset subset_ = lattice::Subset::full;
  int columns_ = 1;
  int components_ = spinor_components;
  gpu::DeviceArray<std::byte> memory_;
};

/// Copies one column from or to the local box in canonical order [t][z][y][x][spin][colour], or [t][z][y][x][colour] of
/// staggered quarks, for the sites that the field holds. Other sites of the box keep their values. The device converts
/// from and to double. When from_canonical() returns, it has read the array, but the device may still be working.
/// to_canonical() waits for the device. Consecutive calls for several columns overlap. The stream must not be
/// capturing.
/// @throws InvalidArgument  for a wrong length, a column that the field does not have, or a stream that is capturing.
///                          Collective: no.
template <class S>
void from_canonical(DeviceSpinor<S>& field, int column, std::span<const std::complex<double>> canonical);
template <class S>
void to_canonical(std::span<std::complex<double>> canonical, const DeviceSpinor<S>& field, int column = 0);
/// Copies `count` columns of one parity, from column `from` of `in` to column `to` of `out`. Enqueued.
/// @throws InvalidArgument  for fields of different contexts, or without that parity or these columns
template <class S>
void copy_columns(DeviceSpinor<S>& out, int to, const DeviceSpinor<S>& in, int from, int count, int parity);
/// out = in, converted to the storage of out; same context, subset, columns and components. Enqueued.
/// @throws InvalidArgument  if they differ
template <class To, class From>
void convert(DeviceSpinor<To>& out, const DeviceSpinor<From>& in);

extern template class DeviceSpinor<double>;
extern template class DeviceSpinor<float>;
extern template class DeviceSpinor<Fixed16>;
extern template class DeviceSpinor<Fixed8>;

}  // namespace halocline::qcd::device

#include "halocline/qcd/device/detail/spinor_access.cuh"
