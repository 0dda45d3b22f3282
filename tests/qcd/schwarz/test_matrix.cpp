// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/matrix.hpp"

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "qcd/schwarz/sample.hpp"

using namespace halocline;
using halocline::qcd::GaugeField;
using halocline::qcd::schwarz::Matrix;
using halocline::qcd::schwarz::Schwarz;
using namespace halocline::test;

namespace {

std::vector<Vector> some_vectors(const RoughLattice& lattice, int columns) {
  std::vector<Vector> in;
  for (int c = 0; c < columns; ++c)
    in.push_back(random_numbers(std::ssize(lattice.psi), static_cast<unsigned>(30 + c)));
  return in;
}

}  // namespace

TEST_CASE("schwarz matrix: preconditioners on one matrix have the bits of those on their own") {
  const RoughLattice lattice(sampled<Box>({16, 6, 4, 3}, {16, 4, 2, 1}), 3);
  std::unique_ptr<Matrix> matrix;
  auto parameters = schwarz_parameters({2, 1, 1, 1}, 1);
  for (const char* storage : {"float", "half"}) {
    parameters.storage = storage;
    {
      const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
      matrix = std::make_unique<Matrix>(gauge, every_term(), parameters, 3);
    }
    // The links are gone by now.
    const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
    for (const int columns : {1, 3}) {
      CHECK(matrix->for_columns(columns).shares_with(*matrix));
      Schwarz shared(*matrix, columns), own(gauge, every_term(), parameters, columns);
      const auto in = some_vectors(lattice, columns);
      for (const auto operation : operations) CHECK(run(shared, operation, in) == run(own, operation, in));
    }
  }
}

TEST_CASE("schwarz matrix: automatic domains are those of each number of columns, with the same numbers" *
          doctest::skip(test::takes_samples)) {
  // 32 x 16 x 8 x 8 sites: one column is content with larger domains than twelve.
  const RoughLattice lattice({32, 16, 8, 8}, 5);
  const GaugeField gauge = lattice.gauge(one_process(lattice.extents));
  for (const int link_reals : {18, 12}) {
    auto parameters = schwarz_parameters({0, 0, 0, 0}, 0);
    parameters.link_reals = link_reals;
    parameters.storage = link_reals == 12 ? "half" : "float";
    if (link_reals == 12) parameters.arithmetic = "half";
    const Matrix matrix(gauge, every_term(), parameters, 12);
    for (const int columns : {12, 1}) {
      Schwarz shared(matrix, columns), own(gauge, every_term(), parameters, columns);
      CHECK(shared.layout()->blocks() == own.layout()->blocks());
      CHECK(matrix.for_columns(columns).shares_with(matrix) == (own.layout()->blocks() == matrix.layout()->blocks()));
      const auto in = some_vectors(lattice, columns);
      CHECK(run(shared, Operation::precondition, in) == run(own, Operation::precondition, in));
    }
  }
}

TEST_CASE("schwarz matrix: what cannot be done is refused") {
  const GaugeField gauge(one_process({8, 4, 4, 4}));
  const Matrix matrix(gauge, every_term(), schwarz_parameters({2, 1, 1, 1}));
  CHECK_THROWS_AS(matrix.for_columns(0), core::InvalidArgument);
  CHECK_THROWS_AS(Schwarz(matrix, -1), core::InvalidArgument);
  CHECK_THROWS_AS(Matrix(gauge, every_term(), schwarz_parameters({3, 1, 1, 1})), core::InvalidArgument);
  CHECK_THROWS_AS(Matrix(gauge, every_term(), schwarz_parameters({2, 1, 1, 1}), 0), core::InvalidArgument);
}
