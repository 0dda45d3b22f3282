// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The BLAS and LAPACK routines that this room calls, by their Fortran symbols. Private to ground_state.
///
/// Every BLAS and LAPACK exports these symbols; a C interface (cblas.h) comes with some of them only, and under
/// different library names. Integers are 32 bits wide. Each character argument has a hidden length behind the last
/// argument, as Fortran compilers pass it; libraries written in C ignore it.

#include <complex>
#include <cstddef>

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

/// Applied to a factor of a product: as it is, transposed, or transposed and conjugated.
enum class Op : char { none = 'N', transposed = 'T', adjoint = 'C' };

/// A column-major matrix inside a larger one: `leading` elements from one column to the next.
struct View {
  const std::complex<double>* data;
  int leading;
};

/// c = op(a) op(b) + beta c; op(a) has shape (m, k), op(b) shape (k, n), c is column-major with `leading` elements from
/// one column to the next. Cost: 8 m n k flops.
inline void product(int m, int n, int k, View a, Op op_a, View b, Op op_b, double beta, std::complex<double>* c,
                    int leading) {
  const std::complex<double> one = 1.0, keep = beta;
  const char first = static_cast<char>(op_a), second = static_cast<char>(op_b);
  zgemm_(&first, &second, &m, &n, &k, &one, a.data, &a.leading, b.data, &b.leading, &keep, c, &leading, 1, 1);
}

/// b = op(l)^-1 b (side 'L') or b op(l)^-1 (side 'R'), for the lower triangle l of shape (m, m) or (n, n) and b of
/// shape (m, n), both column-major without gaps.
inline void solve_lower(char side, const std::complex<double>* l, Op op, int m, int n, std::complex<double>* b) {
  const std::complex<double> one = 1.0;
  const char operation = static_cast<char>(op);
  const int order = side == 'L' ? m : n;
  ztrsm_(&side, "L", &operation, "N", &m, &n, &one, l, &order, b, &m, 1, 1, 1, 1);
}

}  // namespace halocline::tddft::blas
