// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A Dirac operator D = A - 1/2 hop on a device: the interface of dirac/operator.hpp over fields of a device.
///
/// Its algorithms are those of the CPU (schur/even_odd.hpp). In addition, the last kernel of an application may sum the
/// dot products that a solver needs.

#include "halocline/qcd/device/clover_array.cuh"
#include "halocline/qcd/device/operator.cuh"
#include "halocline/qcd/dirac/cuda_fifth.cuh"
#include "halocline/qcd/dirac/even_odd_operator.hpp"

namespace halocline::qcd::device {

/// y = (C + i tau gamma5) B x, or y = F x, as qcd::SiteTerm, but for both parities.
template <class S>
struct DeviceSiteTerm {
  const DeviceClover<S>* first = nullptr;   ///< B; null for one
  const DeviceClover<S>* second = nullptr;  ///< C; null for the number
  double constant = 1;                      ///< C if `second` is null
  double twist = 0;                         ///< tau
  const DeviceFifth<S>* fifth = nullptr;    ///< F; then all others are ignored

  bool twisted() const noexcept { return second != nullptr || twist != 0; }
};

/// DiracTerms and, if `sums` is given, dot products of the result, as in device::HopTerms.
template <class S>
struct DeviceTerms : DiracTerms<DeviceSpinor<S>, DeviceSiteTerm<S>> {
  gpu::SumBuffer* sums = nullptr;
  int first_sum = 0;
  const DeviceSpinor<S>* with = nullptr;
  solve::RecursionStep step{};
};

template <class S>
class DeviceDirac : public DeviceOperator<S> {
public:
  using Field = DeviceSpinor<S>;
  using Term = DeviceSiteTerm<S>;
  using Terms = DeviceTerms<S>;
  using DeviceOperator<S>::DeviceOperator;

  /// Points of a fifth dimension: so many columns, one after another, belong to one right-hand side.
  virtual int points() const noexcept { return 1; }
  /// A if it is a number; otherwise its typical size.
  virtual double diagonal() const noexcept = 0;
  /// A and A^-1, or with `dagger` their hermitian conjugates; null if A is the number diagonal().
  virtual const Term* site(int parity, bool dagger) const noexcept = 0;
  virtual const Term* inverse_site(int parity, bool dagger) const noexcept = 0;
  /// out = hop(in) on the target parity, with `terms`. Fields hold one parity or both. Enqueued.
  /// @param terms  must not ask for sums unless sums_in_hop()
  /// @param out    must not be terms.add if a term has a twist or a fifth dimension
  /// @throws InvalidArgument  as Hopping::apply does. Collective: yes, where an axis is split.
  virtual void hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) = 0;
  /// True if the Schur complement of D is hermitian and positive.
  virtual bool hermitian_schur() const noexcept { return false; }
  /// Throws if a message of the halo never arrived; see Hopping::check().
  virtual void check() = 0;
  /// True if hop() can sum dot products.
  virtual bool sums_in_hop() const noexcept = 0;

  /// out = A^-1 in, or A^-dagger in, on one parity, which both must hold; out may be in. Enqueued.
  virtual void multiply_inverse_diagonal(Field& out, const Field& in, int parity, bool dagger = false);

  /// @name Sources and solutions of quarks, as of qcd::DiracOperator, for operators on full fields.
  /// @{
  /// Sets the first right-hand sides of a field from sources of quarks, and the others to zero.
  /// @throws InvalidArgument  for a wrong length. Collective: yes, where an axis is split.
  virtual void load_sources(Field& b, std::span<const std::span<const std::complex<double>>> sources);
  /// The quark of the right-hand side `number` of x. Waits.
  /// @throws InvalidArgument  for a wrong length
  virtual void unload_quark(std::span<std::complex<double>> quark, const Field& x, int number);
  /// The same in the middle of the fifth dimension. @throws InvalidArgument  without one
  virtual void unload_midpoint(std::span<std::complex<double>> quark, const Field& x, int number);
  /// Writes 2^exponent times a quark to device memory, as write_canonical(). Enqueued. For fields of double alone.
  virtual void write_quark(std::complex<double>* out, const Field& x, int number, int exponent);
  /// @}

private:
  void enqueue(Field& out, const Field& in, bool dagger, const ResultSums<S>& sums) override;
  bool sums_in_last_kernel() const noexcept override { return sums_in_hop(); }
};

/// out = scale [B] in + add_scale [A] add at the sites of one parity, in a pass of its own; out may be in, or add.
/// @param term, add, add_term  B, add and A; null for none. Enqueued.
/// @throws InvalidArgument  fields of other columns, boxes or parities
template <class S>
void multiply_sites(DeviceSpinor<S>& out, const DeviceSpinor<S>& in, const DeviceSiteTerm<S>* term, double scale,
                    const DeviceSpinor<S>* add, const DeviceSiteTerm<S>* add_term, double add_scale, int parity);

}  // namespace halocline::qcd::device
