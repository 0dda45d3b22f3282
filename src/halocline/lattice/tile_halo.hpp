// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The halo exchange of a stencil on tiled fields.

#include <omp.h>

#include <array>
#include <cstddef>
#include <exception>
#include <memory>
#include <string_view>

#include "halocline/comm/exchange/solver_exchange.hpp"
#include "halocline/lattice/neighbours.hpp"

namespace halocline::lattice {

/// The face through which the data leave that another process receives from its direction d.
constexpr comm::Face leaving_face(int d) { return {axis_of(d), -step_of(d)}; }

/// An exchange with room for the largest face of each split axis; null if no axis is split.
/// @param site_bytes  of all columns;  @param transport  by name; empty for the default
/// @throws InvalidArgument  as HaloExchange, on every rank. Collective: yes.
std::unique_ptr<comm::HaloExchange> open_halo(const Neighbours& neighbours, std::size_t site_bytes,
                                              std::string_view transport);

/// Where to pack each face, by Face::index(); nullptr for a face that is not active.
using SendBuffers = std::array<std::byte*, 8>;

/// Packs all faces with one team of threads, then posts them: each thread its share where the exchange is concurrent,
/// else the calling thread all of them.
/// @param pack  pack(buffers) packs every face. All threads of the team call it; it shares the work by `omp for`, need
///              not wait at the end, and does not throw
template <class Pack>
void pack_and_post(comm::HaloExchange& halo, Pack pack) {
  SendBuffers buffers{};
  for (int face = 0; face < 8; ++face)
    if (halo.active(comm::Face::from_index(face)))
      buffers[static_cast<std::size_t>(face)] = halo.send_buffer(comm::Face::from_index(face)).data();
  const bool all_post = halo.concurrent();
  std::exception_ptr failure;
#pragma omp parallel
  {
    pack(buffers);
    if (all_post) {
#pragma omp barrier
      try {
        halo.post(comm::share_of(0xff, omp_get_thread_num(), omp_get_num_threads()));
      } catch (...) {
#pragma omp critical(halocline_lattice_pack_and_post)
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  if (!all_post) halo.post();
}

}  // namespace halocline::lattice
