// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sums of long fields, in the simulation: all shapes, orders of additions, slow ranks, and wrong use.

#include "halocline/comm/sums/field_sum.hpp"

#include "comm/awkward.hpp"
#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/simulation/simulation.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace halocline;
using comm::Communicator;
using comm::FieldSum;
using comm::simulate;
using tests::awkward;

namespace {

std::vector<double> field_of(int rank, std::size_t values) {
  std::vector<double> field(values);
  for (std::size_t i = 0; i < values; ++i) field[i] = awkward(rank, i);
  return field;
}

/// The order that the header promises: the ranks of a row, then the rows.
double expected(std::array<int, 2> shape, std::size_t i) {
  double sum = 0;
  for (int row = 0; row < shape[1]; ++row) {
    double of_row = awkward(row * shape[0], i);
    for (int place = 1; place < shape[0]; ++place) of_row += awkward(row * shape[0] + place, i);
    sum = row == 0 ? of_row : sum + of_row;
  }
  return sum;
}

}  // namespace

TEST_CASE("field sum: the ranks of a row are added in order, then the rows, with the same bits on every rank") {
  for (int ranks = 1; ranks <= 24; ++ranks) {
    CAPTURE(ranks);
    int wrong = 0, visited = 0;
    const auto expect = [&](bool fine) { wrong += fine ? 0 : 1; };
    simulate(ranks, {.seed = 5, .pause_probability = 0.2}, [&](const Communicator& group) {
      ++visited;
      // Fewer values than ranks, as many as fill the pieces, and more.
      for (const std::size_t values : {std::size_t{1}, std::size_t{24}, std::size_t{1000}}) {
        FieldSum sum(group, values);
        expect(sum.shape()[0] * sum.shape()[1] == ranks && sum.shape()[0] >= sum.shape()[1]);
        for (int round = 0; round < 3; ++round) {
          std::vector<double> field = field_of(group.rank(), values);
          expect(!sum.under_way() && sum.advance());
          sum.begin(field);
          expect(sum.under_way());
          std::vector<double> sums(values, -1.0);
          if (round == 0) std::fill(field.begin(), field.end(), 1e300);  // the caller may change it
          if (round == 1)
            while (!sum.advance()) group.backend().idle();
          if (round == 1) expect(sum.under_way());
          sum.wait(sums);
          for (std::size_t i = 0; i < values; ++i) expect(sums[i] == expected(sum.shape(), i));
        }
      }
    });
    CHECK(visited == ranks);
    CHECK(wrong == 0);
  }
}

TEST_CASE("field sum: the rows are as near to a square as the number of processes allows") {
  const std::array<std::array<int, 3>, 6> known{
      {{1, 1, 1}, {8, 8, 1}, {12, 4, 3}, {13, 13, 1}, {18, 6, 3}, {16, 4, 4}}};
  for (const auto& [ranks, across, rows] : known) {
    std::array<int, 2> shape{};
    simulate(ranks, {}, [&](const Communicator& group) { shape = FieldSum(group, 5).shape(); });
    CHECK(shape == std::array{across, rows});
  }
}

TEST_CASE("field sum: sums of two objects may be under way at once") {
  int wrong = 0;
  simulate(12, {.seed = 9, .pause_probability = 0.3}, [&](const Communicator& group) {
    FieldSum one(group, 50), other(group, 70);
    const std::vector<double> first = field_of(group.rank(), 50), second = field_of(group.rank() + 100, 70);
    one.begin(first);
    other.begin(second);
    std::vector<double> of_one(50), of_other(70);
    other.wait(of_other);
    one.wait(of_one);
    double sum = 0;
    for (int row = 0; row < 3; ++row) {
      double of_row = 0;
      for (int place = 0; place < 4; ++place) of_row += awkward(100 + 4 * row + place, 69);
      sum += of_row;
    }
    wrong += of_one[49] == expected({4, 3}, 49) ? 0 : 1;
    wrong += std::abs(of_other[69] - sum) <= 1e-15 * std::abs(sum) ? 0 : 1;
  });
  CHECK(wrong == 0);
}

TEST_CASE("field sum: wrong use is refused in a sentence, and a sum under way may be destroyed") {
  FieldSum sum(Communicator::self(), 3);
  std::vector<double> field{1, 2, 3}, few{1};
  CHECK_THROWS_WITH_AS(sum.begin(few), "a sum of 1 values was begun where fields have 3", core::InvalidArgument);
  CHECK_NOTHROW(sum.wait(few));  // nothing has begun
  sum.begin(field);
  CHECK_THROWS_AS(sum.begin(field), core::InvalidArgument);
  CHECK_THROWS_AS(sum.wait(few), core::InvalidArgument);
  sum.wait(field);
  CHECK(field == std::vector<double>{1, 2, 3});
  CHECK_NOTHROW(sum.begin(field));
}
