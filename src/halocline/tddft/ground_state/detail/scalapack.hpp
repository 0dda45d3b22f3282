// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// ScaLAPACK, the linear algebra of matrices that are distributed over processes, loaded at run time.
///
/// A build needs no ScaLAPACK, and a program without one runs. The library must stand on the same MPI as this program:
/// Debian has one for each MPI, and the loader asks it for its version. Fortran integers are 32 bits wide.

#include "halocline/comm/group/communicator.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <string>
#include <vector>

namespace halocline::tddft::detail {

/// The functions that are used here, by their symbols.
struct Scalapack {
  using Complex = std::complex<double>;

  std::string file;  ///< name by which it was found

  void (*gridinit)(int* context, const char* order, int rows, int columns);
  void (*gridinfo)(int context, int* rows, int* columns, int* row, int* column);
  void (*gridexit)(int context);
  void (*free_handle)(int handle);
  void* handle_of;  ///< int (*)(MPI_Comm)

  /// Cholesky factor.
  void (*pzpotrf)(const char* uplo, const int* n, Complex* a, const int* ia, const int* ja, const int* desca, int* info,
                  std::size_t);
  /// b = alpha op(a)^-1 b or alpha b op(a)^-1 for a triangular a.
  void (*pztrsm)(const char* side, const char* uplo, const char* op, const char* diag, const int* m, const int* n,
                 const Complex* alpha, const Complex* a, const int* ia, const int* ja, const int* desca, Complex* b,
                 const int* ib, const int* jb, const int* descb);
  /// Eigenvalues, ascending on every process of the grid, and eigenvectors, by divide and conquer.
  void (*pzheevd)(const char* jobz, const char* uplo, const int* n, Complex* a, const int* ia, const int* ja,
                  const int* desca, double* w, Complex* z, const int* iz, const int* jz, const int* descz,
                  Complex* work, const int* lwork, double* rwork, const int* lrwork, int* iwork, const int* liwork,
                  int* info, std::size_t, std::size_t);
};

struct LoadedScalapack {
  const Scalapack* library = nullptr;  ///< lives as long as the program
  std::string problem;                 ///< the end of a sentence that begins with "this program"; empty if found
};

/// Looks for the library once. Collective: no.
const LoadedScalapack& scalapack();

/// How square matrices lie on a grid of processes, some of those of a group: in blocks that go round it.
class BlockCyclic {
public:
  /// @param group   stands on MPI
  /// @param n       rows and columns
  /// @param block   rows and columns of a block
  /// Collective over `group`.
  BlockCyclic(const Scalapack& library, const comm::Communicator& group, int n, int block);
  BlockCyclic(const BlockCyclic&) = delete;
  BlockCyclic& operator=(const BlockCyclic&) = delete;
  ~BlockCyclic();

  bool inside() const noexcept { return context_ >= 0; }        ///< whether this process has a place in the grid
  std::array<int, 2> shape() const noexcept { return shape_; }  ///< of the grid of processes
  /// Rows and columns of the local part of a matrix; 0 outside of the grid.
  int rows() const noexcept { return static_cast<int>(row_.size()); }
  int columns() const noexcept { return static_cast<int>(column_.size()); }
  std::size_t elements() const noexcept { return row_.size() * column_.size(); }
  /// Global numbers of the local rows and columns, ascending.
  const std::vector<int>& row_numbers() const noexcept { return row_; }
  const std::vector<int>& column_numbers() const noexcept { return column_; }
  /// Local number of a global row or column, or -1.
  int local_row(int i) const noexcept { return local_row_[static_cast<std::size_t>(i)]; }
  int local_column(int j) const noexcept { return local_column_[static_cast<std::size_t>(j)]; }
  const int* descriptor() const noexcept { return descriptor_.data(); }

private:
  const Scalapack& library_;
  int handle_ = -1, context_ = -1;
  std::array<int, 2> shape_{1, 1};
  std::vector<int> row_, column_, local_row_, local_column_;
  std::array<int, 9> descriptor_{};
};

}  // namespace halocline::tddft::detail
