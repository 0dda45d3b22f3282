// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>

#include "bench/fields.hpp"
#include "bench/halo.hpp"
#include "bench/payload.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"

namespace halocline::bench {
namespace {

using comm::Face;
using comm::FaceMask;
using core::Region;

constexpr int faces = 8;
constexpr std::int64_t bytes_a_site = 2 * 3 * 2 * sizeof(float);  ///< a half spinor

/// The faces of exchange number `step`; the x direction alternates.
FaceMask faces_of(int axis, int step) {
  FaceMask mask = 0;
  for (int index = 0; index < faces; ++index) {
    const Face face = Face::from_index(index);
    if (axis >= 0 && face.axis != axis) continue;
    if (face.axis == 0 && (face.direction > 0) != (step % 2 == 0)) continue;
    mask |= comm::mask_of(face);
  }
  return mask;
}

/// Keeps the first exception of a team, because no exception may leave a parallel region.
class Caught {
public:
  template <class Action>
  void run(Action&& action) noexcept {
    try {
      action();
    } catch (...) {
      if (!taken_.exchange(true)) error_ = std::current_exception();
    }
  }
  void rethrow() {
    if (error_ != nullptr) std::rethrow_exception(error_);
  }

private:
  std::atomic<bool> taken_{false};
  std::exception_ptr error_;
};

/// The exchanges of one application by a team of threads, each with its own faces.
template <class Exchange>
class Application {
public:
  Application(std::shared_ptr<Exchange> exchange, int axis, int threads, bool posting_by_all)
      : exchange_(std::move(exchange)), axis_(axis), threads_(threads), posting_by_all_(posting_by_all) {}

  void operator()() {
    Caught caught;
#pragma omp parallel num_threads(threads_)
    for (int step = 0; step < exchanges_per_application; ++step) {
      const FaceMask mask = faces_of(axis_, step);
      if (posting_by_all_)
        by_all(mask, caught);
      else
        by_first(mask, caught);
    }
    caught.rethrow();
  }

private:
  template <class Action>
  void each_of_mine(FaceMask mask, Action&& action) {
    int number = 0;
    for (int index = 0; index < faces; ++index) {
      const Face face = Face::from_index(index);
      if ((mask & comm::mask_of(face)) == 0 || !exchange_->active(face)) continue;
      if (number++ % omp_get_num_threads() == omp_get_thread_num()) action(face);
    }
  }
  std::uint64_t& read(Face face) { return read_[static_cast<std::size_t>(face.index())].sum; }
  std::span<std::byte>& box(Face face) { return boxes_[static_cast<std::size_t>(face.index())]; }

  /// All threads write and read messages; only the first one calls the exchange.
  void by_first(FaceMask mask, Caught& caught) {
#pragma omp master
    caught.run([&] {
      const Region region("packing");
      start_receiving(*exchange_, mask);
      before_refill(*exchange_);
      for (int index = 0; index < faces; ++index) {
        const Face face = Face::from_index(index);
        if ((mask & comm::mask_of(face)) != 0) box(face) = exchange_->send_buffer(face);
      }
    });
#pragma omp barrier
    {
      const Region region("packing");
      each_of_mine(mask, [&](Face face) { produce(box(face), ++read(face)); });
    }
#pragma omp barrier
#pragma omp master
    caught.run([&] {
      {
        const Region region("posting");
        exchange_->post(mask);
      }
      const Region region("waiting");
      exchange_->wait_all(opposite(mask));
    });
#pragma omp barrier
    {
      const Region region("reading");
      each_of_mine(opposite(mask), [&](Face face) { read(face) += consume(exchange_->recv_buffer(face)); });
    }
#pragma omp barrier
#pragma omp master
    caught.run([&] { finish_using(*exchange_); });
  }

  /// Every thread handles its own faces. There is a barrier between posting and waiting, and one before the next
  /// posting.
  void by_all(FaceMask mask, Caught& caught) {
    caught.run([&] {
      each_of_mine(mask, [&](Face face) {
        {
          const Region region("packing");
          produce(exchange_->send_buffer(face), ++read(face));
        }
        const Region region("posting");
        exchange_->post(comm::mask_of(face));
      });
    });
    // An absent or empty face belongs to no thread, but must be posted too.
#pragma omp master
    caught.run([&] { post_inactive(mask); });
#pragma omp barrier
    caught.run([&] {
      each_of_mine(opposite(mask), [&](Face face) {
        {
          const Region region("waiting");
          exchange_->wait(face);
        }
        const Region region("reading");
        read(face) += consume(exchange_->recv_buffer(face));
      });
    });
#pragma omp barrier
#pragma omp master
    caught.run([&] { finish_using(*exchange_); });
#pragma omp barrier
  }

  void post_inactive(FaceMask mask) {
    for (int index = 0; index < faces; ++index) {
      const Face face = Face::from_index(index);
      if ((mask & comm::mask_of(face)) != 0 && !exchange_->active(face)) exchange_->post(comm::mask_of(face));
    }
  }

  /// The faces through which the messages sent through `mask` arrive.
  static FaceMask opposite(FaceMask mask) {
    FaceMask other = 0;
    for (int index = 0; index < faces; ++index)
      if ((mask >> index & 1u) != 0) other |= FaceMask{1} << (index ^ 1);
    return other;
  }

  struct alignas(64) Line {
    std::uint64_t sum = 0;
  };
  std::shared_ptr<Exchange> exchange_;
  int axis_, threads_;
  bool posting_by_all_;
  std::array<Line, faces> read_{};
  std::array<std::span<std::byte>, faces> boxes_{};
};

void check(const HaloOperatorCase& c) {
  const auto& n = c.local;
  if (std::ranges::any_of(n, [](std::int64_t extent) { return extent < 1 || extent > 4096; }) || n[0] % 2 != 0)
    throw core::InvalidArgument(fmt::format(
        "the local lattice is {}x{}x{}x{}; give four extents from 1 to 4096, the first even: two domains share it",
        n[0], n[1], n[2], n[3]));
  if (c.face != "all" && (c.face.size() != 1 || std::string("xyzt").find(c.face) == std::string::npos))
    throw core::InvalidArgument(fmt::format("the face is \"{}\"; give all, x, y, z or t", c.face));
}

}  // namespace

std::array<std::int64_t, 4> operator_face_bytes(const std::array<std::int64_t, 4>& local) {
  const std::int64_t volume = local[0] * local[1] * local[2] * local[3];
  std::array<std::int64_t, 4> bytes{bytes_a_site * volume / local[0]};
  for (std::size_t axis = 1; axis < 4; ++axis) bytes[axis] = bytes_a_site * volume / local[axis] / 2;
  return bytes;
}

std::vector<Result> halo_operator(const comm::Communicator& group, const HaloOperatorCase& c, const Effort& effort) {
  check(c);
  effort.validate();
  const Threads threads(c.threads);
  const auto bytes = operator_face_bytes(c.local);
  const int axis = c.face == "all" ? -1 : static_cast<int>(std::string("xyzt").find(c.face));
  std::vector<int> dims = spread_processes(group.size());
  if (axis >= 0) {
    dims.assign(4, 1);
    dims[static_cast<std::size_t>(axis)] = group.size();
  }
  const comm::ProcessGrid grid(group, dims);
  std::array<std::size_t, 4> face_bytes{};
  double moved = 0;
  for (std::size_t mu = 0; mu < 4; ++mu) {
    if (axis >= 0 && axis != static_cast<int>(mu)) continue;
    face_bytes[mu] = static_cast<std::size_t>(bytes[mu]);
    moved += static_cast<double>(bytes[mu]) * (mu == 0 ? 1 : 2) * exchanges_per_application;
  }

  std::vector<Result> results;
  std::vector<Work> works;
  std::vector<std::size_t> measured;
  for (const Carrier& carrier : c.carriers.empty() ? all_carriers() : c.carriers) {
    Result result;
    result.bench = "halo";
    result.parameters = {{"measured", std::string("operator")},
                         {"local", std::vector<std::int64_t>(c.local.begin(), c.local.end())},
                         {"processes", std::int64_t(group.size())},
                         {"grid", std::vector<std::int64_t>(dims.begin(), dims.end())},
                         {"threads", std::int64_t(c.threads)},
                         {"posting", std::string(c.posting_by_all ? "all threads" : "first thread")},
                         {"face", c.face},
                         {"face_bytes", std::vector<std::int64_t>(face_bytes.begin(), face_bytes.end())},
                         {"transport", carrier.transport},
                         {"buffers", std::int64_t(carrier.buffers)}};
    result.bytes = moved * group.size();
    result.ceilings = no_ceilings();
    result.skipped = unavailable_reason(carrier, grid);
    comm::HaloOptions options = carrier.options();
    options.threads = c.posting_by_all && c.threads > 1;
    if (result.skipped.empty() && options.threads && carrier.transport == "mpi")
      result.skipped = "plain MPI is called by one thread only";
    if (result.skipped.empty()) {
      try {
        works.push_back(with_exchange(grid, face_bytes, carrier, options, [&](auto exchange) -> Work {
          using Exchange = typename decltype(exchange)::element_type;
          return Application<Exchange>(exchange, axis, c.threads, c.posting_by_all);
        }));
        measured.push_back(results.size());
      } catch (const core::InvalidArgument& refused) {  // on every rank: this transport does not allow several threads
        result.skipped = refused.what();
      }
    }
    results.push_back(std::move(result));
  }
  if (works.empty()) return results;

  const std::vector<Spread> spreads = measure_in_turns(group, works, effort);
  for (std::size_t i = 0; i < works.size(); ++i) {
    Result& result = results[measured[i]];
    result.seconds = spreads[i];
    result.regions = regions_of(works[i]);
    result.outcome = {{"exchange", spreads[i].median / exchanges_per_application}};
  }
  return results;
}

}  // namespace halocline::bench
