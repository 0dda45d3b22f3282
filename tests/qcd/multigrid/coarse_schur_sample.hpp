// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// The coarse Schur complement against the coarse operator that it comes from.

#include <algorithm>
#include <memory>

#include "halocline/qcd/multigrid/coarse_schur.hpp"
#include "qcd/multigrid/coarse_sample.hpp"

namespace halocline::test {

struct SchurErrors {
  double equation;        ///< of Schur x_e against the prepared b = D_c x
  double reconstruction;  ///< of x from x_e and b
};

/// Takes a random x, relative to the norms.
template <class S>
SchurErrors check_schur(CoarseSample<S>& sample) {
  const auto inverse = std::make_shared<const qcd::multigrid::InverseBlocks<S>>(sample.d->blocks());
  qcd::multigrid::CoarseSchur<S> schur(sample.blocks, inverse, sample.d->columns());
  const auto space = schur.space();
  const auto x = sample.random(7);
  auto b = sample.create(), again = sample.create();
  sample.d->apply(b, x);

  auto even = space.create(), image = space.create(), prepared = space.create();
  const auto& coarse = *sample.aggregates->coarse();
  std::int64_t next = 0;
  for (std::int64_t site = 0; site < x.sites(); ++site)
    if (coarse.parity(lattice::coordinates_of<4>(site, coarse.local())) == 0)
      std::copy_n(x.at(site, 0), x.columns() * 2 * x.rows(), even.at(next++, 0));

  schur.apply(image, even);
  schur.prepare(prepared, b);
  schur.reconstruct(again, even, b);
  return {distance(image, prepared), distance(again, x)};
}

}  // namespace halocline::test
