// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `su3`: products of SU(3) matrices at every site of a field, in two layouts of complex numbers.
///
/// "apart" keeps real and imaginary parts in registers of their own, as all fields here do: [tile][row][column]
/// [re, im][lane]. A complex multiply-add is four multiply-adds. "interleaved" has real and imaginary parts of a site
/// side by side: [tile][row][column][lane][re, im]. A register holds half as many sites, and each product needs the
/// parts of one factor spread and those of the other exchanged (shuffles). The paper on Fugaku (arXiv:2109.10687,
/// Figure 6) compares the two in kernels of domain walls.
///
/// Forms: "product", z = x y (198 flops a site, 54 numbers moved), as Grid's Benchmark_su3; "vector", y = x v of links
/// and two colour vectors, the product inside a hop (132 flops, 42 numbers). Results that outgrow the caches are stored
/// past them.

#include <complex>
#include <string>
#include <vector>

#include "bench/fields.hpp"
#include "bench/result.hpp"

namespace halocline::bench {

struct Su3Case {
  Extents local{8, 8, 8, 8};        ///< sites of each process
  int threads = 1;                  ///< of each process
  std::string precision = "float";  ///< or "double"
  std::string layout = "apart";     ///< or "interleaved"
  std::string form = "product";     ///< or "vector"
};

/// Measures one case.
/// @throws InvalidArgument  an unknown name, or sites that no tile divides; on every rank
/// Collective: yes.  Cost: about three times effort.seconds.
Result su3(const comm::Communicator& group, const Su3Case& parameters, const Effort& effort);

/// The result of one application in canonical order, for tests: [site][3][columns].
/// @param x  [site][3][3];  @param y  [site][3][3] for "product", [site][3][2] for "vector"
std::vector<std::complex<double>> su3_once(const Su3Case& parameters, const std::vector<std::complex<double>>& x,
                                           const std::vector<std::complex<double>>& y);

}  // namespace halocline::bench
