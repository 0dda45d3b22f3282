// SPDX-License-Identifier: Apache-2.0
//
// The C border: what it moves and sums is right, and every misuse is a status and a sentence, never an exception.

#include <doctest/doctest.h>

#include "halocline/comm/bindings/c.h"
#include "halocline/core/config.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace {

bool last_error_says(const char* words) { return std::string(halocline_last_error()).find(words) != std::string::npos; }

/// A handle that ends itself.
template <class Handle, int (*destroy)(Handle*)>
struct Owned {
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { destroy(handle); }
  operator Handle*() const { return handle; }
  Handle** operator&() { return &handle; }
  Handle* handle = nullptr;
};
using Group = Owned<halocline_communicator, halocline_communicator_destroy>;
using Grid = Owned<halocline_grid, halocline_grid_destroy>;
using Exchange = Owned<halocline_exchange, halocline_exchange_destroy>;
using Reduction = Owned<halocline_reduction, halocline_reduction_destroy>;
using Exact = Owned<halocline_exact_sum, halocline_exact_sum_destroy>;
using Transports = Owned<halocline_transports, halocline_transports_destroy>;

int size_of(const Group& group) {
  int size = 0;
  REQUIRE(halocline_communicator_size(group, &size) == HALOCLINE_OK);
  return size;
}

/// All processes in a ring along axis 0, and an open axis 1 of one process.
struct Ring {
  Ring() {
    REQUIRE(halocline_world(&group) == HALOCLINE_OK);
    size = size_of(group);
    REQUIRE(halocline_communicator_rank(group, &rank) == HALOCLINE_OK);
    const std::array dims{size, 1}, periodic{1, 0};
    REQUIRE(halocline_grid_create(group, 2, dims.data(), periodic.data(), &grid) == HALOCLINE_OK);
  }
  Group group;
  Grid grid;
  int size = 0, rank = -1;
};

double* send_buffer(halocline_exchange* exchange, int face, std::size_t count) {
  void* buffer = nullptr;
  std::size_t bytes = 0;
  REQUIRE(halocline_exchange_send_buffer(exchange, face, &buffer, &bytes) == HALOCLINE_OK);
  REQUIRE(bytes == count * sizeof(double));
  return static_cast<double*>(buffer);
}

const double* recv_buffer(const halocline_exchange* exchange, int face) {
  const void* buffer = nullptr;
  REQUIRE(halocline_exchange_recv_buffer(exchange, face, &buffer, nullptr) == HALOCLINE_OK);
  return static_cast<const double*>(buffer);
}

}  // namespace

TEST_CASE("c: faces and their sets are those of C++") {
  CHECK(halocline_face(0, -1) == 0);
  CHECK(halocline_face(2, +1) == 5);
  CHECK(halocline_opposite(4) == 5);
  CHECK(halocline_opposite(5) == 4);
  CHECK((halocline_mask(0) | halocline_mask(3)) == 9u);
  CHECK(std::string(halocline_version()) == halocline::core::version);
}

TEST_CASE("c: a grid tells its shape, its places and its neighbours") {
  const Ring ring;
  int ndim = 0, rank = -1, size = 0;
  CHECK(halocline_grid_ndim(ring.grid, &ndim) == HALOCLINE_OK);
  CHECK(halocline_grid_rank(ring.grid, &rank) == HALOCLINE_OK);
  CHECK(halocline_grid_size(ring.grid, &size) == HALOCLINE_OK);
  CHECK(ndim == 2);
  CHECK(rank == ring.rank);
  CHECK(size == ring.size);
  std::array<int, 2> dims{}, periodic{-1, -1}, coords{-1, -1}, other{};
  CHECK(halocline_grid_dims(ring.grid, dims.data()) == HALOCLINE_OK);
  CHECK(halocline_grid_periodic(ring.grid, periodic.data()) == HALOCLINE_OK);
  CHECK(halocline_grid_coords(ring.grid, coords.data()) == HALOCLINE_OK);
  CHECK(dims == std::array{ring.size, 1});
  CHECK(periodic == std::array{1, 0});
  CHECK(coords == std::array{ring.rank, 0});
  CHECK(halocline_grid_coords_of(ring.grid, ring.size - 1, other.data()) == HALOCLINE_OK);
  CHECK(other == std::array{ring.size - 1, 0});
  CHECK(halocline_grid_rank_of(ring.grid, other.data(), &rank) == HALOCLINE_OK);
  CHECK(rank == ring.size - 1);
  CHECK(halocline_grid_neighbour(ring.grid, halocline_face(0, +1), &rank) == HALOCLINE_OK);
  CHECK(rank == (ring.rank + 1) % ring.size);
  CHECK(halocline_grid_neighbour(ring.grid, halocline_face(1, -1), &rank) == HALOCLINE_OK);
  CHECK(rank == -1);
}

TEST_CASE("c: an order of ranks puts them at the places asked for") {
  Ring ring;
  std::vector<int> backwards(static_cast<std::size_t>(ring.size));
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  Grid grid;
  REQUIRE(halocline_grid_create_ordered(ring.group, 1, &ring.size, nullptr, backwards.data(), &grid) == HALOCLINE_OK);
  int place = -1, beside = -1;
  CHECK(halocline_grid_coords(grid, &place) == HALOCLINE_OK);
  CHECK(place == ring.size - 1 - ring.rank);
  CHECK(halocline_grid_neighbour(grid, halocline_face(0, +1), &beside) == HALOCLINE_OK);
  CHECK(beside == (ring.rank + ring.size - 1) % ring.size);
  backwards[0] = ring.size;
  Grid none;
  CHECK(halocline_grid_create_ordered(ring.group, 1, &ring.size, nullptr, backwards.data(), &none) ==
        HALOCLINE_INVALID_ARGUMENT);
}

TEST_CASE("c: the grid of least surface is that of C++, and a request that cannot be met is a sentence") {
  const std::array<std::int64_t, 2> extents{48, 12}, odd{7, 7};
  std::array<int, 2> dims{};
  CHECK(halocline_least_surface_grid(2, extents.data(), 4, nullptr, dims.data()) == HALOCLINE_OK);
  CHECK(dims == std::array{4, 1});
  CHECK(halocline_least_surface_grid(2, odd.data(), 5, nullptr, dims.data()) == HALOCLINE_INVALID_ARGUMENT);
  CHECK_FALSE(std::string(halocline_last_error()).empty());
  CHECK(halocline_least_surface_grid(2, extents.data(), 4, nullptr, nullptr) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(last_error_says("NULL given for `dims`"));
}

TEST_CASE("c: every transport that can serve the grid carries what was packed to the opposite face") {
  const Ring ring;
  Transports list;
  REQUIRE(halocline_transports_create(ring.grid, &list) == HALOCLINE_OK);
  int count = 0, served = 0;
  REQUIRE(halocline_transports_count(list, &count) == HALOCLINE_OK);
  for (int index = 0; index < count; ++index) {
    const char *name = nullptr, *reason = nullptr, *carrier = nullptr;
    int available = -1;
    REQUIRE(halocline_transports_get(list, index, &name, &available, &reason) == HALOCLINE_OK);
    CAPTURE(name);
    CHECK((std::strlen(reason) == 0) == (available == 1));
    if (available == 0) continue;
    ++served;
    const std::array<std::size_t, 2> bytes{3 * sizeof(double), 8};
    Exchange exchange;
    REQUIRE_MESSAGE(halocline_exchange_create(ring.grid, bytes.data(), name, nullptr, &exchange) == HALOCLINE_OK,
                    halocline_last_error());
    CHECK(halocline_exchange_transport(exchange, &carrier) == HALOCLINE_OK);
    CHECK(std::string(carrier).rfind(name, 0) == 0);
    for (int step = 0; step < 5; ++step) {
      for (int face = 0; face < 2; ++face) {
        double* out = send_buffer(exchange, face, 3);
        for (int i = 0; i < 3; ++i) out[i] = 1000 * ring.rank + 100 * face + 10 * step + i;
      }
      REQUIRE(halocline_exchange_post(exchange, HALOCLINE_ALL_FACES) == HALOCLINE_OK);
      int first = -2, second = -2, none = -2;
      REQUIRE(halocline_exchange_wait_any(exchange, HALOCLINE_ALL_FACES, &first) == HALOCLINE_OK);
      REQUIRE(halocline_exchange_wait_any(exchange, HALOCLINE_ALL_FACES, &second) == HALOCLINE_OK);
      REQUIRE(halocline_exchange_wait_any(exchange, HALOCLINE_ALL_FACES, &none) == HALOCLINE_OK);
      CHECK(first + second == 1);
      CHECK(none == -1);
      for (int face = 0; face < 2; ++face) {
        int from = -1;
        REQUIRE(halocline_grid_neighbour(ring.grid, face, &from) == HALOCLINE_OK);
        const double* in = recv_buffer(exchange, face);
        for (int i = 0; i < 3; ++i) CHECK(in[i] == 1000 * from + 100 * halocline_opposite(face) + 10 * step + i);
      }
      CHECK(halocline_exchange_wait_sent(exchange, HALOCLINE_ALL_FACES) == HALOCLINE_OK);
    }
    std::uint64_t steps = 0;
    CHECK(halocline_exchange_steps(exchange, 1, &steps) == HALOCLINE_OK);
    CHECK(steps == 5);
  }
  CHECK(served >= 1);
}

TEST_CASE("c: faces can go one way, with one buffer, a checksum and a release") {
  const Ring ring;
  halocline_options options = halocline_default_options();
  CHECK(options.buffering == 2);
  CHECK(options.checksum == 0);
  CHECK(options.threads == 0);
  CHECK(options.time_limit == 300.0);
  options.buffering = 1;
  options.checksum = 1;
  options.time_limit = 60;
  const std::array<std::size_t, 2> bytes{sizeof(double), 0};
  Exchange exchange;
  REQUIRE(halocline_exchange_create(ring.grid, bytes.data(), "", &options, &exchange) == HALOCLINE_OK);
  double limit = 0;
  CHECK(halocline_exchange_time_limit(exchange, &limit) == HALOCLINE_OK);
  CHECK(limit == 60);
  CHECK(halocline_exchange_set_time_limit(exchange, 30) == HALOCLINE_OK);
  CHECK(halocline_exchange_time_limit(exchange, &limit) == HALOCLINE_OK);
  CHECK(limit == 30);
  for (int step = 0; step < 4; ++step) {
    const int out = step % 2, in = halocline_opposite(out);  // forth and back
    *send_buffer(exchange, out, 1) = ring.rank + 0.5 * step;
    REQUIRE(halocline_exchange_post(exchange, halocline_mask(out)) == HALOCLINE_OK);
    REQUIRE(halocline_exchange_wait(exchange, in) == HALOCLINE_OK);
    int arrived = 0, from = -1;
    CHECK(halocline_exchange_arrived(exchange, in, &arrived) == HALOCLINE_OK);
    CHECK(arrived == 1);
    REQUIRE(halocline_grid_neighbour(ring.grid, in, &from) == HALOCLINE_OK);
    CHECK(*recv_buffer(exchange, in) == from + 0.5 * step);
    CHECK(halocline_exchange_release(exchange, halocline_mask(in)) == HALOCLINE_OK);
  }
}

TEST_CASE("c: an exchange of other sizes shares the buffers") {
  const Ring ring;
  const std::array<std::size_t, 2> large{64, 0}, small{8, 0}, larger{72, 0};
  Exchange exchange, other, refused;
  REQUIRE(halocline_exchange_create(ring.grid, large.data(), "", nullptr, &exchange) == HALOCLINE_OK);
  REQUIRE(halocline_exchange_sharing_buffers(exchange, small.data(), &other) == HALOCLINE_OK);
  CHECK(halocline_exchange_sharing_buffers(exchange, larger.data(), &refused) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(refused.handle == nullptr);
  for (halocline_exchange* one : {exchange.handle, other.handle, exchange.handle}) {
    const std::size_t count = one == other.handle ? 1 : 8;
    for (int face = 0; face < 2; ++face) *send_buffer(one, face, count) = ring.rank;
    REQUIRE(halocline_exchange_post(one, HALOCLINE_ALL_FACES) == HALOCLINE_OK);
    REQUIRE(halocline_exchange_wait_all(one, HALOCLINE_ALL_FACES) == HALOCLINE_OK);
    int from = -1;
    REQUIRE(halocline_grid_neighbour(ring.grid, 0, &from) == HALOCLINE_OK);
    CHECK(*recv_buffer(one, 0) == from);
  }
}

TEST_CASE("c: handles may be destroyed in any order") {
  halocline_communicator* group = nullptr;
  halocline_grid* grid = nullptr;
  halocline_exchange* exchange = nullptr;
  REQUIRE(halocline_world(&group) == HALOCLINE_OK);
  int size = 0;
  REQUIRE(halocline_communicator_size(group, &size) == HALOCLINE_OK);
  REQUIRE(halocline_grid_create(group, 1, &size, nullptr, &grid) == HALOCLINE_OK);
  CHECK(halocline_communicator_destroy(group) == HALOCLINE_OK);
  const std::size_t bytes = 16;
  REQUIRE(halocline_exchange_create(grid, &bytes, nullptr, nullptr, &exchange) == HALOCLINE_OK);
  CHECK(halocline_grid_destroy(grid) == HALOCLINE_OK);
  send_buffer(exchange, 0, 2)[1] = 7;
  send_buffer(exchange, 1, 2)[1] = 8;
  CHECK(halocline_exchange_post(exchange, HALOCLINE_ALL_FACES) == HALOCLINE_OK);
  CHECK(halocline_exchange_wait_all(exchange, HALOCLINE_ALL_FACES) == HALOCLINE_OK);
  CHECK(recv_buffer(exchange, 0)[1] == 8);
  CHECK(recv_buffer(exchange, 1)[1] == 7);
  CHECK(halocline_exchange_destroy(exchange) == HALOCLINE_OK);
}

TEST_CASE("c: sums are those of all ranks, at once, in steps and exactly") {
  const Ring ring;
  Reduction reduction;
  REQUIRE(halocline_reduction_create(ring.group, &reduction) == HALOCLINE_OK);
  const double n = ring.size;
  std::array values{1.0, double(ring.rank)};
  CHECK(halocline_reduction_sum(reduction, 2, values.data()) == HALOCLINE_OK);
  CHECK(values == std::array{n, n * (n - 1) / 2});
  values = {2.0, 3.0};
  CHECK(halocline_reduction_begin(reduction, 2, values.data()) == HALOCLINE_OK);
  int ready = 0;
  while (ready == 0) REQUIRE(halocline_reduction_test(reduction, &ready) == HALOCLINE_OK);
  CHECK(halocline_reduction_wait(reduction) == HALOCLINE_OK);
  CHECK(values == std::array{2 * n, 3 * n});
  CHECK(halocline_reduction_set_time_limit(reduction, 12) == HALOCLINE_OK);
  double limit = 0;
  CHECK(halocline_reduction_time_limit(reduction, &limit) == HALOCLINE_OK);
  CHECK(limit == 12);

  CHECK(halocline_communicator_time_limit(ring.group, &limit) == HALOCLINE_OK);
  const double none = limit;
  CHECK(halocline_communicator_set_time_limit(ring.group, 30) == HALOCLINE_OK);
  CHECK(halocline_communicator_time_limit(ring.group, &limit) == HALOCLINE_OK);
  CHECK(limit == 30);
  CHECK(halocline_communicator_barrier(ring.group) == HALOCLINE_OK);
  CHECK(halocline_communicator_set_time_limit(ring.group, none) == HALOCLINE_OK);
  CHECK(halocline_communicator_set_time_limit(ring.group, 0) == HALOCLINE_INVALID_ARGUMENT);

  // 1e300 and 1e-300 of every rank: only an exact sum keeps the small ones once the large have cancelled.
  Exact exact, more;
  REQUIRE(halocline_exact_sum_create(&exact) == HALOCLINE_OK);
  REQUIRE(halocline_exact_sum_create(&more) == HALOCLINE_OK);
  const std::array terms{1e300, 1e-300}, a{-1e200, 0.0}, b{1e100, 1.0};
  CHECK(halocline_exact_sum_add(exact, 2, terms.data()) == HALOCLINE_OK);
  CHECK(halocline_exact_sum_add_products(more, 2, a.data(), b.data()) == HALOCLINE_OK);
  CHECK(halocline_exact_sum_merge(exact, more) == HALOCLINE_OK);
  CHECK(halocline_exact_sum_over(ring.group, exact) == HALOCLINE_OK);
  double value = 0, product = 0, one = 0;
  CHECK(halocline_exact_sum_value(exact, &value) == HALOCLINE_OK);
  // The same from one process: n times the exact difference, rounded once.
  Exact alone;
  REQUIRE(halocline_exact_sum_create(&alone) == HALOCLINE_OK);
  for (int rank = 0; rank < ring.size; ++rank) {
    CHECK(halocline_exact_sum_add_products(alone, 2, a.data(), b.data()) == HALOCLINE_OK);
    CHECK(halocline_exact_sum_add(alone, 2, terms.data()) == HALOCLINE_OK);
  }
  CHECK(halocline_exact_sum_value(alone, &one) == HALOCLINE_OK);
  CHECK(value == one);
  CHECK(halocline_exact_sum_clear(exact) == HALOCLINE_OK);
  CHECK(halocline_exact_sum_value(exact, &product) == HALOCLINE_OK);
  CHECK(product == 0);
  CHECK(halocline_exact_sum_add(exact, 0, nullptr) == HALOCLINE_OK);
}

TEST_CASE("c: a Fortran handle of MPI becomes a group, or a sentence") {
  Group group;
  CHECK(halocline_from_fortran_handle(std::numeric_limits<int>::min(), &group) != HALOCLINE_OK);
  CHECK(group.handle == nullptr);
  CHECK_FALSE(std::string(halocline_last_error()).empty());
}

TEST_CASE("c: the group of one process has one rank, and barriers return") {
  Group self, world;
  REQUIRE(halocline_self(&self) == HALOCLINE_OK);
  CHECK(size_of(self) == 1);
  REQUIRE(halocline_world(&world) == HALOCLINE_OK);
  CHECK(halocline_communicator_barrier(self) == HALOCLINE_OK);
  CHECK(halocline_communicator_barrier(world) == HALOCLINE_OK);
}
