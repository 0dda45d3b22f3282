// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The updates and dot products of a solver on tiled vectors, in one walk over the memory.
///
/// A vector is `[tile][column][component pair][re, im][lane]`, the memory layout that SpinorField and DomainField
/// share. The walk goes tile by tile and column by column through memory, and carries out every update and every dot
/// product on one column of one tile (1.5 KiB of each vector in single precision) before it goes on. So a call reads
/// each vector from beyond the first-level cache once, however many list entries name it, and writes it once.
///
/// Every dot product and column has one sum in double for each chunk of tiles. These sums are added in chunk order,
/// then over the processes by comm::Reduction. The chunks do not depend on the number of threads or columns, so a sum
/// has the same bits for any number of threads, and for a column alone or among others. The dot product of a vector
/// with itself is real, and only its real part is summed. An update skips the columns that it leaves unchanged because
/// all their coefficients are zero: updates of a converged column cost no arithmetic and no memory traffic.
///
/// Flops a complex number: 8 a term, 8 a dot product, 4 a norm. A dot product and a norm that share a vector and are
/// adjacent in the list convert this vector to double once. Updates run at the bandwidth of the cache or memory that
/// holds the vectors. With vectors in the second-level cache, walks with sums reach a third to two thirds of its
/// bandwidth, because they convert to double. The four walks with sums of an iteration of BiCGStab took 70 us at
/// 32x6x4x3 sites in single precision on one core. This is a fortieth of an iteration with the Schwarz preconditioner,
/// so nothing more is fused.
///
/// A call is one parallel region. An iteration of the Schwarz solver with a linear K enters seven: one in each of its
/// two applications of D' K, and five here. The five stay separate: the iteration has four groups of sums, and the
/// search direction needs the last of them before D' K can begin.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "halocline/qcd/field/components.hpp"
#include "halocline/solve/vector_space.hpp"

namespace halocline::comm {
class Communicator;
class Reduction;
}  // namespace halocline::comm

namespace halocline::qcd::detail {

/// Memory layout of a vector.
struct FlatShape {
  std::int64_t tiles = 0;
  int columns = 1;
  int components = spinor_reals;  ///< reals a site and column: pairs of a real and an imaginary part
  int lanes = 1;
};

/// solve::Update and solve::Dot on bare memory.
template <class T>
struct FlatUpdate {
  T* target = nullptr;
  bool overwrite = false;
  std::span<const solve::Scalar> scale;  ///< [column], or empty for one
  std::array<const T*, 2> summands{};
  std::array<std::span<const solve::Scalar>, 2> coefficients;  ///< [column], or empty for one
  int count = 0;
};
template <class T>
struct FlatDot {
  const T* left = nullptr;
  const T* right = nullptr;
};

/// Linear algebra on vectors of one shape, distributed over a group of processes. Copies share one reduction over
/// processes, so only one of them may be in use at a time.
template <class T>
class LinearAlgebra {
public:
  /// @throws InvalidArgument  for less than one column, or components that are not a positive multiple of two.
  ///                          Collective: yes.
  LinearAlgebra(const FlatShape& shape, const comm::Communicator& group);

  const FlatShape& shape() const noexcept { return shape_; }
  int columns() const noexcept { return shape_.columns; }

  /// Carries out the updates in order, then the dots. Returns sums over all processes, [dot][column].
  /// @param more  other numbers of this process, which become sums over all processes by the same message; none
  ///              without dots
  /// @throws InvalidArgument  for a vector of another size, or coefficients for fewer columns
  /// Collective: yes, if there are dots.
  template <class Vector>
  solve::FinishedSums update_and_reduce(std::span<const solve::Update<Vector>> updates,
                                        std::span<const solve::Dot<Vector>> dots,
                                        std::span<solve::Scalar> more = {}) const {
    std::vector<FlatUpdate<T>> flat_updates;
    flat_updates.reserve(updates.size());
    for (const auto& update : updates) {
      FlatUpdate<T> flat{memory(*update.target), update.overwrite, update.scale, {}, {}, update.count};
      for (int i = 0; i < update.count; ++i) {
        flat.summands[i] = memory(*update.summands[i].vector);
        flat.coefficients[i] = update.summands[i].coefficient;
      }
      flat_updates.push_back(flat);
    }
    std::vector<FlatDot<T>> flat_dots;
    flat_dots.reserve(dots.size());
    for (const auto& dot : dots) flat_dots.push_back({memory(*dot.left), memory(*dot.right)});
    return solve::FinishedSums(run(flat_updates, flat_dots, more));
  }

  /// out[i * columns + j] = <x_i, y_j> over all processes, for columns i of x and j of y (solve/block_space.hpp).
  /// Summed in an order that does not depend on the number of threads; it does depend on the number of columns. For y =
  /// x only one triangle is computed.
  /// @throws InvalidArgument  for a vector of another size, or out of another length than columns squared
  /// Collective: yes.  Cost: 8 columns^2 flops a complex number of a column, half for y = x. In single precision the
  /// conversion to double bounds the speed.
  template <class Vector>
  void gram(std::span<solve::Scalar> out, const Vector& x, const Vector& y) const {
    run_gram(out, memory(x), memory(y));
  }
  /// y_j = start + sum_i x_i m[i * columns + j], where start is y_j, or zero (`overwrite`). A zero coefficient leaves
  /// x_i unread.
  /// @throws InvalidArgument  for a vector of another size, m of another length than columns squared, or y = x
  /// Collective: no.  Cost: 8 columns^2 flops a complex number of a column.
  template <class Vector>
  void multiply(Vector& y, const Vector& x, std::span<const solve::Scalar> m, bool overwrite) const {
    run_multiply(memory(y), memory(x), m, overwrite);
  }

  /// <shared_i, y_c> over all processes as [vector][column], for vectors of one column (solve/shared_vectors.hpp). A
  /// column of a tile stays in cache while it meets all vectors. A sum has the same bits for any number of threads, and
  /// for a column alone or among others.
  /// @throws InvalidArgument  for a vector of another size
  /// Collective: yes.  Cost: 8 flops a complex number of each vector and column.
  template <class Vector>
  solve::FinishedSums shared_dots(std::span<const Vector* const> shared, const Vector& y) const {
    return solve::FinishedSums(run_shared_dots(shared_memory(shared), memory(y)));
  }
  /// y_c += sum_i shared_i a[i * columns + c]. A column whose coefficients are all zero is left alone.
  /// @throws InvalidArgument  for a vector of another size, or coefficients in another number
  /// Collective: no.  Cost: as shared_dots.
  template <class Vector>
  void shared_add(Vector& y, std::span<const solve::Scalar> a, std::span<const Vector* const> shared) const {
    run_shared_add(memory(y), a, shared_memory(shared));
  }

private:
  template <class Vector>
  auto* memory(Vector& v) const {
    check_size(v.size());
    return v.data();
  }
  template <class Vector>
  std::vector<const T*> shared_memory(std::span<const Vector* const> shared) const {
    std::vector<const T*> out;
    for (const Vector* v : shared) {
      check_size(v->size() * shape_.columns);
      out.push_back(v->data());
    }
    return out;
  }
  void check_size(std::int64_t size) const;
  void check_matrix(std::size_t entries) const;
  solve::Scalars run(std::span<const FlatUpdate<T>> updates, std::span<const FlatDot<T>> dots,
                     std::span<solve::Scalar> more) const;
  void run_gram(std::span<solve::Scalar> out, const T* x, const T* y) const;
  void run_multiply(T* y, const T* x, std::span<const solve::Scalar> m, bool overwrite) const;
  solve::Scalars run_shared_dots(std::span<const T* const> shared, const T* y) const;
  void run_shared_add(T* y, std::span<const solve::Scalar> a, std::span<const T* const> shared) const;
  void sum_many(std::span<double> values) const;

  FlatShape shape_;
  std::shared_ptr<comm::Reduction> reduction_;
  bool barrier_before_sums_ = false;
  std::shared_ptr<const comm::Communicator> group_;
};

extern template class LinearAlgebra<float>;
extern template class LinearAlgebra<double>;

}  // namespace halocline::qcd::detail
