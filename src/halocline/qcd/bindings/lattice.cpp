// SPDX-License-Identifier: Apache-2.0
/// @file
/// c.h: lattices and gauge fields.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/group/process_grid.hpp"
#include "halocline/comm/group/solver_communication.hpp"
#include "halocline/comm/group/time_limit.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/bindings/c.h"
#include "halocline/qcd/bindings/handles.hpp"
#include "halocline/qcd/bindings/parameters.hpp"
#include "halocline/qcd/gauge/observables.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/io/gauge_file.hpp"
#include "halocline/qcd/order/convert.hpp"

namespace halocline::qcd::bindings {
namespace {

/// Real numbers of this process's links.
std::size_t link_count(const Context& context) {
  return static_cast<std::size_t>(order::gauge_reals * context.geometry->local_volume());
}

template <class Real, class Void>
auto reals(Void* values, std::size_t count) {
  return std::span(static_cast<Real*>(values), count);
}

/// The most sites of a lattice. Then sites, and the bytes of a field on one process, can be counted in 64 bits.
constexpr std::int64_t most_sites = std::int64_t{1} << 40;

void check_extents(const std::array<std::int64_t, 4>& global, const char* call) {
  std::int64_t sites = 1;  // below 2^56 before each comparison
  for (const auto extent : global) {
    if (extent < 1 || extent > 65536)
      throw core::InvalidArgument(
          fmt::format("{}: extents {} given; give 1 to 65536 sites along x, y, z and t", call, fmt::join(global, " ")));
    sites *= extent;
    if (sites > most_sites)
      throw core::InvalidArgument(fmt::format("{}: extents {} given, which are more than {} sites; give fewer", call,
                                              fmt::join(global, " "), most_sites));
  }
}

/// Fills a field with the links of an array, or of four arrays.
/// @param links  shape (1,) or (4,)
void load_links(GaugeField& made, const LinkFormat& format, std::span<const void* const> links, std::size_t count) {
  const auto load = [&]<class Real>(Real) {
    if (links.size() == 1) return order::load(made, reals<const Real>(links[0], count), format.order);
    std::array<const Real*, 4> four{};
    for (std::size_t mu = 0; mu < 4; ++mu) four[mu] = static_cast<const Real*>(links[mu]);
    order::load(made, four, format.order);
  };
  if (format.bits == 32)
    load(float{});
  else
    load(double{});
}

int set_links(const char* call, halocline_gauge* gauge, const halocline_format* format,
              std::span<const void* const> links, std::size_t count, bool together) noexcept {
  if (gauge == nullptr) return guarded([&] { given(gauge, call, "gauge"); });
  Context& context = *gauge->context;
  LinkFormat arranged{};
  std::optional<GaugeField> made;
  return collective(
      context, call,
      [&](Digest& digest) {
        arranged = link_format(format, call, digest(gauge->number));
        if (!together) arranged.order.directions = order::Directions::outside;
        if (links.empty()) given(static_cast<const char*>(nullptr), call, "links");
        for (const void* one : links) given(static_cast<const char*>(one), call, "links");
        check_count(count, link_count(context) / (together ? 1 : 4), call, "an array of links");
        order::check(arranged.order, *context.geometry, static_cast<std::size_t>(arranged.bits / 8));
        made.emplace(context.geometry);
      },
      [&] {
        load_links(*made, arranged, links, count);
        gauge->links = std::move(made);
      });
}

}  // namespace
}  // namespace halocline::qcd::bindings

using namespace halocline;
using namespace halocline::qcd::bindings;

int halocline_lattice_create(const halocline_communicator* group, const int64_t* extents, const int* processes,
                             const int* ranks, halocline_lattice** lattice) {
  const char* call = __func__;
  if (lattice != nullptr) *lattice = nullptr;
  return guarded([&] {
    const comm::Communicator& all = given(group, call, "group").group;
    std::array<std::int64_t, 4> global{};
    std::vector<int> dims;
    agree(all, call, [&](Digest& digest) {
      given(lattice, call, "lattice");
      given(extents, call, "extents");
      std::copy_n(extents, 4, global.begin());
      check_extents(global, call);
      for (const auto extent : global) digest(extent);
      if (processes == nullptr)
        dims = comm::least_surface_grid(global, all.size());
      else
        dims.assign(processes, processes + 4);
      comm::check_grid(global, dims, all.size());
      for (const int along : dims) digest(along);
      for (int place = 0; ranks != nullptr && place < all.size(); ++place) digest(ranks[place]);
    });
    const comm::ProcessGrid grid(all, dims, {},
                                 ranks == nullptr ? std::span<const int>{}
                                                  : std::span(ranks, static_cast<std::size_t>(all.size())));
    auto context = std::make_shared<Context>();
    context->geometry = std::make_shared<const lattice::Geometry4>(global, grid);
    // The address on rank 0 is that of no other lattice that exists there.
    context->identity = std::bit_cast<std::uintptr_t>(context.get());
    all.broadcast(std::as_writable_bytes(std::span(&context->identity, 1)), 0);
    *lattice = new halocline_lattice{std::move(context)};
  });
}

int halocline_lattice_geometry(const halocline_lattice* lattice, int64_t* extents, int64_t* local, int64_t* offset,
                               int* processes) {
  const char* call = __func__;
  return guarded([&] {
    const lattice::Geometry4& geometry = *given(lattice, call, "lattice").context->geometry;
    if (extents != nullptr) std::ranges::copy(geometry.global(), extents);
    if (local != nullptr) std::ranges::copy(geometry.local(), local);
    if (offset != nullptr) std::ranges::copy(geometry.offset(), offset);
    if (processes != nullptr) std::ranges::copy(geometry.grid().dims(), processes);
  });
}

int halocline_lattice_set_time_limit(const halocline_lattice* lattice, double seconds) {
  const char* call = __func__;
  if (lattice == nullptr) return guarded([&] { given(lattice, call, "lattice"); });
  return collective(
      *lattice->context, call, [&](Digest& digest) { digest(seconds); },
      [&] { comm::set_solve_time_limit(lattice->context->group(), seconds); });
}

int halocline_lattice_set_communication(const halocline_lattice* lattice, const char* transport, int buffers,
                                        int all_threads_post, const char* sums, const int* interfaces) {
  const char* call = __func__;
  if (lattice == nullptr) return guarded([&] { given(lattice, call, "lattice"); });
  const comm::ProcessGrid& grid = lattice->context->geometry->grid();
  comm::SolverCommunication settings;
  return collective(
      *lattice->context, call,
      [&](Digest& digest) {
        settings.transport = text(transport);
        settings.buffers = buffers;
        settings.posting_by_all = all_threads_post != 0;
        if (!text(sums).empty()) settings.sums = text(sums);
        static_cast<void>(comm::sum_way_named(settings.sums));
        digest(settings.transport)(buffers)(settings.posting_by_all)(settings.sums)(interfaces != nullptr);
        if (interfaces == nullptr) return;
        settings.interfaces.assign(interfaces, interfaces + 8);
        settings.interface_grid.assign(grid.dims().begin(), grid.dims().end());
      },
      [&] {
        if (!settings.transport.empty() && settings.transport != "auto") {
          const std::string problem = comm::transport_unavailable_reason(settings.transport, grid);
          if (!problem.empty())
            throw core::InvalidArgument(
                fmt::format("{}: transport {} cannot be used here: it {}", call, settings.transport, problem));
        }
        comm::set_solver_communication(lattice->context->group(), settings);
      });
}

int halocline_lattice_failure(const halocline_lattice* lattice, const char** reason) {
  const char* call = __func__;
  return guarded([&] {
    const Context& context = *given(lattice, call, "lattice").context;
    given(reason, call, "reason") = context.failed ? context.failure.c_str() : "";
  });
}

int halocline_lattice_destroy(halocline_lattice* lattice) {
  return guarded([&] { delete lattice; });
}

int halocline_gauge_create(const halocline_lattice* lattice, halocline_gauge** gauge) {
  const char* call = __func__;
  if (gauge != nullptr) *gauge = nullptr;
  if (lattice == nullptr) return guarded([&] { given(lattice, call, "lattice"); });
  std::unique_ptr<halocline_gauge> made;
  return collective(
      *lattice->context, call,
      [&](Digest&) {
        given(gauge, call, "gauge");
        made = std::make_unique<halocline_gauge>(halocline_gauge{lattice->context, 0, {}});
      },
      [&] {
        made->number = lattice->context->next_object();
        *gauge = made.release();
      });
}

int halocline_gauge_start(halocline_gauge* gauge, const char* kind, double epsilon, uint64_t seed) {
  const char* call = __func__;
  if (gauge == nullptr) return guarded([&] { given(gauge, call, "gauge"); });
  Context& context = *gauge->context;
  return collective(
      context, call,
      [&](Digest& digest) {
        const std::string_view name = text(kind);
        if (name != "unit" && name != "random" && name != "weak")
          throw core::InvalidArgument(
              fmt::format("{}: the kind of links is \"{}\"; give one of unit, random, weak", call, name));
        digest(gauge->number)(name)(epsilon)(seed);
      },
      [&] {
        const std::string_view name = text(kind);
        if (name == "unit")
          gauge->links.emplace(qcd::gauge::unit_links(context.geometry));
        else if (name == "random")
          gauge->links.emplace(qcd::gauge::random_links(context.geometry, seed));
        else
          gauge->links.emplace(qcd::gauge::weak_links(context.geometry, epsilon, seed));
      });
}

int halocline_gauge_load(halocline_gauge* gauge, const char* path) {
  const char* call = __func__;
  if (gauge == nullptr) return guarded([&] { given(gauge, call, "gauge"); });
  return collective(
      *gauge->context, call,
      [&](Digest& digest) { digest(gauge->number)(std::string_view(&given(path, call, "path"))); },
      [&] { gauge->links.emplace(qcd::io::read_gauge(path, gauge->context->geometry).first); });
}

int halocline_gauge_save(const halocline_gauge* gauge, const char* path, const char* file_format) {
  const char* call = __func__;
  if (gauge == nullptr) return guarded([&] { given(gauge, call, "gauge"); });
  return collective(
      *gauge->context, call,
      [&](Digest& digest) {
        gauge->present(call);
        digest(gauge->number)(std::string_view(&given(path, call, "path")))(text(file_format));
      },
      [&] {
        qcd::io::WriteOptions options;
        if (!text(file_format).empty()) options.format = file_format;
        qcd::io::write_gauge(path, *gauge->links, options);
      });
}

int halocline_gauge_file_extents(const char* path, int64_t* extents) {
  const char* call = __func__;
  return guarded([&] {
    given(extents, call, "extents");
    std::ranges::copy(qcd::io::inspect_gauge(&given(path, call, "path")).extents, extents);
  });
}

int halocline_gauge_set(halocline_gauge* gauge, const halocline_format* format, const void* links, size_t count) {
  return set_links(__func__, gauge, format, {&links, 1}, count, true);
}

int halocline_gauge_set_directions(halocline_gauge* gauge, const halocline_format* format, const void* const* links,
                                   size_t count) {
  return set_links(__func__, gauge, format, {links, links == nullptr ? std::size_t{0} : 4}, count, false);
}

int halocline_gauge_get(const halocline_gauge* gauge, const halocline_format* format, void* links, size_t count) {
  const char* call = __func__;
  if (gauge == nullptr) return guarded([&] { given(gauge, call, "gauge"); });
  Context& context = *gauge->context;
  LinkFormat arranged{};
  return collective(
      context, call,
      [&](Digest& digest) {
        gauge->present(call);
        arranged = link_format(format, call, digest(gauge->number));
        given(static_cast<char*>(links), call, "links");
        check_count(count, link_count(context), call, "an array of links");
        qcd::order::check(arranged.order, *context.geometry, static_cast<std::size_t>(arranged.bits / 8));
      },
      [&] {
        if (arranged.bits == 32)
          qcd::order::store(reals<float>(links, count), *gauge->links, arranged.order);
        else
          qcd::order::store(reals<double>(links, count), *gauge->links, arranged.order);
      });
}

int halocline_gauge_plaquette(const halocline_gauge* gauge, double* plaquette) {
  const char* call = __func__;
  if (gauge == nullptr) return guarded([&] { given(gauge, call, "gauge"); });
  return collective(
      *gauge->context, call,
      [&](Digest& digest) {
        digest(gauge->number);
        gauge->present(call);
        given(plaquette, call, "plaquette");
      },
      [&] { *plaquette = qcd::gauge::plaquette(*gauge->links); });
}

int halocline_gauge_destroy(halocline_gauge* gauge) {
  return guarded([&] { delete gauge; });
}

const char* halocline_orders(void) {
  try {
    static const std::string all = fmt::format("{}", fmt::join(qcd::order::names(), ", "));
    return all.c_str();
  } catch (...) {
    return "";
  }
}

const char* halocline_bases(void) {
  try {
    static const std::string all = [] {
      std::string names;
      for (const auto& basis : qcd::spin_bases::all) names += std::string(basis.name) + ", ";
      return names + "Chiral";
    }();
    return all.c_str();
  } catch (...) {
    return "";
  }
}
