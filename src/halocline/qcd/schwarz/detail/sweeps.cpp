// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/detail/sweeps.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "halocline/comm/exchange/solver_exchange.hpp"
#include "halocline/core/region.hpp"

namespace halocline::qcd::schwarz {

template <class S>
Sweeps<S>::Sweeps(ArithmeticChoice layout, std::shared_ptr<const Coefficients<S>> coefficients,
                  const WilsonCloverAction& action, const Parameters& parameters, int columns,
                  const std::string& transport)
    : layout_(std::move(layout.layout)),
      parameters_(parameters),
      columns_(columns),
      coefficients_(std::move(coefficients)),
      passes_(TilePasses<S>::make(*layout_, parameters.link_reals, layout.arithmetic)),
      r_(create()),
      z_(create()),
      even_odd_(parameters.inner == "even-odd") {
  const std::int32_t domains = layout_->domains();
  if (!even_odd_) work_ = create();
  for (std::int32_t tile = 0; tile < layout_->tiles(); ++tile) list_of(tiles_, tile).push_back(tile);
  if (parameters_.inner == "minres") {
    more_ = create();
    sums_.resize(static_cast<std::size_t>(std::int64_t{domains} * layout_->tiles() * columns_ * 3));
  }

  // Inboxes, one behind another. A load of the last number may read a full pack, so there is room behind them.
  std::int64_t numbers = 0;
  for (std::int32_t i = 0; i < 8 * domains; ++i) {
    inbox_place_.push_back(numbers);
    numbers += (face_numbers(i % 4) + 31) / 32 * 32;
  }
  inbox_ = core::AlignedArray<S>(numbers + layout_->lanes());
  faces_.resize(static_cast<std::size_t>(domains));
  targets_.resize(static_cast<std::size_t>(domains));
  const auto& geometry = layout_->geometry();
  for (std::int32_t domain = 0; domain < domains; ++domain) {
    for (int d = 0; d < 8; ++d) {
      faces_[static_cast<std::size_t>(domain)][d] =
          inbox_.data() + inbox_place_[static_cast<std::size_t>(8 * domain + d)];
      // The neighbour in direction d sees this domain in the opposite direction.
      const int seen = (d + 4) % 8;
      const auto& link = layout_->link(domain, d);
      auto& targets = targets_[static_cast<std::size_t>(domain)];
      if (link.domain >= 0)
        targets.to[seen] = inbox_.data() + inbox_place_[static_cast<std::size_t>(8 * link.domain + seen)];
      // psi(x + mu) over the upper edge of the lattice takes the phase, psi(x - mu) over the lower its conjugate.
      const int mu = d % 4;
      const auto block = layout_->block_coordinates(domain)[mu];
      const bool outermost = d < 4 ? geometry.offset()[mu] + geometry.local()[mu] == geometry.global()[mu] &&
                                         block == layout_->blocks()[mu] - 1
                                   : geometry.offset()[mu] == 0 && block == 0;
      if (outermost) {
        const std::complex<float> phase(action.boundary[mu]);
        targets.phase[seen] = d < 4 ? std::conj(phase) : phase;
      }
    }
  }

  for (std::int32_t domain = 0; domain < domains; ++domain) {
    bool coastal = false;
    for (int d = 0; d < 8; ++d) {
      const auto& link = layout_->link(domain, d);
      coastal = coastal || link.domain < 0;
      same_colour_neighbours_ =
          same_colour_neighbours_ || (link.same_colour && link.domain >= 0 && link.domain != domain);
    }
    (coastal ? coastal_ : inland_)[static_cast<std::size_t>(layout_->colour(domain))].push_back(domain);
  }

  std::array<std::size_t, 4> face_bytes{};
  for (int mu = 0; mu < 4; ++mu) {
    if (!geometry.is_split(mu)) continue;
    const std::int64_t across = layout_->domains() / layout_->blocks()[mu];
    face_bytes[mu] = static_cast<std::size_t>((across + 1) / 2 * face_numbers(mu)) * sizeof(S);
  }
  if (std::ranges::any_of(face_bytes, [](std::size_t bytes) { return bytes > 0; })) {
    halo_ = std::make_unique<comm::HaloExchange>(comm::solver_exchange(geometry.grid(), face_bytes, transport));
    all_post_ = halo_->concurrent();
    for (std::int32_t domain = 0; domain < domains; ++domain) {
      auto& interior = interior_.emplace_back();
      auto& boundary = boundary_.emplace_back();
      for (std::int32_t tile = 0; tile < layout_->tiles(); ++tile) {
        bool needs_message = false;
        for (int d = 0; d < 8; ++d)
          needs_message = needs_message || (layout_->of(tile)[d].slot >= 0 && layout_->link(domain, d).domain < 0);
        list_of(needs_message ? boundary : interior, tile).push_back(tile);
      }
    }
  }
  whole_ = walk_order(false, {1, 1});
  choose_walk();
}

template <class S>
std::int64_t Sweeps<S>::face_numbers(int axis) const {
  return std::int64_t{layout_->face_slots(axis)} * columns_ * 12 * layout_->face_lanes(axis);
}

/// Whether the half-step of this colour sends messages through a face: if any process has an edge of this colour there.
/// With an even number of domains along the axis, all processes of a row are alike; with an odd one, every face is
/// used.
template <class S>
bool Sweeps<S>::posts(int axis, int step, int colour) const {
  if (!layout_->geometry().is_split(axis)) return false;
  const int seen = step > 0 ? axis + 4 : axis;
  return layout_->blocks()[axis] % 2 != 0 || !layout_->leaving(seen, colour).empty();
}

// ---------------------------------------------------------------------------------------------------------------------
// Messages. An exception is kept until the team has ended.

template <class S>
template <class Step>
void Sweeps<S>::guarded(Step step) noexcept {
  if (!halo_) return;
  {
    const std::lock_guard holding(failing_);
    if (failure_) return;
  }
  try {
    step();
  } catch (...) {
    const std::lock_guard holding(failing_);
    if (!failure_) failure_ = std::current_exception();
  }
}

template <class S>
void Sweeps<S>::open_buffers(int colour) {
  const core::Region region("free");
  for (int mu = 0; mu < 4; ++mu)
    for (const int step : {1, -1}) {
      if (!posts(mu, step, colour)) continue;
      S* buffer = reinterpret_cast<S*>(halo_->send_buffer({mu, step}).data());
      const int seen = step > 0 ? mu + 4 : mu;
      for (const auto domain : layout_->leaving(seen, colour)) {
        targets_[static_cast<std::size_t>(domain)].to[seen] = buffer;
        buffer += face_numbers(mu);
      }
    }
}

/// Starts the messages of a colour. All threads come here after a barrier.
template <class S>
void Sweeps<S>::post(Member me, int colour) {
  if (me.thread != 0 && !all_post_) return;
  guarded([&] {
    const core::Region region("post");
    comm::FaceMask faces = 0;
    for (int mu = 0; mu < 4; ++mu)
      for (const int step : {1, -1})
        if (posts(mu, step, colour)) faces |= comm::mask_of({mu, step});
    halo_->post(all_post_ ? comm::share_of(faces, me.thread, me.threads) : faces);
    if (me.thread == 0) in_flight_ = colour;
  });
}

/// The first thread must not wait for a message before all threads have posted. With a single poster it has itself.
template <class S>
void Sweeps<S>::await_posts(Member me) {
  if (all_post_) barrier_.wait(me.threads);
}

template <class S>
void Sweeps<S>::receive(bool keep) {
  if (in_flight_ < 0) return;
  const int colour = std::exchange(in_flight_, -1);
  for (int mu = 0; mu < 4; ++mu)
    for (const int step : {1, -1}) {
      // A message that was sent downwards arrives from above.
      if (!posts(mu, -step, colour)) continue;
      halo_->wait({mu, step});
      const S* buffer = reinterpret_cast<const S*>(halo_->recv_buffer({mu, step}).data());
      const int d = step > 0 ? mu : mu + 4;
      for (const auto domain : layout_->arriving(d, colour)) {
        const S*& face = faces_[static_cast<std::size_t>(domain)][d];
        face = buffer;
        if (keep || layout_->colour(domain) == colour) {
          S* to = inbox_.data() + inbox_place_[static_cast<std::size_t>(8 * domain + d)];
          std::copy_n(buffer, face_numbers(mu), to);
          face = to;
        }
        buffer += face_numbers(mu);
      }
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Passes. All threads go through them together.

/// Runs body(member) on all threads, then throws the error of the messages, if any.
template <class S>
template <class Body>
void Sweeps<S>::team(Body body) {
  failure_ = nullptr;
#pragma omp parallel
  body(Member{omp_get_thread_num(), omp_get_num_threads()});
  if (failure_) std::rethrow_exception(failure_);
}

template <class S>
PassFields<S> Sweeps<S>::fields_of(std::int32_t domain) const {
  PassFields<S> fields;
  const std::int64_t first = std::int64_t{domain} * layout_->tiles() * layout_->lanes();
  fields.links = coefficients_->links.data() + first * 4 * coefficients_->link_reals;
  if (coefficients_->blocks.size() > 0) fields.blocks = coefficients_->blocks.data() + first * 72;
  fields.number = coefficients_->number;
  fields.row_factor = coefficients_->row_factor;
  fields.columns = columns_;
  fields.prefetch = prefetch_;
  fields.machine = machine_;
  return fields;
}

template <class S>
PassFields<S> Sweeps<S>::with_faces(std::int32_t domain, const Update& what) const {
  PassFields<S> fields = fields_of(domain);
  fields.face = faces_[static_cast<std::size_t>(domain)];
  for (int d = 0; d < 8; ++d)
    if (layout_->link(domain, d).same_colour ? what.same_colour : what.other_colour) fields.faces |= 1u << d;
  fields.own = z_.domain(domain);
  fields.add = what.add != nullptr ? what.add->domain(domain) : nullptr;
  fields.original = what.original != nullptr ? what.original->domain(domain) : nullptr;
  fields.out = what.out->domain(domain);
  return fields;
}

template <class S>
std::vector<std::int32_t>& Sweeps<S>::list_of(Tiles& tiles, std::int32_t tile) const {
  return tiles[even_odd_ ? static_cast<std::size_t>(layout_->parity(tile)) : 0];
}

/// Pass k of 1 to passes(). Jacobi: the last one ends in `out`, the one before in the other field, and so on in turn.
/// Even-odd: odd passes write the odd tiles of `out` and read the even ones, even passes the other way round. The first
/// even tiles are those of the right-hand side.
template <class S>
PassFields<S> Sweeps<S>::step_fields(std::int32_t domain, int k, const Field& right, Field& out, Field* sum) {
  PassFields<S> fields = fields_of(domain);
  if (even_odd_) {
    fields.add = right.domain(domain);
    fields.own = (k == 1 ? right : out).domain(domain);
    fields.out = out.domain(domain);
    if (k > passes() - 2 && sum != nullptr) fields.sum = sum->domain(domain);
    return fields;
  }
  const bool to_out = (parameters_.steps - k) % 2 == 0;
  fields.add = right.domain(domain);
  fields.own = k == 1 ? right.domain(domain) : (to_out ? work_ : out).domain(domain);
  fields.out = (to_out ? out : work_).domain(domain);
  if (k == parameters_.steps && sum != nullptr) fields.sum = sum->domain(domain);
  return fields;
}

template <class S>
void Sweeps<S>::run(Member me, Pass pass, const PassFields<S>& fields, const std::vector<std::int32_t>& tiles) const {
  const Share mine = share(me.thread, me.threads, static_cast<std::int32_t>(tiles.size()));
  passes_->run(pass, fields, tiles.data(), mine.begin, mine.end);
}

/// A pass over the tiles of a stage that have a parity; all of them where the inverse is not even-odd.
template <class S>
void Sweeps<S>::part_of(Member me, Pass pass, PassFields<S> fields, const WalkOrder& order,
                        const WalkOrder::Stage& stage, int parity) const {
  const auto i = static_cast<std::size_t>(even_odd_ ? parity : 0);
  const auto& list = order.tiles(stage.pass, static_cast<int>(i));
  const std::int32_t begin = stage.begin[i];
  const Share mine = share(me.thread, me.threads, stage.end[i] - begin);
  // What this thread does next of this pass.
  fields.known = me.threads == 1 ? static_cast<std::int32_t>(list.size()) : 0;
  passes_->run(pass, fields, list.data(), begin + mine.begin, begin + mine.end);
}

/// Updates r on some tiles of a domain. With an even-odd inverse, even tiles already have D_in z = r.
template <class S>
void Sweeps<S>::residual(Member me, const Update& what, std::int32_t domain, const Tiles& tiles) const {
  const PassFields<S> fields = with_faces(domain, what);
  run(me, even_odd_ && what.pass == Pass::residual ? Pass::faces : what.pass, fields, tiles[0]);
  if (even_odd_) run(me, what.pass, fields, tiles[1]);
}

/// Updates r of one colour. Waits for the messages under way, even if there is nothing to update.
template <class S>
void Sweeps<S>::update(Member me, int colour, const Update& what) {
  const auto all = [&](const std::vector<Tiles>* tiles, const char* name) {
    if (what.none) return;
    const core::Region region(name);
    for (std::int32_t i = layout_->first_domain(colour); i < layout_->first_domain(colour + 1); ++i)
      residual(me, what, i, tiles != nullptr ? (*tiles)[static_cast<std::size_t>(i)] : tiles_);
  };
  if (!halo_) {
    all(nullptr, "residual");
  } else {
    all(&interior_, "residual");
    await_posts(me);
    if (me.thread == 0) {
      const core::Region region("wait");
      guarded([&] { receive(); });
    }
    barrier_.wait(me.threads);
    if (!failure_) all(&boundary_, "received");
  }
  barrier_.wait(me.threads);
}

template <class S>
void Sweeps<S>::solve(Member me, int colour, const Field& right, Field& out, Field* sum) {
  if (parameters_.inner == "minres") return minimise(me, colour, right, out, sum);
  const core::Region region(even_odd_ ? "even-odd" : "jacobi");
  const std::int32_t begin = layout_->first_domain(colour), end = layout_->first_domain(colour + 1);
  for (int k = 1; k <= passes(); ++k) {
    const auto& tiles = tiles_[static_cast<std::size_t>(even_odd_ ? k % 2 : 0)];
    for (std::int32_t i = begin; i < end; ++i) run(me, Pass::step, step_fields(i, k, right, out, sum), tiles);
    barrier_.wait(me.threads);
  }
}

/// Whether a thread's share of a domain exceeds the second-level cache, and a wavefront in t is possible.
template <class S>
bool Sweeps<S>::outgrows_cache(int threads) const {
  const std::int64_t site_numbers = 4 * coefficients_->link_reals + 72 + 4 * 24 * columns_;
  return parameters_.inner != "minres" && layout_->tile()[3] == 1 &&
         site_numbers * layout_->lanes() * layout_->tiles() * static_cast<std::int64_t>(sizeof(S)) >
             threads * cache_bytes_;
}

/// update() and solve() of one domain.
template <class S>
void Sweeps<S>::walk(Member me, std::int32_t domain, const Update& what, const Field& right, Field* sum) {
  const WalkOrder& order = outgrows_cache(me.threads) ? *sliced_ : *whole_;
  for (const auto& stage : order.stages()) {
    const int k = stage.pass;
    if (k > 0) {
      part_of(me, Pass::step, step_fields(domain, k, right, z_, sum), order, stage, k % 2);
    } else {
      if (what.none) continue;
      const PassFields<S> fields = with_faces(domain, what);
      part_of(me, even_odd_ && what.pass == Pass::residual ? Pass::faces : what.pass, fields, order, stage, 0);
      if (even_odd_) part_of(me, what.pass, fields, order, stage, 1);
    }
    barrier_.wait(me.threads);
  }
}

/// Of the passes over the first `domains` domains, without what comes through their faces (walk_trial.cpp).
template <class S>
double Sweeps<S>::seconds_of_walk(std::int32_t domains) {
  Update inside;
  inside.other_colour = inside.same_colour = false;
  inside.add = inside.out = &r_;
  const auto begun = std::chrono::steady_clock::now();
  team([&](Member me) {
    const bool alone = domains_to_threads(me.threads);
    const Share mine = alone ? share(me.thread, me.threads, domains) : Share{0, domains};
    for (std::int32_t i = mine.begin; i < mine.end; ++i) walk(alone ? Member{0, 1} : me, i, inside, r_, nullptr);
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

/// Receives the messages under way for all threads, and opens the buffers for the edges of this colour. With one
/// buffer, opening frees the messages that have come, so they are kept in the inbox.
template <class S>
void Sweeps<S>::collect(Member me, int colour) {
  await_posts(me);
  if (me.thread == 0) {
    const core::Region region("wait");
    guarded([&] {
      receive(halo_->options().buffering == comm::Buffering::one);
      open_buffers(colour);
    });
  }
  barrier_.wait(me.threads);
}

/// All threads work together, on one domain after another.
template <class S>
void Sweeps<S>::wavefront(Member me, int colour, const Update& what, const Field& right, Field* sum) {
  collect(me, colour);
  {
    const core::Region region("wavefront");
    if (!failure_)
      for (std::int32_t i = layout_->first_domain(colour); i < layout_->first_domain(colour + 1); ++i)
        walk(me, i, what, right, sum);
  }
  barrier_.wait(me.threads);
}

/// Each thread takes whole domains, from the residual to the packed edges while the domain is in its cache. Domains
/// without a face to another process come first.
template <class S>
void Sweeps<S>::by_domain(Member me, int colour, const Update& what, const Field& right, Field* sum, bool send) {
  const auto all = [&](const std::vector<std::int32_t>& domains) {
    const core::Region region("domains");
    const Share mine = share(me.thread, me.threads, static_cast<std::int32_t>(domains.size()));
    for (std::int32_t n = mine.begin; n < mine.end; ++n) {
      const std::int32_t i = domains[static_cast<std::size_t>(n)];
      walk({0, 1}, i, what, right, sum);
      if (!send) continue;
      const core::Region packing("pack and post");
      pack_domain({0, 1}, i, z_);
    }
  };
  all(inland_[static_cast<std::size_t>(colour)]);
  if (halo_) {
    collect(me, colour);
    if (!failure_) all(coastal_[static_cast<std::size_t>(colour)]);
  }
  barrier_.wait(me.threads);
  if (!send) return;
  const core::Region posting("pack and post");
  post(me, colour);
}

/// Whether by_domain() is possible and keeps this many threads busy. It packs edges while other domains of the colour
/// are still to be updated, so no two domains of a colour may be neighbours. With one domain of each colour, the
/// threads share its tiles instead, and messages travel while tiles without a face to another process are computed.
template <class S>
bool Sweeps<S>::domains_to_threads(int threads) const {
  if (parameters_.inner == "minres" || same_colour_neighbours_) return false;
  for (int colour = 0; colour < 2; ++colour) {
    const std::int32_t count = layout_->first_domain(colour + 1) - layout_->first_domain(colour);
    const bool balanced = count % threads == 0 || count >= 4 * threads;
    if (count < (halo_ ? 2 : 1) || !balanced) return false;
  }
  return true;
}

template <class S>
void Sweeps<S>::pack_domain(Member me, std::int32_t domain, const Field& z) {
  const PassFields<S> fields = fields_of(domain);
  const FaceTargets<S>& targets = targets_[static_cast<std::size_t>(domain)];
  const auto [first, last] = share(me.thread, me.threads, layout_->tiles());
  for (std::int32_t tile = first; tile < last; ++tile) passes_->pack(targets, fields, z.domain(domain), tile);
}

template <class S>
void Sweeps<S>::pack(Member me, int colour, const Field& z) {
  const core::Region region("pack and post");
  for (std::int32_t i = layout_->first_domain(colour); i < layout_->first_domain(colour + 1); ++i)
    pack_domain(me, i, z);
  barrier_.wait(me.threads);
  post(me, colour);
}

template <class S>
void Sweeps<S>::sweep(const Field& in, Field* x, Field* remainder) {
  const core::Region region("schwarz");
  if (x != nullptr) {
    S* numbers = x->data();
    const std::int64_t count = x->size();
#pragma omp parallel for schedule(static)
    for (std::int64_t n = 0; n < count; ++n) numbers[n] = S{};
  }
  team([&](Member me) {
    for (int s = 0; s <= parameters_.nsap; ++s)
      for (int colour = 0; colour < 2; ++colour) {
        const bool first = s == 0;
        // r is `in` until it has been updated once.
        Update what;
        what.none = first && colour == 0;
        what.pass = first ? Pass::first : Pass::residual;
        what.same_colour = !first;
        what.add = s == (colour == 0 ? 1 : 0) ? &in : &r_;
        what.out = &r_;
        const Field& right = what.none ? in : r_;
        const bool send = remainder != nullptr || s < parameters_.nsap || colour == 0;
        if (domains_to_threads(me.threads)) {
          by_domain(me, colour, what, right, x, send);
          continue;
        }
        if (outgrows_cache(me.threads)) {
          wavefront(me, colour, what, right, x);
        } else {
          update(me, colour, what);
          if (me.thread == 0) guarded([&] { open_buffers(colour); });
          solve(me, colour, right, z_, x);
        }
        if (send) pack(me, colour, z_);
      }
    if (remainder == nullptr) {
      await_posts(me);
      if (me.thread == 0) guarded([&] { receive(); });
    } else {
      for (int colour = 0; colour < 2; ++colour) {
        Update what;
        what.pass = Pass::remainder;
        what.other_colour = colour == 0;
        what.add = colour == 0 && parameters_.nsap == 0 ? &in : &r_;
        what.original = &in;
        what.out = remainder;
        update(me, colour, what);
      }
    }
  });
}

template <class S>
void Sweeps<S>::full(Field& out, const Field& in) {
  const core::Region region("schwarz operator");
  team([&](Member me) {
    // The edges of each colour travel in their own message, so the first message is awaited before the second is
    // packed.
    for (int colour = 0; colour < 2; ++colour) {
      if (me.thread == 0) guarded([&] { open_buffers(colour); });
      barrier_.wait(me.threads);
      pack(me, colour, in);
      if (colour == 0) {
        await_posts(me);
        if (me.thread == 0) guarded([&] { receive(true); });
        barrier_.wait(me.threads);
      }
    }
    for (int colour = 0; colour < 2; ++colour) {
      const core::Region inner("residual");
      if (colour == 0) {
        await_posts(me);
        if (me.thread == 0) guarded([&] { receive(); });
        barrier_.wait(me.threads);
      }
      if (failure_) continue;
      for (std::int32_t i = layout_->first_domain(colour); i < layout_->first_domain(colour + 1); ++i) {
        PassFields<S> fields = fields_of(i);
        fields.face = faces_[static_cast<std::size_t>(i)];
        fields.faces = 0xff;
        fields.own = in.domain(i);
        fields.out = out.domain(i);
        for (const auto& tiles : tiles_) run(me, Pass::full, fields, tiles);
      }
    }
  });
}

template <class S>
void Sweeps<S>::inside(Field& out, const Field& in, int colour) {
  const core::Region region("schwarz inside");
  team([&](Member me) {
    for (std::int32_t i = layout_->first_domain(colour); i < layout_->first_domain(colour + 1); ++i) {
      PassFields<S> fields = fields_of(i);
      fields.own = in.domain(i);
      fields.out = out.domain(i);
      for (const auto& tiles : tiles_) run(me, Pass::inside, fields, tiles);
    }
  });
}

template <class S>
void Sweeps<S>::invert(Field& out, const Field& in, int colour) {
  team([&](Member me) { solve(me, colour, in, out, nullptr); });
}

template <class S>
void Sweeps<S>::multiply_inverse(Field& v) {
  team([&](Member me) {
    for (std::int32_t i = 0; i < layout_->domains(); ++i) {
      PassFields<S> fields = fields_of(i);
      fields.own = v.domain(i);
      fields.out = v.domain(i);
      for (const auto& tiles : tiles_) run(me, Pass::block, fields, tiles);
    }
  });
}

template class Sweeps<float>;
template class Sweeps<core::Half>;

}  // namespace halocline::qcd::schwarz
