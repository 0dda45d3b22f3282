// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Orthonormalises test vectors on one aggregate, separately for each chirality.
///
/// The columns V of a chirality become V L^-dagger with the Cholesky factor L of V^dagger V, two times over
/// (CholeskyQR2, Fukaya et al., ScalA 2014): all the work is products of tall matrices, done for blocks of vectors in
/// registers. The products are summed in float over a domain and in double beyond. Where a column is dependent on those
/// before it to more than two digits, that sum is too coarse, and the modified Gram-Schmidt method in double takes
/// over.
///
/// Flops a site and chirality: 4 x 24 N^2.

#include <cstdint>

namespace halocline::qcd::multigrid {

/// The vectors of an aggregate, `[tile][vector][24][lane]`, tiles of all its domains one after the other.
struct AggregateVectors {
  float* data;
  std::int64_t tiles;
  int vectors;  ///< a multiple of 4
  int lanes;
};

/// Replaces the vectors by fewer ones, separately for each chirality: with the singular value decomposition
/// V = sum_i s_i u_i w_i^dagger of their columns, by s_i u_i for the largest s_i. These are the best approximation of
/// all vectors by `kept` ones (arXiv:2505.14399). The w_i are eigenvectors of V^dagger V, so a singular value below
/// about 3e-4 of the largest is rounding.
/// @param vectors  on return the kept ones, `[tile][kept][24][lane]` from the same address
/// @param kept     a multiple of 4, below the number of vectors
/// @returns whether all numbers were finite
/// Collective: no.  Cost: 24 K (K + 2 kept) flops a site and chirality for K vectors, and an eigenproblem of K x K.
bool reduce(AggregateVectors& vectors, int kept);

/// @returns the smallest norm that a vector kept beside those before it, relative to its norm; 0 for a zero vector and
///          for numbers that are not finite
/// Collective: no.
double orthonormalise(const AggregateVectors& vectors);

}  // namespace halocline::qcd::multigrid
