// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/gauge/start.hpp"

#include "halocline/qcd/gauge/detail/random_links.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

namespace halocline::qcd::gauge {

namespace {

/// Every link from its own stream: make(stream) gives a pack of them.
template <class Make>
GaugeField links_from_streams(std::shared_ptr<const lattice::Geometry4> geometry, std::uint64_t seed, int depth,
                              Make&& make) {
  GaugeField gauge(std::move(geometry), depth);
  detail::for_each_pack<detail::stream_lanes>(
      gauge.geometry(), [&](lattice::Coordinates<4> x, int count, const auto& site) {
        for (int mu = 0; mu < 4; ++mu) {
          const auto links =
              make(detail::LinkStream<detail::stream_lanes>{seed, 4 * site + static_cast<std::uint64_t>(mu), 0});
          lattice::Coordinates<4> place = x;
          for (int lane = 0; lane < count; ++lane, ++place[0]) gauge.set_link(place, mu, detail::lane_of(links, lane));
        }
      });
  gauge.exchange_ghosts();
  return gauge;
}

}  // namespace

GaugeField unit_links(std::shared_ptr<const lattice::Geometry4> geometry, int depth) {
  return GaugeField(std::move(geometry), depth);
}

GaugeField random_links(std::shared_ptr<const lattice::Geometry4> geometry, std::uint64_t seed, int depth) {
  return links_from_streams(std::move(geometry), seed, depth,
                            [](const detail::LinkStream<detail::stream_lanes>& stream) {
                              return detail::haar_matrix<detail::stream_lanes>(stream, detail::numbers_of_starts);
                            });
}

GaugeField weak_links(std::shared_ptr<const lattice::Geometry4> geometry, double epsilon, std::uint64_t seed,
                      int depth) {
  if (!(std::isfinite(epsilon) && epsilon >= 0))
    throw core::InvalidArgument("epsilon = " + std::to_string(epsilon) +
                                " was given for a weak field; it must be a finite number that is not negative");
  return links_from_streams(
      std::move(geometry), seed, depth, [epsilon](const detail::LinkStream<detail::stream_lanes>& stream) {
        return detail::matrix_near_unit<detail::stream_lanes>(stream, detail::numbers_of_starts, epsilon);
      });
}

}  // namespace halocline::qcd::gauge
