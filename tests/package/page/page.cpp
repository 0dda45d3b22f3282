// SPDX-License-Identifier: Apache-2.0
//
// What docs/using-comm.md shows in C++, word for word (tests/docs/test_using_comm.py compares), in functions that check
// what came. Every byte of a message is 1 + the number of the face that it left through.
#include <halocline/comm/exchange/halo_exchange.hpp>
#include <halocline/comm/exchange/transport.hpp>
#include <halocline/comm/group/process_grid.hpp>
#include <halocline/comm/group/world.hpp>
#include <halocline/comm/sums/exact_sum.hpp>
#include <halocline/comm/sums/reduction.hpp>
#include <halocline/core/error.hpp>

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace comm = halocline::comm;

namespace {

std::atomic<int> wrong = 0;

void pack(comm::Face face, std::span<std::byte> message) {
  std::memset(message.data(), 1 + face.index(), message.size());
}
void compute_interior() {}
void compute_boundary(comm::Face face, std::span<const std::byte> message) {
  for (const std::byte byte : message) wrong += byte != std::byte(1 + face.opposite().index());
}

void first_exchange() {
  const int steps = 3;
  const comm::Communicator world = comm::world();
  const comm::ProcessGrid grid(world, {world.size(), 1});
  const std::array<std::size_t, 2> face_bytes{1024, 512};
  comm::HaloExchange exchange(grid, face_bytes, "auto");

  for (int step = 0; step < steps; ++step) {
    for (int index = 0; index < 4; ++index) {
      const auto face = comm::Face::from_index(index);
      pack(face, exchange.send_buffer(face));
    }
    exchange.post();
    compute_interior();
    while (const auto face = exchange.wait_any()) compute_boundary(*face, exchange.recv_buffer(*face));
  }
}

void one_way(const comm::ProcessGrid& grid, std::span<const std::size_t> face_bytes) {
  comm::HaloExchange exchange(grid, face_bytes, "");
  for (int round = 0; round < 3; ++round) {
    for (const comm::Face face : {comm::Face{0, +1}, comm::Face{0, -1}}) {
      pack(face, exchange.send_buffer(face));
      exchange.post(face);
      exchange.wait(face.opposite());
      compute_boundary(face.opposite(), exchange.recv_buffer(face.opposite()));
    }
  }
}

void threads(const comm::ProcessGrid& grid, std::span<const std::size_t> face_bytes) {
  comm::HaloExchange exchange(grid, face_bytes, "", {.threads = true});
  for (int step = 0; step < 3; ++step) {
#pragma omp parallel for num_threads(2)
    for (int index = 0; index < 4; ++index) {
      const auto face = comm::Face::from_index(index);
      pack(face, exchange.send_buffer(face));
      exchange.post(face);
    }
#pragma omp parallel for num_threads(2)
    for (int index = 0; index < 4; ++index) {
      const auto face = comm::Face::from_index(index);
      exchange.wait(face);
      compute_boundary(face, exchange.recv_buffer(face));
    }
  }
}

void failure(comm::HaloExchange& exchange) {
  exchange.set_time_limit(20.0);
  try {
    exchange.post();
    exchange.wait_all();
  } catch (const halocline::core::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    comm::abort_all(1);
  }
}

void turns(const comm::ProcessGrid& grid, std::span<const std::size_t> doubles, std::span<const std::size_t> floats) {
  comm::HaloExchange in_double(grid, doubles, "");
  comm::HaloExchange in_float = in_double.sharing_buffers(floats);
  failure(in_double);
  failure(in_float);
}

void transports() {
  for (const comm::TransportInfo& transport : comm::available_transports()) {
    std::printf("%-16s %s\n", transport.name.c_str(), transport.available ? "yes" : transport.reason.c_str());
  }
}

double norm(const comm::Communicator& world, const std::vector<double>& x) {
  comm::ExactSum square;
  square.add_products(x, x);
  sum_over(world, {&square, 1});
  return std::sqrt(square.value());
}

double fast_sum(const comm::Communicator& world, double mine) {
  comm::Reduction reduction(world);
  return reduction.sum(mine);
}

}  // namespace

int main() {
  first_exchange();
  const comm::Communicator world = comm::world();
  const comm::ProcessGrid grid(world, {world.size(), 1});
  const std::array<std::size_t, 2> face_bytes{1024, 512}, half{512, 256};
  one_way(grid, face_bytes);
  threads(grid, face_bytes);
  turns(grid, face_bytes, half);
  if (world.rank() == 0) transports();
  wrong += norm(world, std::vector<double>(4, 1.0)) != std::sqrt(4.0 * world.size());
  wrong += fast_sum(world, 0.5) != 0.5 * world.size();
  if (wrong != 0) std::fprintf(stderr, "%d wrong\n", wrong.load());
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
