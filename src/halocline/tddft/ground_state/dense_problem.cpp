// SPDX-License-Identifier: Apache-2.0
/// @file
/// With ScaLAPACK the steps are those of dense.cpp: S is scaled to a unit diagonal, its Cholesky factor reduces the
/// problem to a standard one, and its eigenvectors are taken back. An S too badly conditioned for the factor is rare:
/// such a problem is collected and solved by LAPACK.

#include "halocline/tddft/ground_state/dense_problem.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/ground_state/blas.hpp"
#include "halocline/tddft/ground_state/detail/scalapack.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace halocline::tddft {
namespace {

using Complex = std::complex<double>;

void broadcast(const Decomposition& decomposition, std::span<std::byte> bytes) {
  decomposition.orbitals().broadcast(bytes, 0);
  decomposition.space().broadcast(bytes, 0);
}

int processes_of_channel(const Decomposition& decomposition) {
  return decomposition.space().size() * decomposition.orbitals().size();
}

}  // namespace

Eigenpairs solve_alike(const Decomposition& decomposition, const Matrix& h, const Matrix& s, int wanted) {
  core::Region region("tddft/dense eigenproblem");
  Eigenpairs pairs = generalised_eigenpairs(h, s, wanted);
  if (processes_of_channel(decomposition) == 1) return pairs;
  std::array<double, 2> known{pairs.found ? 1.0 : 0.0, pairs.condition};
  broadcast(decomposition, std::as_writable_bytes(std::span(known)));
  pairs.found = known[0] == 1.0;
  pairs.condition = known[1];
  if (!pairs.found) return {};
  if (pairs.values.size() != size(wanted))
    pairs = {std::vector<double>(size(wanted)), Matrix(h.rows(), wanted), true, pairs.condition};
  broadcast(decomposition, std::as_writable_bytes(std::span(pairs.values)));
  broadcast(decomposition, std::as_writable_bytes(std::span(pairs.vectors.data(), pairs.vectors.size())));
  return pairs;
}

FoundScalapack find_scalapack() {
  const detail::LoadedScalapack& loaded = detail::scalapack();
  return {loaded.library != nullptr ? loaded.library->file : "", loaded.problem};
}

struct DenseProblem::Distributed {
  Distributed(const Decomposition& decomposition, const detail::Scalapack& library, int n, int block)
      : library(library),
        team(decomposition.world().split(static_cast<int>(decomposition.channels().begin),
                                         decomposition.world().rank())),
        layout(library, team, n, block) {}

  const detail::Scalapack& library;
  comm::Communicator team;  ///< the processes of the channel
  detail::BlockCyclic layout;
  std::vector<Complex> h, s;     ///< local parts, column by column
  std::vector<double> diagonal;  ///< of S, on every process
};

DenseProblem::DenseProblem(const Decomposition& decomposition, int n, const std::string& method, int block)
    : decomposition_(decomposition), n_(n) {
  const std::vector<std::string> known = methods();
  comm::on_every_rank(decomposition.world(), [&] {
    if (std::ranges::find(known, method) == known.end())
      throw core::InvalidArgument(
          fmt::format("the dense eigenproblem was to be solved by \"{}\"; give {}", method, fmt::join(known, ", ")));
  });
  if (method == "lapack" || processes_of_channel(decomposition) == 1 || (method == "auto" && n < large)) return;
  const detail::LoadedScalapack& loaded = detail::scalapack();
  const bool found = loaded.library != nullptr;
  if (method == "scalapack")
    comm::on_every_rank(decomposition.world(), [&] {
      if (!found)
        throw core::InvalidArgument(fmt::format(
            "the dense eigenproblem was to be solved by ScaLAPACK, but this program {}; install it (Debian: "
            "libscalapack-openmpi-dev), or give \"auto\"",
            loaded.problem));
    });
  if (!decomposition.world().all(found)) return;
  distributed_ = std::make_unique<Distributed>(decomposition, *loaded.library, n, block);
}
DenseProblem::DenseProblem(DenseProblem&&) noexcept = default;
DenseProblem::~DenseProblem() = default;

bool DenseProblem::distributed() const noexcept { return distributed_ != nullptr; }

void DenseProblem::begin() {
  if (!distributed_) {
    h_ = s_ = Matrix(n_, n_);
    return;
  }
  distributed_->h.assign(distributed_->layout.elements(), 0);
  distributed_->s.assign(distributed_->layout.elements(), 0);
  distributed_->diagonal.assign(size(n_), 0);
}

void DenseProblem::set(Which which, std::span<const int> rows, std::span<const int> columns, const Matrix& piece) {
  if (!distributed_) {
    Matrix& whole = which == Which::h ? h_ : s_;
    for (int j = 0; j < piece.columns(); ++j)
      for (int i = 0; i < piece.rows(); ++i) {
        whole(rows[size(i)], columns[size(j)]) = piece(i, j);
        whole(columns[size(j)], rows[size(i)]) = std::conj(piece(i, j));
      }
    return;
  }
  const detail::BlockCyclic& layout = distributed_->layout;
  std::vector<Complex>& local = which == Which::h ? distributed_->h : distributed_->s;
  const auto at = [&](int row, int column) -> Complex& {
    return local[size(row) + size(column) * size(layout.rows())];
  };
  for (int j = 0; j < piece.columns(); ++j) {
    const int number = columns[size(j)], here = layout.local_column(number), mirrored = layout.local_row(number);
    for (int i = 0; i < piece.rows(); ++i) {
      const int other = rows[size(i)];
      if (which == Which::s && other == number) distributed_->diagonal[size(number)] = piece(i, j).real();
      if (mirrored >= 0 && layout.local_column(other) >= 0)
        at(mirrored, layout.local_column(other)) = std::conj(piece(i, j));
      if (here >= 0 && layout.local_row(other) >= 0) at(layout.local_row(other), here) = piece(i, j);
    }
  }
}

/// The whole matrix on every process, from the local parts.
Matrix DenseProblem::collected(std::span<const Complex> local) const {
  const detail::BlockCyclic& layout = distributed_->layout;
  Matrix whole(n_, n_);
  const int together = std::max(1, std::min(n_, (8 << 20) / (16 * n_)));  // columns: 8 MiB in a sum
  for (int first = 0; first < n_; first += together) {
    const int count = std::min(together, n_ - first);
    for (int j = first; j < first + count; ++j) {
      const int column = layout.local_column(j);
      if (column < 0) continue;
      for (int i = 0; i < layout.rows(); ++i)
        whole(layout.row_numbers()[size(i)], j) = local[size(i) + size(column) * size(layout.rows())];
    }
    // One process has each element; zeros of the others leave it as it is.
    distributed_->team.sum(std::span(reinterpret_cast<double*>(&whole(0, first)), 2 * size(count) * size(n_)));
  }
  return whole;
}

Eigenpairs DenseProblem::solve() {
  if (!distributed_) {
    const Matrix h = std::exchange(h_, {}), s = std::exchange(s_, {});
    return solve_alike(decomposition_, h, s, n_);
  }
  std::optional<Eigenpairs> pairs = solve_together();
  if (!pairs) pairs = solve_alike(decomposition_, collected(distributed_->h), collected(distributed_->s), n_);
  distributed_->h = distributed_->s = {};
  return *pairs;
}

/// Absent where S is too badly conditioned; H and S are then as they were.
std::optional<Eigenpairs> DenseProblem::solve_together() {
  core::Region region("tddft/dense eigenproblem");
  constexpr double smallest_pivot = 1e-5;  // as in dense.cpp
  Distributed& d = *distributed_;
  const detail::BlockCyclic& layout = d.layout;
  const auto finite = [](const Complex& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); };
  if (!d.team.all(std::ranges::all_of(d.h, finite) && std::ranges::all_of(d.s, finite))) return Eigenpairs{};
  std::vector<double> scale(size(n_));
  for (std::size_t i = 0; i < scale.size(); ++i) {
    if (!(d.diagonal[i] > 0)) return std::nullopt;  // a zero vector
    scale[i] = 1 / std::sqrt(d.diagonal[i]);
  }
  const auto scaled = [&](std::vector<Complex> local) {
    for (int j = 0; j < layout.columns(); ++j)
      for (int i = 0; i < layout.rows(); ++i)
        local[size(i) + size(j) * size(layout.rows())] *=
            scale[size(layout.row_numbers()[size(i)])] * scale[size(layout.column_numbers()[size(j)])];
    return local;
  };
  // ScaLAPACK calls BLAS on the calling thread.
  const blas::OneThread one_thread;
  const int one = 1;
  const Complex unit = 1;
  std::vector<Complex> factor = scaled(d.s);
  double pivot = std::numeric_limits<double>::infinity();
  if (layout.inside()) {
    int info = 0;
    d.library.pzpotrf("L", &n_, factor.data(), &one, &one, layout.descriptor(), &info, 1);
    for (int j = 0; j < layout.columns(); ++j)
      if (const int i = layout.local_row(layout.column_numbers()[size(j)]); i >= 0)
        pivot = std::min(pivot, factor[size(i) + size(j) * size(layout.rows())].real());
    if (info != 0) pivot = 0;
  }
  d.team.min(std::span(&pivot, 1));
  if (!(pivot > smallest_pivot)) return std::nullopt;

  std::vector<Complex> reduced = scaled(d.h), vectors(layout.elements());
  d.h = d.s = {};
  Eigenpairs pairs;
  pairs.values.resize(size(n_));
  int failed = 0;
  if (layout.inside()) {
    const auto by_factor = [&](const char* side, const char* op, std::vector<Complex>& b) {
      d.library.pztrsm(side, "L", op, "N", &n_, &n_, &unit, factor.data(), &one, &one, layout.descriptor(), b.data(),
                       &one, &one, layout.descriptor());
    };
    by_factor("L", "N", reduced);
    by_factor("R", "C", reduced);
    Complex work_size = 0;
    double real_size = 0;
    int integer_size = 0;
    const int ask = -1;
    const auto solve = [&](Complex* work, int lwork, double* rwork, int lrwork, int* iwork, int liwork) {
      d.library.pzheevd("V", "L", &n_, reduced.data(), &one, &one, layout.descriptor(), pairs.values.data(),
                        vectors.data(), &one, &one, layout.descriptor(), work, &lwork, rwork, &lrwork, iwork, &liwork,
                        &failed, 1, 1);
    };
    solve(&work_size, ask, &real_size, ask, &integer_size, ask);
    std::vector<Complex> work(size(std::max(1, static_cast<int>(work_size.real()))));
    std::vector<double> rwork(size(std::max(1, static_cast<int>(real_size))));
    std::vector<int> iwork(size(std::max(1, integer_size)));
    solve(work.data(), static_cast<int>(work.size()), rwork.data(), static_cast<int>(rwork.size()), iwork.data(),
          static_cast<int>(iwork.size()));
    by_factor("L", "C", vectors);
    for (int j = 0; j < layout.columns(); ++j)
      for (int i = 0; i < layout.rows(); ++i)
        vectors[size(i) + size(j) * size(layout.rows())] *= scale[size(layout.row_numbers()[size(i)])];
  }
  if (d.team.any(failed != 0)) return Eigenpairs{};
  d.team.broadcast(std::as_writable_bytes(std::span(pairs.values)), 0);
  pairs.vectors = collected(vectors);
  pairs.condition = 1 / (pivot * pivot);
  pairs.found = true;
  return pairs;
}

}  // namespace halocline::tddft
