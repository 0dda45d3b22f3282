// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The scalars of BiCGStab and of CG on the normal equations, for one column, on the host or on a device.
///
/// A solver on the host waits for sums, computes the coefficients of the next update from them, and goes on. On a
/// device this costs a round trip for every sum, as long as the kernels themselves on a small lattice. So an operator
/// may offer a Recursion: the scalars live on the device, and the kernel that completes a sum computes the coefficients
/// itself (RecursionStep). The host enqueues iterations ahead, and reads one |r|^2 of each column and iteration.
///
/// An iteration on the device **stops** when the host must act: a column is paused, or wants its residual to be
/// replaced. The kernels that are enqueued already then change nothing: updates are skipped, and the operator repeats
/// what it computed. The host acts as in any solve and resumes. All decisions are made by ColumnTrack, on both sides
/// from the same numbers, so a stop changes no bit of any column.
///
/// Multiplications that are followed by an addition are written as fma(). Host and device then round alike.

#include <math.h>

#include <cstdint>
#include <span>
#include <vector>

#include "halocline/core/complex.hpp"
#include "halocline/solve/column_track.hpp"
#include "halocline/solve/vector_space.hpp"

namespace halocline::solve {

using Number = core::Complex<double>;

inline Number number(const Scalar& z) { return {z.real(), z.imag()}; }
inline Scalar scalar(const Number& z) { return {z.re, z.im}; }
HALOCLINE_INLINE bool finite(const Number& z) { return finite(z.re) && finite(z.im); }
HALOCLINE_INLINE double magnitude(const Number& z) { return ::hypot(z.re, z.im); }
HALOCLINE_INLINE Number product(const Number& a, const Number& b) {
  return {::fma(a.re, b.re, -(a.im * b.im)), ::fma(a.re, b.im, a.im * b.re)};
}
/// Smith, Comm. ACM 5 (1962) 435: without overflow where the quotient has none, mostly.
HALOCLINE_INLINE Number divide(const Number& n, const Number& d) {
  if (::fabs(d.re) >= ::fabs(d.im)) {
    const double ratio = d.im / d.re, size = ::fma(ratio, d.im, d.re);
    return {::fma(ratio, n.im, n.re) / size, ::fma(-ratio, n.re, n.im) / size};
  }
  const double ratio = d.re / d.im, size = ::fma(ratio, d.re, d.im);
  return {::fma(ratio, n.re, n.im) / size, ::fma(ratio, n.im, -n.re) / size};
}
/// n / d of an active column, otherwise zero. Pauses the column and returns zero if |d| <= floor (breakdown), or a
/// number is not finite.
HALOCLINE_INLINE Number quotient(ColumnTrack& track, const Number& n, const Number& d, double floor = 0.0) {
  const Number none{0.0, 0.0};
  if (!track.active) return none;
  if (!finite(n) || !finite(d)) {
    track.pause(Reason::not_finite);
    return none;
  }
  const bool vanishes = (d.re == 0.0 && d.im == 0.0) || (floor > 0.0 && magnitude(d) <= floor);
  const Number value = vanishes ? none : divide(n, d);
  if (vanishes || !finite(value)) {
    track.pause(Reason::breakdown);
    return none;
  }
  return value;
}

/// The same for real numbers, bit by bit, in a few instructions: where a thread of a device computes it, the others
/// wait.
HALOCLINE_INLINE double quotient(ColumnTrack& track, double n, double d) {
  if (!track.active) return 0.0;
  const double value = n / d;
  if (finite(value) && finite(d)) return value;
  track.pause(finite(n) && finite(d) ? Reason::breakdown : Reason::not_finite);
  return 0.0;
}

/// A cosine this small between two vectors is rounding error.
inline constexpr double vanishing_cosine = 1e-14;

/// vanishing_cosine |left| |right|
HALOCLINE_INLINE double rounding_floor(double left_norm2, double right_norm2) {
  return vanishing_cosine * ::sqrt(left_norm2) * ::sqrt(right_norm2);
}

/// Whether <r0, v> was rounding error, judged by the change alpha v of r. @param rho  |<r0, r>|
HALOCLINE_INLINE bool lost(double rho, double shadow_norm2, double r_norm2, double s_norm2) {
  return !(rho > vanishing_cosine * ::sqrt(shadow_norm2) * (::sqrt(r_norm2) + ::sqrt(s_norm2)));
}

/// The scalars of BiCGStab (bicgstab.hpp), in the order of its sums. In CG (cg_normal.hpp) rho and next are |s|^2.
struct RecursionScalars {
  Number rho{}, next{}, alpha{}, omega{}, beta{};
  double shadow2 = 0.0;  ///< |r0|^2
  double r2 = 0.0, s2 = 0.0;

  /// Begins with r0 = r.
  HALOCLINE_INLINE void begin(double norm2) {
    shadow2 = r2 = norm2;
    next = {norm2, 0.0};
  }
  /// From <r0, v>.
  HALOCLINE_INLINE void take_v(ColumnTrack& track, const Number& v) {
    rho = next;
    alpha = quotient(track, rho, v);
  }
  /// From |q|^2 in CG.
  HALOCLINE_INLINE void take_q(ColumnTrack& track, double q2) {
    rho = next;
    alpha = {quotient(track, rho.re, q2), 0.0};
  }
  /// From `next` in CG.
  HALOCLINE_INLINE void choose_cg_beta(ColumnTrack& track) { beta = {quotient(track, next.re, rho.re), 0.0}; }
  /// From <t, s> and |t|^2.
  HALOCLINE_INLINE void take_t(ColumnTrack& track, const Number& ts, double tt) {
    if (lost(magnitude(rho), shadow2, r2, s2)) {
      track.pause(Reason::breakdown);
      alpha = {0.0, 0.0};
    }
    omega = {0.0, 0.0};
    if (track.small_enough(s2)) return;
    if (magnitude(ts) <= rounding_floor(s2, tt)) track.pause(Reason::breakdown);
    omega = quotient(track, ts, {tt, 0.0});
  }
  /// From `next`, <r0, r>, and r2.
  HALOCLINE_INLINE void choose_beta(ColumnTrack& track) {
    if (magnitude(next) <= rounding_floor(shadow2, r2)) track.pause(Reason::breakdown);
    const Number from_rho = quotient(track, next, rho), from_omega = quotient(track, alpha, omega);
    beta = product(from_rho, from_omega);
  }
  HALOCLINE_INLINE Number minus_beta_omega() const { return -product(beta, omega); }
};

/// A column on a device.
struct RecursionColumn {
  ColumnTrack track;
  RecursionScalars scalars;
  bool idle = false;  ///< takes no part; the host knows
  int turn = 0;       ///< iterations since resume(), also of an idle column
};

/// The sum after which a step follows. `_first` belongs to the first sum of an iteration, `_last` to the last one.
enum class StepKind : std::int32_t {
  none,
  bicgstab_v_first,  ///< <r0, v>
  bicgstab_s,        ///< |s|^2
  bicgstab_t,        ///< <t, s> and |t|^2
  bicgstab_r_last,   ///< |r|^2 and <r0, r>
  cg_q_first,        ///< |q|^2
  cg_r,              ///< |r|^2
  cg_s_last,         ///< |s|^2
};

/// The numbers of a recursion on a device.
struct RecursionMemory {
  RecursionColumn* column = nullptr;
  Number* stored = nullptr;  ///< [coefficient][column]
  int columns = 0;
  /// [0] is set after the last sum of an iteration that stops; the updates behind that sum look at it. [1] is set
  /// behind the first sum of the next one; all others look at it. So no kernel reads a word that its own last block may
  /// write.
  unsigned* stop = nullptr;
  /// For the host, [turn mod 2][column]: |r|^2; negative (also -0) if the iteration stops for this column.
  double* report = nullptr;
};

/// The work behind a sum: computes what follows from it for one column. A plain value.
struct RecursionStep {
  StepKind kind = StepKind::none;
  RecursionMemory memory;
  /// Where the dot products stand among the sums of a launch: numbers of real and imaginary part (-1: zero), and the
  /// sign of the latter.
  struct Place {
    int re = 0, im = -1;
    double sign = 1.0;
  };
  Place place[2];

  HALOCLINE_INLINE explicit operator bool() const { return kind != StepKind::none; }

  /// @param sums     of this column
  /// @param publish  publish(place, number) stores a number for the host
  template <class Publish>
  HALOCLINE_INLINE void run(int column, const double* sums, const Publish& publish) const {
    const Number first = dot(sums, 0), second = dot(sums, 1);
    const Report report = advance(kind, memory, column, first, second.re, second.im);
    if (report.place != nullptr) publish(report.place, report.size);
  }

private:
  HALOCLINE_INLINE Number dot(const double* sums, int number) const {
    const Place& at = place[number];
    return {sums[at.re], at.im >= 0 ? at.sign * sums[at.im] : 0.0};
  }

  static HALOCLINE_INLINE void take(StepKind kind, RecursionColumn& own, const Number& first, const Number& second) {
    RecursionScalars& scalars = own.scalars;
    switch (kind) {
    case StepKind::bicgstab_v_first:
      return scalars.take_v(own.track, first);
    case StepKind::bicgstab_s:
      scalars.s2 = first.re;
      return;
    case StepKind::bicgstab_t:
      return scalars.take_t(own.track, first, second.re);
    case StepKind::bicgstab_r_last:
      scalars.r2 = first.re;
      scalars.next = second;
      own.track.record(first.re);
      if (!own.track.wants_replacement()) scalars.choose_beta(own.track);
      return;
    case StepKind::cg_q_first:
      return scalars.take_q(own.track, first.re);
    case StepKind::cg_r:
      scalars.r2 = first.re;
      return;
    case StepKind::cg_s_last:
      scalars.next = {first.re, 0.0};
      own.track.record(scalars.r2);
      if (!own.track.wants_replacement()) scalars.choose_cg_beta(own.track);
      return;
    case StepKind::none:
      return;
    }
  }

  /// What the host is told; no place: nothing.
  struct Report {
    double* place = nullptr;
    double size = 0.0;
  };

  /// Called, not inlined, on a device, so that the work of the kernel before it keeps its registers.
  static HALOCLINE_KERNEL_CALL Report advance(StepKind kind, const RecursionMemory& memory, int column, Number first,
                                              double second_re, double second_im) {
    const bool begins = kind == StepKind::bicgstab_v_first || kind == StepKind::cg_q_first;
    const bool ends = kind == StepKind::bicgstab_r_last || kind == StepKind::cg_s_last;
    // Both loads before the first branch, so that their latencies overlap.
    const unsigned stopped = memory.stop[begins ? 0 : 1];
    RecursionColumn own = memory.column[column];
    if (stopped != 0) {
      if (begins) memory.stop[1] = 1;
      return {};
    }
    if (!own.idle) take(kind, own, first, {second_re, second_im});
    if (ends) ++own.turn;
    memory.column[column] = own;
    const RecursionScalars& scalars = own.scalars;
    const auto put = [&](StoredCoefficient which, const Number& value) {
      memory.stored[static_cast<int>(which) * memory.columns + column] = value;
    };
    // Those that this sum may have changed.
    using enum StepKind;
    if (kind == bicgstab_v_first || kind == bicgstab_t || kind == cg_q_first) {
      put(StoredCoefficient::alpha, scalars.alpha);
      put(StoredCoefficient::minus_alpha, -scalars.alpha);
    }
    if (kind == bicgstab_t) {
      put(StoredCoefficient::omega, scalars.omega);
      put(StoredCoefficient::minus_omega, -scalars.omega);
    }
    if (ends) put(StoredCoefficient::beta, scalars.beta);
    if (kind == bicgstab_r_last) put(StoredCoefficient::minus_beta_omega, scalars.minus_beta_omega());
    if (!ends) return {};
    const bool stops = !own.idle && (!own.track.active || own.track.wants_replacement());
    if (stops) memory.stop[0] = 1;
    const double size = own.idle ? 0.0 : ::fabs(scalars.r2);
    return {memory.report + (own.turn % 2) * memory.columns + column, stops ? -size : size};
  }
};

/// The report of an iteration.
struct RecursionReport {
  bool stopped = false;            ///< the host must act
  std::span<const Scalar> norms2;  ///< |r|^2, shape (columns,), valid until the next report
};

}  // namespace halocline::solve
