// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The LAPACK routines that this room calls, by their Fortran names. Private to dense.cpp.

#include <complex>

extern "C" {

/// Cholesky factor of a Hermitian positive definite matrix.
void zpotrf_(const char* uplo, const int* n, std::complex<double>* a, const int* lda, int* info);

/// Eigenvalues, ascending, and eigenvectors of a Hermitian matrix, by divide and conquer.
void zheevd_(const char* jobz, const char* uplo, const int* n, std::complex<double>* a, const int* lda, double* w,
             std::complex<double>* work, const int* lwork, double* rwork, const int* lrwork, int* iwork,
             const int* liwork, int* info);

}  // extern "C"
