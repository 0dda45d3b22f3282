// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The recursion of a Krylov solver on a device (solve/recursion.hpp): its scalars, and iterations enqueued ahead.
///
/// From its second run on, an iteration is a graph where the operator allows one, so that the host makes one launch an
/// iteration. The host looks for |r|^2 of an iteration while the next one runs. Only on one process, because sums over
/// processes need the host.

#include <array>
#include <functional>
#include <initializer_list>
#include <utility>
#include <vector>

#include "halocline/gpu/array.hpp"
#include "halocline/gpu/recorded_work.hpp"
#include "halocline/qcd/device/spinor_space.cuh"
#include "halocline/solve/recursion.hpp"

namespace halocline::qcd::device {

template <class S>
class DeviceOperator;

template <class S>
class Recursion {
public:
  using Vector = DeviceSpinor<S>;
  using Dots = std::initializer_list<solve::Dot<Vector>>;
  using Updates = std::initializer_list<solve::Update<Vector>>;

  /// Refers to the operator and the space, which must outlive it.
  Recursion(DeviceOperator<S>& a, const SpinorSpace<S>& space);
  ~Recursion();
  Recursion(const Recursion&) = delete;
  Recursion& operator=(const Recursion&) = delete;

  /// Begins, or goes on after a stop, from these scalars. Enqueued.
  void resume(std::span<const solve::RecursionColumn> columns);

  /// Enqueues iterations until `ahead` of them, 1 or 2, have not been reported. `body` enqueues one iteration by the
  /// members below.
  /// @param vectors  all vectors that it names; a graph is kept for the memory of these
  void run_ahead(int ahead, std::initializer_list<const Vector*> vectors, const std::function<void()>& body);
  /// Waits for the oldest iteration without a report. @throws core::Error  work on the device failed
  solve::RecursionReport wait();
  /// The columns after a stop. Waits for the stream.
  std::span<const solve::RecursionColumn> fetch();

  // In `body` only. The first sum of an iteration has a step `..._first`, the last one `..._last`.
  void apply(Vector& out, const Vector& in, Dots dots, solve::StepKind kind) {
    apply_and_step(out, in, false, dots, kind);
  }
  void apply_dagger(Vector& out, const Vector& in, Dots dots, solve::StepKind kind) {
    apply_and_step(out, in, true, dots, kind);
  }
  void update(Updates updates, Dots dots, solve::StepKind kind);
  /// Updates behind the last sum.
  void update(Updates updates);

  /// Bytes on the device.
  static std::int64_t bytes(int columns) {
    return std::int64_t{sizeof(Head)} + std::int64_t{sizeof(solve::Number)} * solve::stored_coefficients * columns;
  }
  /// Number of graphs kept.
  std::size_t graphs() const noexcept { return work_.graphs(); }

private:
  /// The exchange, and the memory of the vectors.
  using Key = std::pair<std::uint64_t, std::vector<const void*>>;
  /// Copied to the device as one piece.
  struct Head {
    solve::RecursionColumn column[32];
    unsigned stop[2];
  };
  solve::RecursionStep step(solve::StepKind kind);
  void apply_and_step(Vector& out, const Vector& in, bool dagger, Dots dots, solve::StepKind kind);
  void forget_reports();
  double* report(int turn) { return reports_.data() + turn % 2 * space_->columns(); }

  DeviceOperator<S>* a_;
  const SpinorSpace<S>* space_;
  gpu::DeviceArray<Head> head_;
  gpu::DeviceArray<solve::Number> stored_;
  gpu::PinnedArray<Head> staged_;
  gpu::PinnedArray<double> reports_;  ///< [turn mod 2][column]
  gpu::Event uploaded_;
  std::array<gpu::Event, 2> ended_;  ///< the iteration of this turn, mod 2
  int enqueued_ = 0, heard_ = 0;     ///< turns since resume()
  solve::Scalars norms2_;
  gpu::RepeatedWork<Key> work_{8};
};

}  // namespace halocline::qcd::device
