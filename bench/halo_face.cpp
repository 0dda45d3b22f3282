// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "bench/bare_pair.hpp"
#include "bench/halo.hpp"
#include "bench/payload.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"

namespace halocline::bench {
namespace {

using comm::Face;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr Face up{0, +1}, down{0, -1};

/// State of a piece of work between its executions: the next number to write, and the sum of the numbers read.
struct Payload {
  std::uint64_t written = 0, read = 0;
};

template <class Exchange>
void send_one(Exchange& exchange, Face face, Payload& payload) {
  before_refill(exchange);
  produce(exchange.send_buffer(face), ++payload.written);
  exchange.post(comm::mask_of(face));
}
template <class Exchange>
void receive_one(Exchange& exchange, Face face, Payload& payload) {
  exchange.wait(face);
  payload.read += consume(exchange.recv_buffer(face));
  finish_using(exchange);
}

/// One message up and one down. With two processes, the upper neighbour answers the lower.
template <class Exchange>
Work there_and_back(std::shared_ptr<Exchange> exchange, bool first) {
  return [exchange, first, payload = Payload{}]() mutable {
    if (first) {
      start_receiving(*exchange, comm::mask_of(down));
      send_one(*exchange, up, payload);
      exchange->post(comm::mask_of(down));
      receive_one(*exchange, up, payload);
    } else {
      start_receiving(*exchange, comm::mask_of(up));
      exchange->post(comm::mask_of(up));
      receive_one(*exchange, down, payload);
      send_one(*exchange, down, payload);
    }
  };
}

/// A message through every existing face, all at the same time.
template <class Exchange>
Work both_ways(std::shared_ptr<Exchange> exchange) {
  return [exchange, payload = Payload{}]() mutable {
    start_receiving(*exchange);
    before_refill(*exchange);
    for (const Face face : {down, up})
      if (exchange->active(face)) produce(exchange->send_buffer(face), ++payload.written);
    exchange->post();
    for (const Face face : {down, up}) {
      if (!exchange->active(face)) continue;
      exchange->wait(face);
      payload.read += consume(exchange->recv_buffer(face));
    }
    finish_using(*exchange);
  };
}

/// Copies with non-temporal stores; fences, so that the flag that follows cannot overtake the data.
void stream_copy(std::span<std::byte> to, std::span<const std::byte> from) {
  using Line = core::Pack<double, 64 / sizeof(double)>;
  const std::size_t whole = to.size() / sizeof(Line);
  auto* target = reinterpret_cast<double*>(to.data());
  const auto* source = reinterpret_cast<const double*>(from.data());
  for (std::size_t i = 0; i < whole; ++i) core::stream(target + i * Line::lanes, Line::load(source + i * Line::lanes));
  core::fence_streams();
  const std::size_t done = whole * sizeof(Line);
  std::memcpy(to.data() + done, from.data() + done, to.size() - done);
}

/// The same two patterns on bare memory. @param streaming  write to local memory first, then copy with non-temporal
/// stores
Work bare(std::shared_ptr<BarePair> pair, bool ping_pong, bool first, bool streaming) {
  auto home = std::make_shared<core::AlignedArray<std::byte>>(static_cast<std::int64_t>(pair->outbox().size()));
  return [pair, home, ping_pong, first, streaming, payload = Payload{}]() mutable {
    const auto send = [&] {
      const std::span<std::byte> box = pair->outbox();
      produce(streaming ? home->span() : box, ++payload.written);
      if (streaming) stream_copy(box, home->span());
      pair->post();
    };
    const auto receive = [&] {
      pair->wait();
      payload.read += consume(pair->inbox());
    };
    if (!ping_pong || first) send();
    receive();
    if (ping_pong && !first) send();
  };
}

Work copying(std::int64_t bytes) {
  auto from = std::make_shared<core::AlignedArray<std::byte>>(bytes);
  auto to = std::make_shared<core::AlignedArray<std::byte>>(bytes);
  return [from, to, bytes] {
    std::memcpy(to->data(), from->data(), static_cast<std::size_t>(bytes));
    asm volatile("" : : "r"(to->data()) : "memory");  // keeps the compiler from removing the unused copy
  };
}

Spread scaled(Spread spread, double factor) {
  for (double* time : {&spread.median, &spread.minimum, &spread.maximum, &spread.cpu}) *time *= factor;
  return spread;
}

}  // namespace

std::vector<Result> halo_face(const comm::Communicator& group, const HaloFaceCase& c, const Effort& effort) {
  effort.validate();
  if (group.size() > 2)
    throw core::InvalidArgument(fmt::format(
        "one face is exchanged between two processes, and there are {}; run with 2, or with 1", group.size()));
  if (c.traffic != "ping-pong" && c.traffic != "both-ways")
    throw core::InvalidArgument(fmt::format("the traffic is \"{}\"; give ping-pong or both-ways", c.traffic));
  const bool ping_pong = c.traffic == "ping-pong";
  if (ping_pong && group.size() == 1)
    throw core::InvalidArgument("one process has nobody to answer it; run ping-pong with 2, or give both-ways");
  if (c.bytes < 8 || c.bytes % 8 != 0 || c.bytes > std::int64_t{1} << 28)
    throw core::InvalidArgument(
        fmt::format("a message of {} bytes was asked for; give a multiple of 8 from 8 to 256 MiB", c.bytes));
  const Threads threads(1);
  // Two processes have one link between them: the axis is open on both sides.
  const comm::ProcessGrid grid(group, {group.size()}, {group.size() == 1});
  const bool first = group.rank() == 0;
  const std::array<std::size_t, 1> face_bytes{static_cast<std::size_t>(c.bytes)};

  std::vector<Result> results;
  std::vector<Work> works;
  std::vector<std::size_t> measured;
  for (const Carrier& carrier : c.carriers.empty() ? all_carriers() : c.carriers) {
    Result result;
    result.bench = "halo";
    result.parameters = {{"measured", std::string("face")},
                         {"processes", std::int64_t(group.size())},
                         {"threads", std::int64_t(1)},
                         {"traffic", c.traffic},
                         {"bytes", c.bytes},
                         {"transport", carrier.transport},
                         {"buffers", std::int64_t(carrier.buffers)}};
    result.skipped = unavailable_reason(carrier, grid);
    results.push_back(std::move(result));
    if (!results.back().skipped.empty()) continue;
    measured.push_back(results.size() - 1);
    works.push_back(with_exchange(grid, face_bytes, carrier, carrier.options(), [&](auto exchange) {
      return ping_pong ? there_and_back(exchange, first) : both_ways(exchange);
    }));
  }
  if (works.empty()) return results;

  const bool has_floor = BarePair::unavailable_reason(group).empty();
  const std::size_t carriers = works.size();
  works.push_back(copying(c.bytes));
  if (has_floor) {
    for (const bool streaming : {false, true})
      works.push_back(bare(std::make_shared<BarePair>(group, face_bytes[0]), ping_pong, first, streaming));
    works.push_back(bare(std::make_shared<BarePair>(group, 0), true, first, false));
  }
  const std::vector<Spread> spreads = measure_in_turns(group, works, effort);
  const double half = ping_pong ? 0.5 : 1.0;
  const double copy = spreads[carriers].median;
  const double floor =
      has_floor ? half * std::min(spreads[carriers + 1].median, spreads[carriers + 2].median) : unknown;
  const double cache_line = has_floor ? 0.5 * spreads[carriers + 3].median : unknown;

  for (std::size_t i = 0; i < carriers; ++i) {
    Result& result = results[measured[i]];
    result.seconds = scaled(spreads[i], half);
    result.bytes = static_cast<double>(c.bytes) * (ping_pong ? 1 : 2);
    result.ceilings = no_ceilings(cache_line);
    const double time = result.seconds.median;
    result.outcome = {{"floor", floor},
                      {"over_floor", time / floor},
                      {"copy", copy},
                      {"cache_line", cache_line},
                      {"over_parts", time / (copy + cache_line)}};
  }
  return results;
}

}  // namespace halocline::bench
