// SPDX-License-Identifier: Apache-2.0
//
// What the C border says to calls that cannot work: a status, a sentence, and everything as it was before.

#include <doctest/doctest.h>

#include "halocline/comm/bindings/c.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

namespace {

bool last_error_says(const std::string& words) {
  return std::string(halocline_last_error()).find(words) != std::string::npos;
}

/// A ring of all processes with one exchange of 16 bytes a face.
class Ring {
public:
  Ring() {
    REQUIRE(halocline_world(&group) == HALOCLINE_OK);
    REQUIRE(halocline_communicator_size(group, &size) == HALOCLINE_OK);
    REQUIRE(halocline_grid_create(group, 1, &size, nullptr, &grid) == HALOCLINE_OK);
    REQUIRE(halocline_exchange_create(grid, &bytes, nullptr, nullptr, &exchange) == HALOCLINE_OK);
    REQUIRE(halocline_reduction_create(group, &reduction) == HALOCLINE_OK);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() {
    halocline_reduction_destroy(reduction);
    halocline_exchange_destroy(exchange);
    halocline_grid_destroy(grid);
    halocline_communicator_destroy(group);
  }
  halocline_communicator* group = nullptr;
  halocline_grid* grid = nullptr;
  halocline_exchange* exchange = nullptr;
  halocline_reduction* reduction = nullptr;
  int size = 0;
  const std::size_t bytes = 16;
};

}  // namespace

TEST_CASE("c: NULL is refused by every function, with its name") {
  const Ring ring;
  int number = 0;
  double real = 0;
  std::uint64_t count = 0;
  const std::size_t bytes = 8;
  const char* text = nullptr;
  void* buffer = nullptr;
  const void* received = nullptr;
  const std::int64_t extent = 8;
  halocline_grid* grid = nullptr;
  halocline_exchange* exchange = nullptr;
  halocline_reduction* reduction = nullptr;
  const auto refused = [](int status, const std::string& function) {
    CAPTURE(function);
    CHECK(status == HALOCLINE_INVALID_ARGUMENT);
    CHECK_MESSAGE(last_error_says("halocline_" + function + ": NULL given for"), halocline_last_error());
  };
  refused(halocline_world(nullptr), "world");
  refused(halocline_self(nullptr), "self");
  refused(halocline_from_fortran_handle(0, nullptr), "from_fortran_handle");
  refused(halocline_communicator_rank(nullptr, &number), "communicator_rank");
  refused(halocline_communicator_rank(ring.group, nullptr), "communicator_rank");
  refused(halocline_communicator_size(nullptr, &number), "communicator_size");
  refused(halocline_communicator_barrier(nullptr), "communicator_barrier");
  refused(halocline_grid_create(nullptr, 1, &number, nullptr, &grid), "grid_create");
  refused(halocline_grid_create(ring.group, 1, &number, nullptr, nullptr), "grid_create");
  refused(halocline_grid_ndim(nullptr, &number), "grid_ndim");
  refused(halocline_grid_rank(nullptr, &number), "grid_rank");
  refused(halocline_grid_size(nullptr, &number), "grid_size");
  refused(halocline_grid_dims(nullptr, &number), "grid_dims");
  refused(halocline_grid_dims(ring.grid, nullptr), "grid_dims");
  refused(halocline_grid_periodic(ring.grid, nullptr), "grid_periodic");
  refused(halocline_grid_coords(ring.grid, nullptr), "grid_coords");
  refused(halocline_grid_coords_of(ring.grid, 0, nullptr), "grid_coords_of");
  refused(halocline_grid_rank_of(ring.grid, nullptr, &number), "grid_rank_of");
  refused(halocline_grid_neighbour(nullptr, 0, &number), "grid_neighbour");
  refused(halocline_least_surface_grid(1, nullptr, 1, nullptr, &number), "least_surface_grid");
  refused(halocline_least_surface_grid(1, &extent, 1, nullptr, nullptr), "least_surface_grid");
  refused(halocline_transports_create(nullptr, nullptr), "transports_create");
  refused(halocline_transports_count(nullptr, &number), "transports_count");
  refused(halocline_transports_get(nullptr, 0, &text, &number, &text), "transports_get");
  refused(halocline_exchange_create(nullptr, &bytes, nullptr, nullptr, &exchange), "exchange_create");
  refused(halocline_exchange_create(ring.grid, &bytes, nullptr, nullptr, nullptr), "exchange_create");
  refused(halocline_exchange_sharing_buffers(nullptr, &bytes, &exchange), "exchange_sharing_buffers");
  refused(halocline_exchange_transport(nullptr, &text), "exchange_transport");
  refused(halocline_exchange_active(nullptr, 0, &number), "exchange_active");
  refused(halocline_exchange_send_buffer(nullptr, 0, &buffer, nullptr), "exchange_send_buffer");
  refused(halocline_exchange_send_buffer(ring.exchange, 0, nullptr, nullptr), "exchange_send_buffer");
  refused(halocline_exchange_recv_buffer(nullptr, 0, &received, nullptr), "exchange_recv_buffer");
  refused(halocline_exchange_post(nullptr, HALOCLINE_ALL_FACES), "exchange_post");
  refused(halocline_exchange_wait(nullptr, 0), "exchange_wait");
  refused(halocline_exchange_wait_all(nullptr, 1), "exchange_wait_all");
  refused(halocline_exchange_wait_any(nullptr, 1, &number), "exchange_wait_any");
  refused(halocline_exchange_arrived(nullptr, 0, &number), "exchange_arrived");
  refused(halocline_exchange_wait_sent(nullptr, 1), "exchange_wait_sent");
  refused(halocline_exchange_release(nullptr, 1), "exchange_release");
  refused(halocline_exchange_set_time_limit(nullptr, 1), "exchange_set_time_limit");
  refused(halocline_exchange_time_limit(nullptr, &real), "exchange_time_limit");
  refused(halocline_exchange_steps(nullptr, 0, &count), "exchange_steps");
  refused(halocline_communicator_set_time_limit(nullptr, 1), "communicator_set_time_limit");
  refused(halocline_communicator_time_limit(nullptr, &real), "communicator_time_limit");
  refused(halocline_reduction_create(nullptr, &reduction), "reduction_create");
  refused(halocline_reduction_sum(nullptr, 1, &real), "reduction_sum");
  refused(halocline_reduction_sum(ring.reduction, 1, nullptr), "reduction_sum");
  refused(halocline_reduction_begin(nullptr, 1, &real), "reduction_begin");
  refused(halocline_reduction_test(nullptr, &number), "reduction_test");
  refused(halocline_reduction_wait(nullptr), "reduction_wait");
  refused(halocline_reduction_set_time_limit(nullptr, 1), "reduction_set_time_limit");
  refused(halocline_reduction_time_limit(nullptr, &real), "reduction_time_limit");
  refused(halocline_exact_sum_create(nullptr), "exact_sum_create");
  refused(halocline_exact_sum_clear(nullptr), "exact_sum_clear");
  refused(halocline_exact_sum_add(nullptr, 1, &real), "exact_sum_add");
  refused(halocline_exact_sum_add_products(nullptr, 1, &real, &real), "exact_sum_add_products");
  refused(halocline_exact_sum_merge(nullptr, nullptr), "exact_sum_merge");
  refused(halocline_exact_sum_over(ring.group, nullptr), "exact_sum_over");
  refused(halocline_exact_sum_value(nullptr, &real), "exact_sum_value");
}

TEST_CASE("c: destroying NULL does nothing") {
  CHECK(halocline_communicator_destroy(nullptr) == HALOCLINE_OK);
  CHECK(halocline_grid_destroy(nullptr) == HALOCLINE_OK);
  CHECK(halocline_transports_destroy(nullptr) == HALOCLINE_OK);
  CHECK(halocline_exchange_destroy(nullptr) == HALOCLINE_OK);
  CHECK(halocline_reduction_destroy(nullptr) == HALOCLINE_OK);
  CHECK(halocline_exact_sum_destroy(nullptr) == HALOCLINE_OK);
}

TEST_CASE("c: a grid that does not fit is refused on every rank") {
  const Ring ring;
  const int dims = ring.size + 1;
  auto* grid = reinterpret_cast<halocline_grid*>(std::uintptr_t{64});
  CHECK(halocline_grid_create(ring.group, 1, &dims, nullptr, &grid) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(grid == nullptr);
  CHECK(last_error_says(std::to_string(dims)));
  CHECK(halocline_grid_create(ring.group, 0, &dims, nullptr, &grid) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(last_error_says("0 axes given"));
  CHECK(halocline_grid_create(ring.group, -3, &dims, nullptr, &grid) == HALOCLINE_INVALID_ARGUMENT);
}

TEST_CASE("c: one rank's missing array is everybody's error, not a hang") {
  const Ring ring;
  int rank = -1;
  REQUIRE(halocline_communicator_rank(ring.group, &rank) == HALOCLINE_OK);
  halocline_grid* grid = nullptr;
  const int* dims = rank == ring.size - 1 ? nullptr : &ring.size;
  CHECK(halocline_grid_create(ring.group, 1, dims, nullptr, &grid) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(last_error_says("NULL given for `dims`"));
  halocline_exchange* exchange = nullptr;
  halocline_options options = halocline_default_options();
  options.buffering = rank == 0 ? 3 : 2;
  CHECK(halocline_exchange_create(ring.grid, &ring.bytes, nullptr, rank == 0 ? &options : nullptr, &exchange) ==
        HALOCLINE_INVALID_ARGUMENT);
  CHECK(last_error_says("buffering 3 given"));
  CHECK(exchange == nullptr);
}

TEST_CASE("c: sizes that differ between neighbours are refused on every rank") {
  const Ring ring;
  if (ring.size == 1) return;  // a process agrees with itself
  int rank = -1;
  REQUIRE(halocline_communicator_rank(ring.group, &rank) == HALOCLINE_OK);
  const std::size_t bytes = rank == 0 ? 24 : 16;
  halocline_exchange* exchange = nullptr;
  CHECK(halocline_exchange_create(ring.grid, &bytes, nullptr, nullptr, &exchange) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(last_error_says("24"));
  CHECK(exchange == nullptr);
}

TEST_CASE("c: an unknown transport is answered with those that can serve") {
  const Ring ring;
  halocline_exchange* exchange = nullptr;
  CHECK(halocline_exchange_create(ring.grid, &ring.bytes, "pigeons", nullptr, &exchange) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(last_error_says("pigeons"));
  CHECK(last_error_says(ring.size == 1 ? "self" : "shared_memory"));
}

TEST_CASE("c: options that make no sense are refused") {
  const Ring ring;
  halocline_options options = halocline_default_options();
  options.time_limit = -1;
  halocline_exchange* exchange = nullptr;
  CHECK(halocline_exchange_create(ring.grid, &ring.bytes, nullptr, &options, &exchange) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(halocline_exchange_set_time_limit(ring.exchange, 0) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(halocline_reduction_set_time_limit(ring.reduction, 0) == HALOCLINE_INVALID_ARGUMENT);
}

TEST_CASE("c: a face that is none is refused, and one that carries nothing is no error") {
  const Ring ring;
  int number = 0;
  void* buffer = nullptr;
  const void* received = nullptr;
  std::uint64_t steps = 0;
  for (const int face : {-1, 2, 1000}) {
    CAPTURE(face);
    CHECK(halocline_exchange_wait(ring.exchange, face) == HALOCLINE_INVALID_ARGUMENT);
    CHECK(last_error_says("face " + std::to_string(face) + " given, but a grid of 1 axes has faces 0 to 1"));
    CHECK(halocline_exchange_send_buffer(ring.exchange, face, &buffer, nullptr) == HALOCLINE_INVALID_ARGUMENT);
    CHECK(halocline_exchange_recv_buffer(ring.exchange, face, &received, nullptr) == HALOCLINE_INVALID_ARGUMENT);
    CHECK(halocline_exchange_arrived(ring.exchange, face, &number) == HALOCLINE_INVALID_ARGUMENT);
    CHECK(halocline_exchange_active(ring.exchange, face, &number) == HALOCLINE_INVALID_ARGUMENT);
    CHECK(halocline_exchange_steps(ring.exchange, face, &steps) == HALOCLINE_INVALID_ARGUMENT);
    CHECK(halocline_grid_neighbour(ring.grid, face, &number) == HALOCLINE_INVALID_ARGUMENT);
  }
  const std::size_t nothing = 0;
  halocline_exchange* exchange = nullptr;
  REQUIRE(halocline_exchange_create(ring.grid, &nothing, nullptr, nullptr, &exchange) == HALOCLINE_OK);
  std::size_t bytes = 1;
  CHECK(halocline_exchange_active(exchange, 0, &number) == HALOCLINE_OK);
  CHECK(number == 0);
  CHECK(halocline_exchange_send_buffer(exchange, 0, &buffer, &bytes) == HALOCLINE_OK);
  CHECK(buffer == nullptr);
  CHECK(bytes == 0);
  CHECK(halocline_exchange_post(exchange, HALOCLINE_ALL_FACES) == HALOCLINE_OK);
  CHECK(halocline_exchange_wait(exchange, 0) == HALOCLINE_OK);
  CHECK(halocline_exchange_recv_buffer(exchange, 0, &received, &bytes) == HALOCLINE_OK);
  CHECK(received == nullptr);
  CHECK(halocline_exchange_destroy(exchange) == HALOCLINE_OK);
}

TEST_CASE("c: waiting without a post, waiting twice and posting twice are refused, and the exchange goes on") {
  const Ring ring;
  CHECK(halocline_exchange_wait(ring.exchange, 0) == HALOCLINE_INVALID_ARGUMENT);
  for (int step = 0; step < 2; ++step) {
    REQUIRE(halocline_exchange_post(ring.exchange, HALOCLINE_ALL_FACES) == HALOCLINE_OK);
    CHECK(halocline_exchange_post(ring.exchange, HALOCLINE_ALL_FACES) == HALOCLINE_INVALID_ARGUMENT);
    CHECK(halocline_exchange_wait(ring.exchange, 0) == HALOCLINE_OK);
    CHECK(halocline_exchange_wait(ring.exchange, 0) == HALOCLINE_INVALID_ARGUMENT);
    CHECK(halocline_exchange_wait(ring.exchange, 1) == HALOCLINE_OK);
  }
}

TEST_CASE("c: sums of too few or too many values, or out of turn, are refused") {
  const Ring ring;
  std::array<double, 9> values{};
  values.fill(1);
  CHECK(halocline_reduction_sum(ring.reduction, 0, values.data()) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(halocline_reduction_sum(ring.reduction, -1, values.data()) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(halocline_reduction_sum(ring.reduction, 9, values.data()) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(halocline_reduction_wait(ring.reduction) == HALOCLINE_INVALID_ARGUMENT);
  int ready = 0;
  CHECK(halocline_reduction_test(ring.reduction, &ready) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(halocline_reduction_begin(ring.reduction, 1, values.data()) == HALOCLINE_OK);
  CHECK(halocline_reduction_begin(ring.reduction, 1, values.data()) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(halocline_reduction_wait(ring.reduction) == HALOCLINE_OK);
  CHECK(values[0] == ring.size);
}

TEST_CASE("c: a transport outside the list is refused") {
  halocline_transports* list = nullptr;
  REQUIRE(halocline_transports_create(nullptr, &list) == HALOCLINE_OK);
  int count = 0, available = 0;
  const char *name = nullptr, *reason = nullptr;
  REQUIRE(halocline_transports_count(list, &count) == HALOCLINE_OK);
  CHECK(count >= 8);
  CHECK(halocline_transports_get(list, -1, &name, &available, &reason) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(halocline_transports_get(list, count, &name, &available, &reason) == HALOCLINE_INVALID_ARGUMENT);
  CHECK(halocline_transports_destroy(list) == HALOCLINE_OK);
}

TEST_CASE("c: each thread has its own last error, and success leaves it alone") {
  CHECK(halocline_exchange_wait(nullptr, 0) == HALOCLINE_INVALID_ARGUMENT);
  const std::string before = halocline_last_error();
  std::string at_first, then;
  std::thread([&] {
    at_first = halocline_last_error();
    halocline_grid_ndim(nullptr, nullptr);
    then = halocline_last_error();
  }).join();
  CHECK(at_first.empty());
  CHECK(then.find("halocline_grid_ndim") == 0);
  CHECK(halocline_exchange_destroy(nullptr) == HALOCLINE_OK);
  CHECK(halocline_last_error() == before);
}

TEST_CASE("c: a neighbour that does not post is FAILED within the time limit, and so is every later use") {
  const Ring ring;
  if (ring.size == 1) return;  // a process does not outrun itself
  int rank = -1;
  REQUIRE(halocline_communicator_rank(ring.group, &rank) == HALOCLINE_OK);
  REQUIRE(halocline_exchange_set_time_limit(ring.exchange, 0.05) == HALOCLINE_OK);
  if (rank == 0) {
    REQUIRE(halocline_exchange_post(ring.exchange, HALOCLINE_ALL_FACES) == HALOCLINE_OK);
    CHECK(halocline_exchange_wait_all(ring.exchange, HALOCLINE_ALL_FACES) == HALOCLINE_FAILED);
    CHECK(last_error_says("rank 0"));
    CHECK(last_error_says("step"));
    CHECK(halocline_exchange_post(ring.exchange, HALOCLINE_ALL_FACES) == HALOCLINE_FAILED);
  }
  CHECK(halocline_communicator_barrier(ring.group) == HALOCLINE_OK);
}
