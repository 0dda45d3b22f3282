// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The kernel of SpinorSpace: a short list of updates and dot products, interpreted point by point.
///
/// Lists differ from solver to solver, and the fields are far larger than any cache. So a launch should read a vector
/// from memory once, however often the list names it. A thread goes through the list for one element. In floating point
/// an element is four chunks of 16 bytes (of one or two complex numbers each). In fixed point it is a whole spinor,
/// because the scale depends on all reals of the spinor. A thread keeps the element that it wrote last in registers.
/// Others that it has touched are still in the caches a few instructions later. All threads take the same branches.
///
/// The list is an argument of the kernel, coefficients included, so nothing has to be copied before a launch. The
/// coefficients of a recursion (solve/recursion.hpp) lie in device memory instead, where the steps of earlier kernels
/// wrote them. The constants below limit the length of a list; SpinorSpace cuts longer lists.
///
/// Bytes for each element and column, and each vector read or written: 64; in fixed point a spinor and its scale.

#include "halocline/gpu/sum.cuh"
#include "halocline/qcd/device/spinor_array.cuh"
#include "halocline/qcd/field/components.hpp"
#include "halocline/solve/recursion.hpp"

namespace halocline::qcd::device::detail {

inline constexpr int most_updates = 4, most_terms = 8, most_dots = 4;
/// Most dot products of one launch. In fixed point, the registers hold two whole spinors and their sums.
template <class S>
inline constexpr int dots_of_launch = Storage<S>::scaled ? 2 : most_dots;
/// Most coefficients of a list, [entry][column]: five entries for 32 columns. One update has at most three (its scale
/// and those of two terms).
inline constexpr int most_coefficients = 160;

/// The memory of a vector, beginning with its first parity.
template <class S>
struct Operand {
  typename Storage<S>::Word* data = nullptr;
  float* scale = nullptr;
};
/// The memory layout of all vectors of a space.
struct VectorShape {
  std::int64_t sites = 0;         ///< number of sites of each parity
  std::int64_t stride = 0;        ///< between the chunks of a column
  std::int64_t second = 0;        ///< words from the first parity to the second
  std::int64_t second_scale = 0;  ///< floats from the scales of the first parity to those of the second
  std::int64_t elements = 0;      ///< of each parity (Place::elements)
  int columns = 1;                ///< of the space: vectors
  int points = 1;                 ///< columns of a field that make one vector
};

template <class S>
struct AlgebraList {
  static constexpr int one = -1;  ///< entry of the coefficient one
  /// The entry of a coefficient in device memory.
  static constexpr int entry_of(solve::StoredCoefficient stored) { return -2 - static_cast<int>(stored); }

  struct Term {
    Operand<S> vector;
    int entry;  ///< number of its coefficient, or as above
  };
  struct Update {
    Operand<S> target;
    int first_term, terms;
    int scale;  ///< entry of the factor on the old value
    bool keep;  ///< whether the old value of the target is kept
  };
  struct Dot {
    Operand<S> left, right;
  };
  VectorShape shape;
  int updates = 0, dots = 0;
  Update update[most_updates];
  Term term[most_terms];
  Dot dot[most_dots];
  core::Complex<RealOf<S>> coefficient[most_coefficients];
  const core::Complex<double>* stored = nullptr;  ///< [coefficient][column]
  const unsigned* stop = nullptr;                 ///< not zero there: no vector changes; null: the kernel does its work
};

/// The element of a thread in floating point: up to four chunks of 16 bytes, 256 apart, so that a warp reads whole
/// lines and a thread has four loads in flight. 256 elements cover 1024 consecutive chunks of one parity.
template <class S>
struct ChunkPlace {
  using Real = RealOf<S>;
  static constexpr int chunk = 16 / static_cast<int>(sizeof(Real));  ///< reals of a chunk
  static constexpr int chunks_of_site = spinor_reals / chunk;
  static constexpr int chunks = 4, apart = 256;
  static constexpr int reals = chunks * chunk;
  using Value = Record<Real, reals>;
  using Loaded = Value;

  std::int64_t offset;   ///< of the first chunk
  int further[chunks];   ///< of each, from the first
  int present = chunks;  ///< the others lie behind the end of the parity

  /// Number of elements that one parity of a vector has, for so many sites times points.
  static std::int64_t elements(std::int64_t sites) {
    return (chunks_of_site * sites + chunks * apart - 1) / (chunks * apart) * apart;
  }
  HALOCLINE_INLINE ChunkPlace(const VectorShape& shape, std::int64_t element, int column) {
    const std::int64_t rows = std::int64_t{chunks_of_site} * shape.points, all = rows * shape.sites;
    const bool second = element >= shape.elements;
    if (second) element -= shape.elements;
    const std::int64_t first = element / apart * (chunks * apart) + element % apart;
    const std::int64_t left = (all - first + apart - 1) / apart;
    if (left < chunks) present = static_cast<int>(left);
    const std::int64_t begin = place(shape, first);
    offset = (column * rows * shape.stride + begin) * chunk + (second ? shape.second : 0);
    HALOCLINE_UNROLLED(4)
    for (int i = 0; i < chunks; ++i) further[i] = static_cast<int>(place(shape, first + i * apart) - begin) * chunk;
  }
  HALOCLINE_INLINE Loaded load(const Operand<S>& v) const {
    Value value;
    load_chunk<0>(value, v);
    load_chunk<1>(value, v);
    load_chunk<2>(value, v);
    load_chunk<3>(value, v);
    return value;
  }
  static HALOCLINE_INLINE const Value& decode(const Loaded& loaded) { return loaded; }
  HALOCLINE_INLINE const Loaded& store(const Operand<S>& v, const Value& value) const {
    store_chunk<0>(v, value);
    store_chunk<1>(v, value);
    store_chunk<2>(v, value);
    store_chunk<3>(v, value);
    return value;
  }

private:
  /// Without padding the chunks of a vector are contiguous.
  static HALOCLINE_INLINE std::int64_t place(const VectorShape& shape, std::int64_t number) {
    return shape.stride == shape.sites ? number : number / shape.sites * shape.stride + number % shape.sites;
  }
  template <int i>
  HALOCLINE_INLINE void load_chunk(Value& value, const Operand<S>& v) const {
    HALOCLINE_UNROLLED(4)
    for (int r = 0; r < chunk; ++r) value.at[i * chunk + r] = Real(0);
    if (i < present) load_piece<Read::written, i * chunk, chunk>(value, v.data + offset + further[i]);
  }
  template <int i>
  HALOCLINE_INLINE void store_chunk(const Operand<S>& v, const Value& value) const {
    if (i < present) store_piece<false, i * chunk, chunk>(v.data + offset + further[i], value);
  }
};

/// The element of a thread in fixed point: all 24 reals of a site.
template <class S>
struct SitePlace {
  using Real = RealOf<S>;
  static constexpr int reals = spinor_reals;
  using Value = Record<Real, reals>;
  /// As in memory, so that the loads of several vectors are in flight together.
  struct Loaded {
    Record<typename Storage<S>::Word, reals> words;
    float scale;
  };

  std::int64_t data_offset = 0, scale_offset = 0;
  int site, column, stride;

  static std::int64_t elements(std::int64_t sites) { return sites; }
  HALOCLINE_INLINE SitePlace(const VectorShape& shape, std::int64_t element, int of)
      : column(of), stride(static_cast<int>(shape.stride)) {
    if (element >= shape.elements) {
      element -= shape.elements;
      data_offset = shape.second;
      scale_offset = shape.second_scale;
    }
    if (shape.points > 1) {
      column = of * shape.points + static_cast<int>(element / shape.sites);
      element %= shape.sites;
    }
    site = static_cast<int>(element);
  }
  HALOCLINE_INLINE Loaded load(const Operand<S>& v) const {
    Loaded loaded;
    load_record<Read::written>(loaded.words, row(v), stride, site);
    loaded.scale = v.scale[scale_place()];
    return loaded;
  }
  static HALOCLINE_INLINE Value decode(const Loaded& loaded) {
    const Real factor = loaded.scale * (1.0f / Storage<S>::largest);
    Value value;
    HALOCLINE_UNROLLED(24)
    for (int i = 0; i < reals; ++i) value.at[i] = number(loaded.words, i) * factor;
    return value;
  }
  /// Returns the rounded numbers.
  HALOCLINE_INLINE Loaded store(const Operand<S>& v, const Value& value) const {
    Loaded stored;
    stored.scale = pack_spinor<S>(stored.words, [&](int i) { return value.at[i]; });
    store_record(row(v), stride, site, stored.words);
    v.scale[scale_place()] = stored.scale;
    return stored;
  }

private:
  HALOCLINE_INLINE typename Storage<S>::Word* row(const Operand<S>& v) const {
    return v.data + data_offset + std::int64_t{stride} * (spinor_reals * column);
  }
  HALOCLINE_INLINE std::int64_t scale_place() const { return scale_offset + std::int64_t{stride} * column + site; }
};

template <class S>
using Place = std::conditional_t<Storage<S>::scaled, SitePlace<S>, ChunkPlace<S>>;

/// @tparam dots  0, 1, 2 or 4, at least as many as the list has; each makes two sums, re and im
template <class S, int dots>
struct Algebra {
  static constexpr int max_threads = 256;
  /// Blocks that must fit on one multiprocessor. This allows a thread 128 registers.
  static constexpr int min_blocks = 2;
  using Real = RealOf<S>;
  using Value = typename Place<S>::Value;
  using Loaded = typename Place<S>::Loaded;

  AlgebraList<S> list;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const
    requires(dots == 0)
  {
    Written written;
    carry_out(Place<S>(list.shape, p.x, p.y), p.y, written);
  }

  HALOCLINE_HOST_DEVICE void operator()(std::int64_t element, int column,
                                        double (&values)[2 * (dots > 0 ? dots : 1)]) const
    requires(dots > 0)
  {
    const Place<S> place(list.shape, element, column);
    Written written;
    carry_out(place, column, written);
    HALOCLINE_UNROLLED(4)
    for (int i = 0; i < dots; ++i) {
      values[2 * i] = values[2 * i + 1] = 0;
      if (i >= list.dots) continue;
      const auto& dot = list.dot[i];
      const Loaded left = written.load(place, dot.left);
      if (dot.left.data == dot.right.data) {
        values[2 * i] = norm2(Place<S>::decode(left));
        continue;
      }
      const Loaded right = written.load(place, dot.right);
      product(Place<S>::decode(left), Place<S>::decode(right), values[2 * i], values[2 * i + 1]);
    }
  }

private:
  HALOCLINE_INLINE core::Complex<Real> coefficient(int entry, int column) const {
    if (entry == AlgebraList<S>::one) return {Real(1), Real(0)};
    if (entry < AlgebraList<S>::one) {
      const auto& value = list.stored[(-2 - entry) * list.shape.columns + column];
      return {static_cast<Real>(value.re), static_cast<Real>(value.im)};
    }
    return list.coefficient[entry * list.shape.columns + column];
  }

  /// The element that the thread wrote last.
  struct Written {
    Loaded value{};
    const void* vector = nullptr;

    HALOCLINE_INLINE Loaded load(const Place<S>& place, const Operand<S>& v) const {
      return v.data == vector ? value : place.load(v);
    }
  };

  HALOCLINE_INLINE void carry_out(const Place<S>& place, int column, Written& written) const {
    // Not awaited before the first coefficients are loaded too.
    const bool stopped = list.stop != nullptr && *list.stop != 0;
    for (int u = 0; u < list.updates; ++u) {
      const auto& update = list.update[u];
      const auto s = coefficient(update.scale, column);
      bool changes = !update.keep || s.re != Real(1) || s.im != Real(0);
      for (int t = update.first_term; t < update.first_term + update.terms; ++t) {
        const auto a = coefficient(list.term[t].entry, column);
        changes = changes || a.re != Real(0) || a.im != Real(0);
      }
      if (!changes || stopped) continue;
      // The loads of two vectors are in flight together.
      const int end = update.first_term + update.terms;
      int t = update.first_term;
      Loaded old{}, first{};
      if (update.keep) old = written.load(place, update.target);
      if (t < end) first = written.load(place, list.term[t].vector);
      Value sum = Place<S>::decode(old);
      if (update.keep && update.scale != AlgebraList<S>::one) scale(sum, s);
      if (t < end) add(sum, coefficient(list.term[t].entry, column), Place<S>::decode(first));
      for (++t; t < end; ++t) {
        const auto& term = list.term[t];
        add(sum, coefficient(term.entry, column), Place<S>::decode(written.load(place, term.vector)));
      }
      written = {place.store(update.target, sum), update.target.data};
    }
  }

  static HALOCLINE_INLINE void scale(Value& y, const core::Complex<Real>& s) {
    HALOCLINE_UNROLLED(12)
    for (int i = 0; i < Place<S>::reals; i += 2) {
      const Real re = y.at[i];
      y.at[i] = s.re * re - s.im * y.at[i + 1];
      y.at[i + 1] = s.re * y.at[i + 1] + s.im * re;
    }
  }
  static HALOCLINE_INLINE void add(Value& y, const core::Complex<Real>& a, const Value& x) {
    HALOCLINE_UNROLLED(12)
    for (int i = 0; i < Place<S>::reals; i += 2) {
      y.at[i] += a.re * x.at[i] - a.im * x.at[i + 1];
      y.at[i + 1] += a.re * x.at[i + 1] + a.im * x.at[i];
    }
  }
  static HALOCLINE_INLINE double norm2(const Value& x) {
    double sum = 0;
    HALOCLINE_UNROLLED(24)
    for (int i = 0; i < Place<S>::reals; ++i) sum += static_cast<double>(x.at[i]) * static_cast<double>(x.at[i]);
    return sum;
  }
  static HALOCLINE_INLINE void product(const Value& x, const Value& y, double& re, double& im) {
    HALOCLINE_UNROLLED(12)
    for (int i = 0; i < Place<S>::reals; i += 2) {
      const double xr = x.at[i], xi = x.at[i + 1], yr = y.at[i], yi = y.at[i + 1];
      re += xr * yr + xi * yi;
      im += xr * yi - xi * yr;
    }
  }
};

/// out = factor in on one parity.
template <class S>
struct AssignParity {
  static constexpr int max_threads = 256;
  SpinorWriter<S> out, in;  // may be the same field, which a SpinorReader does not allow
  RealOf<S> factor;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const int site = static_cast<int>(p.x);
    Spinor<RealOf<S>> psi = in.load(site, p.y);
    HALOCLINE_UNROLLED(3)
    for (int colour = 0; colour < 3; ++colour) HALOCLINE_UNROLLED(4)
    for (int spin = 0; spin < 4; ++spin) {
      psi.at[colour][spin].re *= factor;
      psi.at[colour][spin].im *= factor;
    }
    out.store(site, p.y, psi);
  }
};

/// Writes `factor` times a column in canonical order; y is the parity.
struct WriteCanonical {
  static constexpr int max_threads = 256;
  Box box;
  SpinorReader<double> in[2];
  double* out;
  int column;
  int group;                 ///< sites of a record: 1, or 4 of staggered quarks, each in the place of a spin
  int first_spin, end_spin;  ///< the spins that are written
  double factor;

  /// The number of a site in canonical order.
  HALOCLINE_INLINE std::int64_t place(int parity, int site) const {
    const Coordinates c = box.coordinates(parity, site);
    return c.x[0] + box.extent[0] * (c.x[1] + box.extent[1] * (c.x[2] + std::int64_t{box.extent[2]} * c.x[3]));
  }
  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const int site = static_cast<int>(p.x);
    const Spinor<double> psi = (p.y == 0 ? in[0] : in[1]).load(site, column);
    double* to = out + place(p.y, group * site) * (spinor_reals / group);
    HALOCLINE_UNROLLED(4)
    for (int spin = 0; spin < 4; ++spin) {
      if (spin < first_spin || spin >= end_spin) continue;
      double* of_spin = group == 1 ? to + 6 * spin : out + place(p.y, group * site + spin) * 6;
      HALOCLINE_UNROLLED(3)
      for (int colour = 0; colour < 3; ++colour) {
        of_spin[2 * colour] = factor * psi.at[colour][spin].re;
        of_spin[2 * colour + 1] = factor * psi.at[colour][spin].im;
      }
    }
  }
};

}  // namespace halocline::qcd::device::detail
