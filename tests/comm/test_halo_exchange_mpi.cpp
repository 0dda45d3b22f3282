// SPDX-License-Identifier: Apache-2.0
/// @file
/// The laws of the halo exchange over every transport that can be used here, and what concerns the choice of one.

#include "comm/halo_laws.hpp"
#include "halocline/comm/exchange/transport_choice.hpp"
#include "halocline/comm/group/world.hpp"

#include <memory>
#include <omp.h>

using namespace halo_laws;

TEST_CASE("halo: every usable transport keeps all laws, with two buffers, with one and with checksums") {
  const comm::Communicator world = comm::world();
  for (const Way& way : usable_ways(world)) all_laws(world, way);
}

TEST_CASE("halo: several threads post and wait at once") {
  const comm::Communicator world = comm::world();
  constexpr int axes = 3, threads = 3;
  const ProcessGrid grid(world, {1, world.size(), 1});
  for (Way way : usable_ways(world)) {
    CAPTURE(way.name);
    way.options.threads = true;
    Driver driver(grid, {264, 72, 1000}, way);
    std::vector<std::uint64_t> wrong(threads, 0);
    std::vector<std::string> errors(threads);
    const int steps = world.size() > 3 ? 20 : 100;  // 24 threads take turns on few cores
#pragma omp parallel num_threads(threads)
    {
      const int thread = omp_get_thread_num(), team = omp_get_num_threads();
      const auto mine = [&](auto&& action) {  // nothing may leave the parallel region as an exception
        try {
          for (int f = thread; f < 2 * axes; f += team) action(f);
        } catch (const std::exception& error) {
          errors[static_cast<std::size_t>(thread)] = error.what();
        }
      };
      for (int k = 0; k < steps; ++k) {
        mine([&](int f) {
          const auto buffer = driver.exchange.send_buffer(Face::from_index(f));
          write_content(buffer, grid.rank(), f, static_cast<std::uint64_t>(k));
          driver.exchange.post(Face::from_index(f));
        });
#pragma omp barrier
        mine([&](int f) {
          driver.exchange.wait(Face::from_index(f));
          const auto buffer = driver.exchange.recv_buffer(Face::from_index(f));
          const int from = grid.neighbour(Face::from_index(f));
          wrong[static_cast<std::size_t>(thread)] += wrong_words(buffer, from, f ^ 1, static_cast<std::uint64_t>(k));
        });
#pragma omp barrier
#pragma omp single
        driver.exchange.release();
      }
    }
    for (const std::string& error : errors) CHECK(error.empty());
    for (const std::uint64_t count : wrong) CHECK(count == 0);
    CHECK(driver.exchange.steps({0, +1}) == steps);
  }
}

TEST_CASE("halo: auto takes the fastest of the usable transports, the same on every rank") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size(), 1});
  const std::vector<std::size_t> bytes{512, 64};
  const comm::TransportChoice choice = comm::choose_transport(grid, bytes, {}, 0.002);
  std::size_t tried = 0;
  double best = 1e300;
  for (const auto& trial : choice.trials) {
    CHECK((trial.seconds > 0.0) == trial.problem.empty());
    if (!trial.problem.empty()) continue;
    ++tried;
    best = std::min(best, trial.seconds);
    if (trial.name == choice.name) CHECK(0.98 * trial.seconds <= best);
  }
  CHECK(tried >= 1);
  const auto names = world.allgather(std::as_bytes(std::span(choice.name)));
  CHECK(names.size() == choice.name.size() * static_cast<std::size_t>(world.size()));
  CHECK(std::memcmp(names.data(), choice.name.data(), choice.name.size()) == 0);

  HaloExchange exchange(grid, bytes, "auto");
  exchange.post();
  exchange.wait_all();
  CHECK(comm::transport_unavailable_reason(exchange.transport().name(), grid).empty());
}

TEST_CASE("halo: a transport that cannot serve is refused with those that can") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size()});
  const auto sentence = [&](const char* name) -> std::string {
    try {
      static_cast<void>(comm::make_transport(name, grid));
      return "";
    } catch (const core::InvalidArgument& error) {
      return error.what();
    }
  };
  const std::string fallback = comm::default_transport(grid);
  CHECK(sentence("pigeon").find(fallback) != std::string::npos);
  CHECK(sentence("self:mpi_rma").find("not known") != std::string::npos);
  CHECK((sentence("self").find("one process") != std::string::npos) == (world.size() > 1));
  CHECK(sentence(fallback.c_str()).empty());
  CHECK(sentence("").empty());
}

TEST_CASE("halo: windows of MPI of two groups at once deliver each group's messages, or are not offered") {
  const comm::Communicator world = comm::world();
  if (world.size() < 4) return;
  const comm::Communicator half = world.split(world.rank() % 2, world.rank());
  const ProcessGrid grid(half, {half.size()});
  if (!comm::transport_unavailable_reason("mpi_rma", grid).empty()) return;
  const std::vector<std::size_t> bytes{512};
  for (int turn = 0; turn < 10; ++turn) {
    HaloExchange exchange(grid, bytes, "mpi_rma", {.time_limit = 60.0});
    for (std::uint64_t step = 0; step < 50; ++step) {
      const std::uint64_t content = 2 * step + static_cast<std::uint64_t>(world.rank() % 2);
      for (const int f : {0, 1}) write_content(exchange.send_buffer(Face::from_index(f)), grid.rank(), f, content);
      exchange.post();
      exchange.wait_all();
      for (const int f : {0, 1})
        CHECK(wrong_words(exchange.recv_buffer(Face::from_index(f)), grid.neighbour(Face::from_index(f)), f ^ 1,
                          content) == 0);
    }
    exchange.close();
  }
}

TEST_CASE("halo: of many windows of MPI each delivers or is refused, and closed ones make room") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size()});
  if (!comm::transport_unavailable_reason("mpi_rma", grid).empty()) return;
  const std::vector<std::size_t> bytes{512};
  const auto passes = [&](HaloExchange& exchange, std::uint64_t step) {
    for (const int f : {0, 1}) write_content(exchange.send_buffer(Face::from_index(f)), grid.rank(), f, step);
    exchange.post();
    exchange.wait_all();
    std::uint64_t wrong = 0;
    for (const int f : {0, 1})
      wrong += wrong_words(exchange.recv_buffer(Face::from_index(f)), grid.neighbour(Face::from_index(f)), f ^ 1, step);
    exchange.release();
    return wrong == 0;
  };
  const comm::HaloOptions limited{.time_limit = 60.0};
  for (std::uint64_t k = 0; k < 16; ++k) {
    HaloExchange exchange(grid, bytes, "mpi_rma", limited);
    CHECK(passes(exchange, k));
    exchange.close();
  }
  std::vector<std::unique_ptr<HaloExchange>> open;
  std::string refusal;
  for (std::uint64_t k = 0; k < 16 && refusal.empty(); ++k) {
    try {
      open.push_back(std::make_unique<HaloExchange>(grid, bytes, "mpi_rma", limited));
      CHECK(passes(*open.back(), k));
    } catch (const core::Error& error) {
      refusal = error.what();
    }
  }
  CHECK(!open.empty());
  CAPTURE(refusal);
  CHECK((refusal.empty() || refusal.find("do not arrive") != std::string::npos));
  for (const auto& exchange : open) exchange->close();
}
