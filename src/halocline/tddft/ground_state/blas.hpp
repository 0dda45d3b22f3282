// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The BLAS and LAPACK routines used in tddft, by their Fortran symbols.
///
/// Every BLAS and LAPACK exports these symbols; a C interface (cblas.h) comes with only some of them, and under
/// different library names. Integers are 32 bits wide. Each character argument has a hidden length after the last
/// argument, as Fortran compilers pass it; libraries written in C ignore it.
///
/// A BLAS may have threads of its own, wake OpenMP's threads for every small product, or have no threads. Here it
/// computes on the calling thread only, which OneThread ensures. Large products are divided over the threads of the run
/// by the callers (for_parts) or by product_in_parts, in parts that do not depend on the number of threads. So small
/// products wake no threads, and results have the same bits for any number of threads.

#include <omp.h>

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>

extern "C" {

/// c = alpha op(a) op(b) + beta c
void zgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
            const std::complex<double>* alpha, const std::complex<double>* a, const int* lda,
            const std::complex<double>* b, const int* ldb, const std::complex<double>* beta, std::complex<double>* c,
            const int* ldc, std::size_t op_a_length, std::size_t op_b_length);

/// b = alpha op(a)^-1 b or alpha b op(a)^-1, for a triangular a
void ztrsm_(const char* side, const char* uplo, const char* op_a, const char* diag, const int* m, const int* n,
            const std::complex<double>* alpha, const std::complex<double>* a, const int* lda, std::complex<double>* b,
            const int* ldb, std::size_t side_length, std::size_t uplo_length, std::size_t op_length,
            std::size_t diag_length);

/// Cholesky factor of a Hermitian positive definite matrix.
void zpotrf_(const char* uplo, const int* n, std::complex<double>* a, const int* lda, int* info,
             std::size_t uplo_length);

/// Eigenvalues, ascending, and eigenvectors of a Hermitian matrix, by divide and conquer.
void zheevd_(const char* jobz, const char* uplo, const int* n, std::complex<double>* a, const int* lda, double* w,
             std::complex<double>* work, const int* lwork, double* rwork, const int* lrwork, int* iwork,
             const int* liwork, int* info, std::size_t jobz_length, std::size_t uplo_length);

}  // extern "C"

namespace halocline::tddft::blas {

/// Operation on a factor of a product: none, transposition, or conjugate transposition.
enum class Op : char { none = 'N', transposed = 'T', adjoint = 'C' };

/// A column-major matrix inside a larger one: `leading` elements from one column to the next.
struct View {
  const std::complex<double>* data;
  int leading;
};

/// How a BLAS distributes one call over threads.
enum class ThreadModel {
  none,    ///< not at all, as far as is known
  openmp,  ///< over the threads of OpenMP
  own,     ///< over threads that it has started itself
};

/// The library that the program uses, as found at run time; it may differ from the library at link time.
struct Library {
  std::string name;  ///< "OpenBLAS 0.3.21 ...", "reference BLAS", ...
  std::string file;  ///< the file that contains zgemm; empty if the system does not tell
  ThreadModel threads = ThreadModel::none;
  bool reference = false;  ///< Netlib's, about ten times slower than the others
  bool reentrant = true;   ///< several threads may call it at the same time
};

/// Asks the dynamic loader. Collective: no. Cost: some tens of microseconds the first time.
const Library& library();

/// During its lifetime the BLAS computes on the calling thread only. For a parallel region it is enough that the
/// calling thread creates one. OpenMP threads then start no regions of their own.
class OneThread {
public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

private:
  int omp_threads_, omp_levels_;
  int own_threads_ = 0;  ///< the library's former number of threads; 0 if it was not asked
};

/// Keeps the library's own threads asleep while OpenMP threads call it; restores their number at the end.
class OwnThreadsAsleep {
public:
  OwnThreadsAsleep();
  ~OwnThreadsAsleep();
  OwnThreadsAsleep(const OwnThreadsAsleep&) = delete;
  OwnThreadsAsleep& operator=(const OwnThreadsAsleep&) = delete;

private:
  int before_ = 0;
};

/// Number of threads that for_parts() may use.
inline int threads_for(std::int64_t parts) {
  return parts > 1 && library().reentrant ? static_cast<int>(std::min<std::int64_t>(parts, omp_get_max_threads())) : 1;
}

/// Calls action(part, thread) for each part in [0, parts), with thread below threads_for(parts). A BLAS call inside the
/// action stays on its thread. The action must not throw.
template <class Action>
void for_parts(std::int64_t parts, Action&& action) {
  const OwnThreadsAsleep asleep;
#pragma omp parallel for schedule(dynamic) num_threads(threads_for(parts))
  for (std::int64_t part = 0; part < parts; ++part) {
    const OneThread one;
    action(part, omp_get_thread_num());
  }
}

/// c = op(a) op(b) + beta c, on the calling thread. op(a) has shape (m, k), op(b) shape (k, n), c is column-major with
/// `leading` elements from one column to the next. Cost: 8 m n k flops.
void product(int m, int n, int k, View a, Op op_a, View b, Op op_b, double beta, std::complex<double>* c, int leading);

/// As product(). A large product is divided into groups of columns of c over all threads.
void product_in_parts(int m, int n, int k, View a, Op op_a, View b, Op op_b, double beta, std::complex<double>* c,
                      int leading);

/// b = op(l)^-1 b (side 'L') or b op(l)^-1 (side 'R'), on the calling thread. l is lower triangular of shape (m, m) or
/// (n, n), b has shape (m, n); both are column-major without gaps.
void solve_lower(char side, const std::complex<double>* l, Op op, int m, int n, std::complex<double>* b);

}  // namespace halocline::tddft::blas
