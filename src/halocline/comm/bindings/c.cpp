// SPDX-License-Identifier: Apache-2.0
/// @file
/// The C interface: handles around the C++ objects, and exceptions turned into a status and a message.
///
/// Every function body runs inside guarded() (guard.hpp). The message of the last
/// failure is the one thing here that outlives a call. Each thread has one, as with errno, because a call can fail
/// before there is a handle to keep the message in.

#include "halocline/comm/bindings/c.h"

#include "halocline/comm/bindings/guard.hpp"
#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/group/process_grid.hpp"
#include "halocline/comm/group/time_limit.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/comm/sums/exact_sum.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/core/config.hpp"
#include "halocline/core/cpu.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comm = halocline::comm;
namespace core = halocline::core;

struct halocline_grid {
  comm::ProcessGrid grid;
};
struct halocline_transports {
  std::vector<comm::TransportInfo> list;
};
struct halocline_exchange {
  explicit halocline_exchange(comm::HaloExchange made)
      : exchange(std::move(made)), transport(exchange.transport().name()) {}
  comm::HaloExchange exchange;
  std::string transport;  ///< a copy, because C needs the zero at the end
};
struct halocline_reduction {
  comm::Reduction reduction;
};
struct halocline_exact_sum {
  comm::ExactSum sum;
};

namespace {

thread_local std::string last_sentence;
thread_local bool sentence_is_lost = false;  ///< there was no memory for it

}  // namespace

int comm::bindings::failed(halocline_status status, const char* sentence) noexcept {
  try {
    last_sentence = sentence;
    sentence_is_lost = false;
  } catch (...) {
    sentence_is_lost = true;
  }
  return status;
}

namespace {

using comm::bindings::given;
using comm::bindings::guarded;

/// Makes a new handle in *place, which holds NULL when `make` throws.
template <class Handle, class Make>
int created(Handle** place, const char* call, const char* argument, Make&& make) noexcept {
  if (place != nullptr) *place = nullptr;
  return guarded([&] {
    given(place, call, argument);
    *place = new Handle{make()};
  });
}

/// An array of the caller, checked on every rank before the first collective of `group`. Collective over `group`.
template <class T>
std::span<const T> same_everywhere(const comm::Communicator& group, const T* values, int count, const char* call,
                                   const char* argument) {
  comm::on_every_rank(group, [&] {
    if (count < 1) {
      throw core::InvalidArgument(std::string(call) + ": " + std::to_string(count) +
                                  " axes given, expected at least one");
    }
    given(values, call, argument);
  });
  return {values, static_cast<std::size_t>(count)};
}

comm::Face face_of(const comm::ProcessGrid& grid, int face, const char* call) {
  if (face >= 0 && face < 2 * grid.ndim()) return comm::Face::from_index(face);
  throw core::InvalidArgument(std::string(call) + ": face " + std::to_string(face) + " given, but a grid of " +
                              std::to_string(grid.ndim()) + " axes has faces 0 to " +
                              std::to_string(2 * grid.ndim() - 1) + ", 2 axis + (direction > 0)");
}

/// The exchange of a handle and one of its faces.
template <class Exchange>
comm::Face face_of(Exchange* exchange, int face, const char* call) {
  return face_of(given(exchange, call, "exchange").exchange.grid(), face, call);
}

comm::HaloOptions options_of(const halocline_options* options, const comm::Communicator& group, const char* call) {
  const halocline_options wanted = options == nullptr ? halocline_default_options() : *options;
  comm::on_every_rank(group, [&] {
    if (wanted.buffering != 1 && wanted.buffering != 2) {
      throw core::InvalidArgument(std::string(call) + ": buffering " + std::to_string(wanted.buffering) +
                                  " given, expected 1 or 2; start from halocline_default_options()");
    }
  });
  return {.buffering = wanted.buffering == 1 ? comm::Buffering::one : comm::Buffering::two,
          .checksum = wanted.checksum != 0,
          .threads = wanted.threads != 0,
          .time_limit = wanted.time_limit};
}

std::span<double> values_of(double* values, int count, const char* call) {
  given(values, call, "values");
  return {values, static_cast<std::size_t>(std::max(count, 0))};
}

template <class Byte, class Void>
void give_buffer(std::span<Byte> buffer, Void** place, std::size_t* bytes) {
  *place = buffer.empty() ? nullptr : buffer.data();
  if (bytes != nullptr) *bytes = buffer.size();
}

}  // namespace

const char* halocline_last_error(void) {
  return sentence_is_lost ? "out of memory, also for saying what failed" : last_sentence.c_str();
}

const char* halocline_version(void) { return core::version; }

void halocline_abort_all(int status) { comm::abort_all(status); }

// Groups --------------------------------------------------------------------------------------------------------------

int halocline_world(halocline_communicator** group) {
  return created(group, __func__, "group", [] {
    core::check_instructions();
    return halocline_communicator{comm::world()};
  });
}

int halocline_self(halocline_communicator** group) {
  return created(group, __func__, "group", [] {
    core::check_cpu();
    return halocline_communicator{comm::Communicator::self()};
  });
}

int halocline_from_fortran_handle(int handle, halocline_communicator** group) {
  return created(group, __func__, "group", [&] {
    core::check_instructions();
    return halocline_communicator{comm::from_fortran_handle(handle)};
  });
}

int halocline_communicator_rank(const halocline_communicator* group, int* rank) {
  const char* call = __func__;
  return guarded([&] { given(rank, call, "rank") = given(group, call, "group").group.rank(); });
}

int halocline_communicator_size(const halocline_communicator* group, int* size) {
  const char* call = __func__;
  return guarded([&] { given(size, call, "size") = given(group, call, "group").group.size(); });
}

int halocline_communicator_barrier(const halocline_communicator* group) {
  const char* call = __func__;
  return guarded([&] { given(group, call, "group").group.barrier(); });
}

int halocline_communicator_set_time_limit(const halocline_communicator* group, double seconds) {
  const char* call = __func__;
  return guarded([&] { comm::set_time_limit(given(group, call, "group").group, seconds); });
}

int halocline_communicator_time_limit(const halocline_communicator* group, double* seconds) {
  const char* call = __func__;
  return guarded([&] { given(seconds, call, "seconds") = comm::time_limit(given(group, call, "group").group); });
}

int halocline_communicator_destroy(halocline_communicator* group) {
  return guarded([&] { delete group; });
}

// Process grid --------------------------------------------------------------------------------------------------------

namespace {

int create_grid(const char* call, const halocline_communicator* group, int ndim, const int* dims, const int* periodic,
                const int* order, halocline_grid** grid) {
  return created(grid, call, "grid", [&] {
    const comm::Communicator& ranks = given(group, call, "group").group;
    const std::span<const int> shape = same_everywhere(ranks, dims, ndim, call, "dims");
    std::vector<bool> wraps;
    if (periodic != nullptr) std::transform(periodic, periodic + ndim, std::back_inserter(wraps), std::identity{});
    std::span<const int> places;
    if (order != nullptr) places = {order, static_cast<std::size_t>(ranks.size())};
    return halocline_grid{comm::ProcessGrid(ranks, {shape.begin(), shape.end()}, std::move(wraps), places)};
  });
}

}  // namespace

int halocline_grid_create(const halocline_communicator* group, int ndim, const int* dims, const int* periodic,
                          halocline_grid** grid) {
  return create_grid(__func__, group, ndim, dims, periodic, nullptr, grid);
}

int halocline_grid_create_ordered(const halocline_communicator* group, int ndim, const int* dims, const int* periodic,
                                  const int* ranks, halocline_grid** grid) {
  return create_grid(__func__, group, ndim, dims, periodic, ranks, grid);
}

int halocline_grid_ndim(const halocline_grid* grid, int* ndim) {
  const char* call = __func__;
  return guarded([&] { given(ndim, call, "ndim") = given(grid, call, "grid").grid.ndim(); });
}

int halocline_grid_rank(const halocline_grid* grid, int* rank) {
  const char* call = __func__;
  return guarded([&] { given(rank, call, "rank") = given(grid, call, "grid").grid.rank(); });
}

int halocline_grid_size(const halocline_grid* grid, int* size) {
  const char* call = __func__;
  return guarded([&] { given(size, call, "size") = given(grid, call, "grid").grid.size(); });
}

int halocline_grid_dims(const halocline_grid* grid, int* dims) {
  const char* call = __func__;
  return guarded([&] { std::ranges::copy(given(grid, call, "grid").grid.dims(), &given(dims, call, "dims")); });
}

int halocline_grid_periodic(const halocline_grid* grid, int* periodic) {
  const char* call = __func__;
  return guarded([&] {
    const comm::ProcessGrid& processes = given(grid, call, "grid").grid;
    given(periodic, call, "periodic");
    for (int axis = 0; axis < processes.ndim(); ++axis) periodic[axis] = processes.periodic(axis) ? 1 : 0;
  });
}

int halocline_grid_coords(const halocline_grid* grid, int* coords) {
  const char* call = __func__;
  return guarded([&] { std::ranges::copy(given(grid, call, "grid").grid.coords(), &given(coords, call, "coords")); });
}

int halocline_grid_coords_of(const halocline_grid* grid, int rank, int* coords) {
  const char* call = __func__;
  return guarded(
      [&] { std::ranges::copy(given(grid, call, "grid").grid.coords_of(rank), &given(coords, call, "coords")); });
}

int halocline_grid_rank_of(const halocline_grid* grid, const int* coords, int* rank) {
  const char* call = __func__;
  return guarded([&] {
    const comm::ProcessGrid& processes = given(grid, call, "grid").grid;
    given(coords, call, "coords");
    given(rank, call, "rank") = processes.rank_of({coords, static_cast<std::size_t>(processes.ndim())});
  });
}

int halocline_grid_neighbour(const halocline_grid* grid, int face, int* rank) {
  const char* call = __func__;
  return guarded([&] {
    const comm::ProcessGrid& processes = given(grid, call, "grid").grid;
    given(rank, call, "rank") = processes.neighbour(face_of(processes, face, call));
  });
}

int halocline_grid_destroy(halocline_grid* grid) {
  return guarded([&] { delete grid; });
}

int halocline_least_surface_grid(int ndim, const int64_t* global_extents, int ranks, const int64_t* required_multiple,
                                 int* dims) {
  const char* call = __func__;
  return guarded([&] {
    const auto alone = comm::Communicator::self();
    const std::span<const std::int64_t> extents = same_everywhere(alone, global_extents, ndim, call, "global_extents");
    std::span<const std::int64_t> multiple;
    if (required_multiple != nullptr) multiple = {required_multiple, extents.size()};
    std::ranges::copy(comm::least_surface_grid(extents, ranks, multiple), &given(dims, call, "dims"));
  });
}

// Transports ----------------------------------------------------------------------------------------------------------

int halocline_transports_create(const halocline_grid* grid, halocline_transports** list) {
  return created(list, __func__, "list", [&] {
    halocline_transports transports{comm::available_transports()};
    if (grid == nullptr) return transports;
    for (comm::TransportInfo& transport : transports.list) {
      transport.reason = comm::transport_unavailable_reason(transport.name, grid->grid);
      transport.available = transport.reason.empty();
    }
    return transports;
  });
}

int halocline_transports_count(const halocline_transports* list, int* count) {
  const char* call = __func__;
  return guarded([&] { given(count, call, "count") = static_cast<int>(given(list, call, "list").list.size()); });
}

int halocline_transports_get(const halocline_transports* list, int index, const char** name, int* available,
                             const char** reason) {
  const char* call = __func__;
  return guarded([&] {
    const std::vector<comm::TransportInfo>& all = given(list, call, "list").list;
    if (index < 0 || static_cast<std::size_t>(index) >= all.size()) {
      throw core::InvalidArgument(std::string(call) + ": index " + std::to_string(index) + " given, expected 0 to " +
                                  std::to_string(all.size() - 1));
    }
    const comm::TransportInfo& transport = all[static_cast<std::size_t>(index)];
    given(name, call, "name");
    given(available, call, "available");
    given(reason, call, "reason") = transport.reason.c_str();
    *name = transport.name.c_str();
    *available = transport.available ? 1 : 0;
  });
}

int halocline_transports_destroy(halocline_transports* list) {
  return guarded([&] { delete list; });
}

// Halo exchange -------------------------------------------------------------------------------------------------------

halocline_options halocline_default_options(void) {
  const comm::HaloOptions options;
  return {static_cast<int>(options.buffering), options.checksum ? 1 : 0, options.threads ? 1 : 0, options.time_limit};
}

int halocline_exchange_create(const halocline_grid* grid, const size_t* face_bytes, const char* transport,
                              const halocline_options* options, halocline_exchange** exchange) {
  const char* call = __func__;
  return created(exchange, call, "exchange", [&] {
    const comm::ProcessGrid& processes = given(grid, call, "grid").grid;
    const comm::Communicator& group = processes.communicator();
    const std::span<const std::size_t> bytes = same_everywhere(group, face_bytes, processes.ndim(), call, "face_bytes");
    const std::string_view name = transport == nullptr ? "" : transport;
    return halocline_exchange(comm::HaloExchange(processes, bytes, name, options_of(options, group, call)));
  });
}

int halocline_exchange_sharing_buffers(const halocline_exchange* exchange, const size_t* face_bytes,
                                       halocline_exchange** other) {
  const char* call = __func__;
  return created(other, call, "other", [&] {
    const comm::HaloExchange& first = given(exchange, call, "exchange").exchange;
    const comm::ProcessGrid& processes = first.grid();
    const std::span<const std::size_t> bytes =
        same_everywhere(processes.communicator(), face_bytes, processes.ndim(), call, "face_bytes");
    return halocline_exchange(first.sharing_buffers(bytes));
  });
}

int halocline_exchange_transport(const halocline_exchange* exchange, const char** name) {
  const char* call = __func__;
  return guarded([&] { given(name, call, "name") = given(exchange, call, "exchange").transport.c_str(); });
}

int halocline_exchange_active(const halocline_exchange* exchange, int face, int* active) {
  const char* call = __func__;
  return guarded([&] {
    const comm::Face side = face_of(exchange, face, call);
    given(active, call, "active") = exchange->exchange.active(side) ? 1 : 0;
  });
}

int halocline_exchange_send_buffer(halocline_exchange* exchange, int face, void** buffer, size_t* bytes) {
  const char* call = __func__;
  return guarded([&] {
    const comm::Face side = face_of(exchange, face, call);
    given(buffer, call, "buffer") = nullptr;
    give_buffer(exchange->exchange.send_buffer(side), buffer, bytes);
  });
}

int halocline_exchange_recv_buffer(const halocline_exchange* exchange, int face, const void** buffer, size_t* bytes) {
  const char* call = __func__;
  return guarded([&] {
    const comm::Face side = face_of(exchange, face, call);
    given(buffer, call, "buffer") = nullptr;
    give_buffer(exchange->exchange.recv_buffer(side), buffer, bytes);
  });
}

int halocline_exchange_post(halocline_exchange* exchange, halocline_face_mask faces) {
  const char* call = __func__;
  return guarded([&] { given(exchange, call, "exchange").exchange.post(comm::FaceMask{faces}); });
}

int halocline_exchange_wait(halocline_exchange* exchange, int face) {
  const char* call = __func__;
  return guarded([&] {
    const comm::Face side = face_of(exchange, face, call);
    exchange->exchange.wait(side);
  });
}

int halocline_exchange_wait_all(halocline_exchange* exchange, halocline_face_mask faces) {
  const char* call = __func__;
  return guarded([&] { given(exchange, call, "exchange").exchange.wait_all(faces); });
}

int halocline_exchange_wait_any(halocline_exchange* exchange, halocline_face_mask faces, int* face) {
  const char* call = __func__;
  return guarded([&] {
    given(face, call, "face") = -1;
    const std::optional<comm::Face> first = given(exchange, call, "exchange").exchange.wait_any(faces);
    if (first) *face = first->index();
  });
}

int halocline_exchange_arrived(halocline_exchange* exchange, int face, int* arrived) {
  const char* call = __func__;
  return guarded([&] {
    const comm::Face side = face_of(exchange, face, call);
    given(arrived, call, "arrived") = exchange->exchange.arrived(side) ? 1 : 0;
  });
}

int halocline_exchange_wait_sent(halocline_exchange* exchange, halocline_face_mask faces) {
  const char* call = __func__;
  return guarded([&] { given(exchange, call, "exchange").exchange.wait_sent(faces); });
}

int halocline_exchange_release(halocline_exchange* exchange, halocline_face_mask faces) {
  const char* call = __func__;
  return guarded([&] { given(exchange, call, "exchange").exchange.release(faces); });
}

int halocline_exchange_set_time_limit(halocline_exchange* exchange, double seconds) {
  const char* call = __func__;
  return guarded([&] { given(exchange, call, "exchange").exchange.set_time_limit(seconds); });
}

int halocline_exchange_time_limit(const halocline_exchange* exchange, double* seconds) {
  const char* call = __func__;
  return guarded([&] { given(seconds, call, "seconds") = given(exchange, call, "exchange").exchange.time_limit(); });
}

int halocline_exchange_steps(const halocline_exchange* exchange, int face, uint64_t* steps) {
  const char* call = __func__;
  return guarded([&] {
    const comm::Face side = face_of(exchange, face, call);
    given(steps, call, "steps") = exchange->exchange.steps(side);
  });
}

int halocline_exchange_destroy(halocline_exchange* exchange) {
  return guarded([&] { delete exchange; });
}

// Sums ----------------------------------------------------------------------------------------------------------------

int halocline_reduction_create(const halocline_communicator* group, halocline_reduction** reduction) {
  const char* call = __func__;
  return created(reduction, call, "reduction",
                 [&] { return halocline_reduction{comm::Reduction(given(group, call, "group").group)}; });
}

int halocline_reduction_sum(halocline_reduction* reduction, int count, double* values) {
  const char* call = __func__;
  return guarded([&] { given(reduction, call, "reduction").reduction.sum(values_of(values, count, call)); });
}

int halocline_reduction_begin(halocline_reduction* reduction, int count, double* values) {
  const char* call = __func__;
  return guarded([&] { given(reduction, call, "reduction").reduction.begin(values_of(values, count, call)); });
}

int halocline_reduction_wait(halocline_reduction* reduction) {
  const char* call = __func__;
  return guarded([&] { given(reduction, call, "reduction").reduction.wait(); });
}

int halocline_reduction_test(halocline_reduction* reduction, int* ready) {
  const char* call = __func__;
  return guarded([&] { given(ready, call, "ready") = given(reduction, call, "reduction").reduction.test() ? 1 : 0; });
}

int halocline_reduction_set_time_limit(halocline_reduction* reduction, double seconds) {
  const char* call = __func__;
  return guarded([&] { given(reduction, call, "reduction").reduction.set_time_limit(seconds); });
}

int halocline_reduction_time_limit(const halocline_reduction* reduction, double* seconds) {
  const char* call = __func__;
  return guarded([&] { given(seconds, call, "seconds") = given(reduction, call, "reduction").reduction.time_limit(); });
}

int halocline_reduction_destroy(halocline_reduction* reduction) {
  return guarded([&] { delete reduction; });
}

int halocline_exact_sum_create(halocline_exact_sum** sum) {
  return created(sum, __func__, "sum", [] {
    core::check_cpu();
    return halocline_exact_sum{};
  });
}

int halocline_exact_sum_clear(halocline_exact_sum* sum) {
  const char* call = __func__;
  return guarded([&] { given(sum, call, "sum").sum = {}; });
}

int halocline_exact_sum_add(halocline_exact_sum* sum, size_t count, const double* terms) {
  const char* call = __func__;
  return guarded([&] {
    comm::ExactSum& exact = given(sum, call, "sum").sum;
    if (count > 0) exact.add({&given(terms, call, "terms"), count});
  });
}

int halocline_exact_sum_add_products(halocline_exact_sum* sum, size_t count, const double* a, const double* b) {
  const char* call = __func__;
  return guarded([&] {
    comm::ExactSum& exact = given(sum, call, "sum").sum;
    if (count > 0) exact.add_products({&given(a, call, "a"), count}, {&given(b, call, "b"), count});
  });
}

int halocline_exact_sum_merge(halocline_exact_sum* sum, const halocline_exact_sum* other) {
  const char* call = __func__;
  return guarded([&] { given(sum, call, "sum").sum.merge(given(other, call, "other").sum); });
}

int halocline_exact_sum_over(const halocline_communicator* group, halocline_exact_sum* sum) {
  const char* call = __func__;
  return guarded([&] { sum_over(given(group, call, "group").group, {&given(sum, call, "sum").sum, 1}); });
}

int halocline_exact_sum_value(const halocline_exact_sum* sum, double* value) {
  const char* call = __func__;
  return guarded([&] { given(value, call, "value") = given(sum, call, "sum").sum.value(); });
}

int halocline_exact_sum_destroy(halocline_exact_sum* sum) {
  return guarded([&] { delete sum; });
}
