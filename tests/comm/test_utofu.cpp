// SPDX-License-Identifier: Apache-2.0
/// @file
/// Transport utofu on simulated ranks over the loopback shim of its interface.

#include "halocline/comm/transports/utofu/utofu.hpp"

#include "comm/utofu_shim/shim_control.hpp"
#include "halo_laws.hpp"
#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/simulation/simulation.hpp"

#include <utofu.h>

#include <array>

using namespace halocline;
using comm::Face;
using comm::ProcessGrid;
using comm::TransportOptions;
using comm::UtofuTransport;

namespace {

halo_laws::Way utofu_way(const TransportOptions& options, comm::Buffering buffering = comm::Buffering::two) {
  halo_laws::Way way{"utofu",
                     [options](const ProcessGrid&) -> std::unique_ptr<comm::Transport> {
                       return std::make_unique<UtofuTransport>(options);
                     },
                     {}};
  way.options.buffering = buffering;
  way.options.time_limit = 60.0;  // simulated
  return way;
}

void laws_on(int ranks, const utofu_shim::Machine& machine, halo_laws::Way way) {
  utofu_shim::reset(machine);
  CAPTURE(ranks);
  CAPTURE(machine.interfaces);
  CAPTURE(machine.queues);
  comm::simulate(ranks, {.seed = machine.seed, .pause_probability = 0.01}, [&](const comm::Communicator& group) {
    halo_laws::Way mine = way;
    mine.pause = [&group] { group.backend().idle(); };
    halo_laws::all_laws(group, mine);
  });
  CHECK(utofu_shim::traffic().weak == 0);
  CHECK(utofu_shim::traffic().misaligned == 0);
}

/// Some steps of two ranks with messages of so many bytes.
utofu_shim::Traffic traffic_of(const TransportOptions& options, std::vector<std::size_t> bytes, int steps,
                               const utofu_shim::Machine& machine = {},
                               comm::Buffering buffering = comm::Buffering::two) {
  utofu_shim::reset(machine);
  comm::simulate(2, {}, [&](const comm::Communicator& group) {
    std::vector<int> dims(bytes.size(), 1);
    dims.back() = 2;
    const ProcessGrid grid(group, dims);
    halo_laws::Driver driver(grid, bytes, utofu_way(options, buffering));
    for (int k = 0; k < steps; ++k) driver.step();
    CHECK(driver.wrong == 0);
  });
  CHECK(utofu_shim::open_queues() == 0);
  CHECK(utofu_shim::registered() == 0);
  return utofu_shim::traffic();
}

}  // namespace

TEST_CASE("utofu: the laws hold with one to six interfaces, with two buffers and with one") {
  for (int interfaces = 1; interfaces <= 6; ++interfaces) {
    const int ranks = std::array{1, 2, 3, 4, 6, 8}[static_cast<std::size_t>(interfaces - 1)];
    const utofu_shim::Machine machine{.seed = static_cast<std::uint64_t>(interfaces), .interfaces = interfaces};
    laws_on(ranks, machine, utofu_way({}));
    laws_on(ranks, machine, utofu_way({}, comm::Buffering::one));
  }
}

TEST_CASE("utofu: the laws hold without cache injection, without piggyback and with checksums") {
  for (const int ranks : {2, 3}) {
    TransportOptions options{.cache_injection = false};
    laws_on(ranks, {.seed = 11}, utofu_way(options));
    CHECK(utofu_shim::traffic().injected == 0);
    options.piggyback_bytes = 0;
    laws_on(ranks, {.seed = 12}, utofu_way(options));
    CHECK(utofu_shim::traffic().piggybacks == 0);
    auto way = utofu_way({});
    way.options.checksum = true;
    laws_on(ranks, {.seed = 13}, way);
  }
}

TEST_CASE("utofu: the laws hold where faces share queues, and where queues are short") {
  laws_on(3, {.seed = 21, .interfaces = 2, .queues = 40}, utofu_way({}));
  laws_on(3, {.seed = 22, .interfaces = 1, .queue_length = 1}, utofu_way({}, comm::Buffering::one));
  CHECK(utofu_shim::traffic().busy > 0);
}

TEST_CASE("utofu: short messages and acknowledgements travel in descriptors") {
  const int steps = 20;
  const std::uint64_t messages = 2 * 2 * steps;  // two ranks, two faces
  const auto small = traffic_of({}, {8}, steps);
  CHECK(small.piggybacks == messages);
  CHECK(small.puts == 0);
  CHECK(small.words == 0);
  const auto longer = traffic_of({}, {9}, steps);
  CHECK(longer.piggybacks == 0);
  CHECK(longer.puts == messages);
  CHECK(longer.injected == messages);
  TransportOptions shorter{.piggyback_bytes = 4};
  CHECK(traffic_of(shorter, {5}, steps).puts == messages);
  CHECK(traffic_of(shorter, {4}, steps).piggybacks == messages);
  CHECK(traffic_of({}, {100}, steps, {}, comm::Buffering::one).words > 0);
}

TEST_CASE("utofu: a face leaves through its interface, and a rank that is its own neighbour through none") {
  const int steps = 10;
  TransportOptions options{.interfaces = {0, 0, 4, 2}};
  const auto chosen = traffic_of(options, {64, 64}, steps);  // axis 0 has one process
  for (int interface = 0; interface < 6; ++interface) {
    CAPTURE(interface);
    CHECK(chosen.by_interface[interface] == (interface == 4 || interface == 2 ? 2u * steps : 0u));
  }
  const auto spread = traffic_of({}, {64, 64}, steps);
  CHECK(spread.by_interface[0] == 2u * steps);
  CHECK(spread.by_interface[1] == 2u * steps);
}

TEST_CASE("utofu: threads may post at once where every face has a queue of its own") {
  for (const std::size_t queues : {std::size_t{1000}, std::size_t{1}}) {
    utofu_shim::reset({.interfaces = 1, .queues = queues});
    comm::simulate(2, {}, [&](const comm::Communicator& group) {
      const ProcessGrid grid(group, {2});
      UtofuTransport transport;
      const std::vector<std::size_t> capacity{64, 64};
      if (queues == 1000) {
        transport.open(grid, capacity, 2);
        CHECK(transport.concurrent());
      } else {  // the second rank finds none
        CHECK_THROWS_AS(transport.open(grid, capacity, 2), core::Error);
      }
      group.barrier();
    });
  }
  utofu_shim::reset({.interfaces = 1, .queues = 2});
  comm::simulate(1, {}, [&](const comm::Communicator& group) {
    const ProcessGrid grid(group, {1});
    UtofuTransport transport;
    transport.open(grid, std::vector<std::size_t>{64, 64}, 2);
    CHECK(transport.concurrent());  // nothing leaves this process
    CHECK(transport.direct(0));
  });
  CHECK(utofu_shim::open_queues() == 0);
}

TEST_CASE("utofu: options and messages that cannot be are refused on every rank") {
  const auto refused = [](const TransportOptions& options, std::size_t bytes, const utofu_shim::Machine& machine) {
    utofu_shim::reset(machine);
    comm::simulate(2, {}, [&](const comm::Communicator& group) {
      const ProcessGrid grid(group, {2});
      UtofuTransport transport(options);
      CHECK_THROWS_AS(transport.open(grid, std::vector<std::size_t>{bytes, bytes}, 2), core::InvalidArgument);
      group.barrier();
    });
  };
  refused({.interfaces = {0}}, 64, {});
  refused({.interfaces = {0, 6}}, 64, {});
  refused({.interfaces = {-1, 0}}, 64, {});
  refused({.piggyback_bytes = 9}, 64, {});
  refused({}, 5000, {.most_bytes = 4096});
  refused({}, 64, {.interfaces = 0});
  utofu_shim::reset({.interfaces = 0});
  CHECK(comm::utofu_unavailable_reason(nullptr).find("no network interface") != std::string::npos);
  utofu_shim::reset({});
  CHECK(comm::utofu_unavailable_reason(nullptr).empty());
}

TEST_CASE("utofu: a queue that fails for good is an error on every rank, not a wait without end") {
  for (const int code : {UTOFU_ERR_TCQ_STADD, UTOFU_ERR_INVALID_VCQ_HDL}) {
    utofu_shim::reset({});
    int failed = 0;
    comm::simulate(2, {}, [&](const comm::Communicator& group) {
      halo_laws::Driver driver(ProcessGrid(group, {2}), {512}, utofu_way({}));
      driver.step();
      group.barrier();
      utofu_shim::fail_polls(code);
      try {
        for (int k = 0; k < 4; ++k) driver.step();
      } catch (const core::Error& error) {
        CHECK(std::string(error.what()).find("utofu_poll_tcq failed with code " + std::to_string(code)) !=
              std::string::npos);
        ++failed;
      }
    });
    CHECK(failed == 2);
  }
  utofu_shim::reset({});
}

TEST_CASE("utofu shim: without strong ordering the end arrives before the beginning") {
  for (const bool strong : {true, false}) {
    utofu_shim::reset({.seed = 5});
    utofu_vcq_hdl_t queue = 0;
    utofu_vcq_id_t id = 0;
    REQUIRE(utofu_create_vcq(0, 0, &queue) == UTOFU_SUCCESS);
    REQUIRE(utofu_query_vcq_id(queue, &id) == UTOFU_SUCCESS);
    constexpr std::size_t bytes = 32768;
    std::vector<std::byte> from(bytes, std::byte{1}), to(bytes);
    utofu_stadd_t here = 0, there = 0;
    REQUIRE(utofu_reg_mem(queue, from.data(), bytes, 0, &here) == UTOFU_SUCCESS);
    REQUIRE(utofu_reg_mem(queue, to.data(), bytes, 0, &there) == UTOFU_SUCCESS);
    CHECK(utofu_put(queue, id, here, there, bytes + 1, 0, 0, nullptr) == UTOFU_ERR_INVALID_STADD);
    CHECK(utofu_put(queue, id + 1, here, there, bytes, 0, 0, nullptr) == UTOFU_ERR_INVALID_VCQ_ID);
    const unsigned long flags = UTOFU_ONESIDED_FLAG_TCQ_NOTICE | (strong ? UTOFU_ONESIDED_FLAG_STRONG_ORDER : 0);
    int mark = 0;
    REQUIRE(utofu_put(queue, id, here, there, bytes, 0, flags, &mark) == UTOFU_SUCCESS);
    void* notice = nullptr;
    bool end_before_beginning = false;
    while (utofu_poll_tcq(queue, 0, &notice) == UTOFU_ERR_NOT_FOUND) {
      end_before_beginning = end_before_beginning || (to.back() == std::byte{1} && to.front() == std::byte{0});
    }
    CHECK(notice == &mark);
    CHECK(to == from);
    CHECK(end_before_beginning == !strong);
    CHECK(utofu_free_vcq(queue) == UTOFU_ERR_BUSY);
    CHECK(utofu_dereg_mem(queue, here, 0) == UTOFU_SUCCESS);
    CHECK(utofu_dereg_mem(queue, there, 0) == UTOFU_SUCCESS);
    CHECK(utofu_free_vcq(queue) == UTOFU_SUCCESS);
  }
}
