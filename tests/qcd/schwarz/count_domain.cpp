// SPDX-License-Identifier: Apache-2.0
//
// One application of D_in to a domain, for tools/count_cycles: what runs between count_begin() and count_end() is
// counted.
//
//   count_domain LX LY LZ LT [AHEAD]   the domain's sites; LX is a multiple of the lanes, all of which lie along x.
//                                      Links and blocks are requested AHEAD tiles ahead, as on A64FX; 0: not at all
//
// The kernels are the library's own (qcd/schwarz/detail/tile_loop.hpp). The tables of neighbours are made here, for a
// layout whose tiles lie along x alone, so that no other source has to be compiled.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "count.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/machine.hpp"
#include "halocline/qcd/schwarz/detail/tile_loop.hpp"

using namespace halocline;
using namespace halocline::qcd::schwarz;
using Real = core::Number<float, core::native_lanes<float>>;

namespace {

constexpr int lanes = core::native_lanes<float>;

/// As lattice::DomainLayout: lane l of a tile is the site x = o + outer l.
struct AlongX {
  int outer[4];
  std::vector<std::int32_t> move[8], stay[8];

  AlongX(int x, int y, int z, int t) : outer{x / lanes, y, z, t} {
    for (int d = 0; d < 8; ++d) {
      const int step = d == 0 ? 1 : d == 4 ? -1 : 0;
      for (int lane = 0; lane < lanes; ++lane) {
        const bool in = d % 4 == 0 && lane + step >= 0 && lane + step < lanes;
        move[d].push_back((lane + step + lanes) % lanes);
        stay[d].push_back(in ? 1 : 0);
      }
    }
  }
  const std::vector<std::int32_t>& moved(int d) const { return move[d]; }
  const std::vector<std::int32_t>& stays_inside(int d) const { return stay[d]; }
  std::vector<int> looking_lanes(int d) const {
    std::vector<int> looking;
    for (int lane = 0; lane < lanes; ++lane)
      if (stay[d][lane] == 0) looking.push_back(lane);
    return looking;
  }
  int face_lanes(int mu) const { return mu == 0 ? 1 : lanes; }
  std::int32_t tiles() const { return outer[0] * outer[1] * outer[2] * outer[3]; }

  std::vector<lattice::DomainNeighbour> table() const {
    std::vector<lattice::DomainNeighbour> all;
    for (std::int32_t tile = 0; tile < tiles(); ++tile)
      for (int d = 0; d < 8; ++d) {
        int at[4], rest = tile;
        for (int mu = 0; mu < 4; ++mu) {
          at[mu] = rest % outer[mu];
          rest /= outer[mu];
        }
        const int mu = d % 4, to = at[mu] + (d < 4 ? 1 : -1);
        const bool edge = to < 0 || to >= outer[mu];
        at[mu] = (to + outer[mu]) % outer[mu];
        all.push_back({at[0] + outer[0] * (at[1] + outer[1] * (at[2] + outer[2] * at[3])),
                       edge ? 0 : lattice::DomainNeighbour::inside});
      }
    return all;
  }
};

}  // namespace

int main(int count, char** words) {
  if (count != 5 && count != 6) return 2;
  const AlongX layout(std::atoi(words[1]), std::atoi(words[2]), std::atoi(words[3]), std::atoi(words[4]));
  const std::size_t numbers = static_cast<std::size_t>(layout.tiles()) * lanes;
  core::AlignedArray<float> own(24 * numbers), out(24 * numbers), links(72 * numbers), blocks(72 * numbers);
  const LaneTables<Real> tables(layout);
  const auto neighbours = layout.table();
  PassFields<float> fields;
  fields.own = own.data();
  fields.out = out.data();
  fields.links = links.data();
  fields.blocks = blocks.data();
  fields.prefetch = count == 6 ? std::atoi(words[5]) : 0;
  fields.machine = &core::machine_of({core::CpuIdentity::Vendor::fujitsu, 0, 0x001, false});
  const TileLoop<float, Real, 3> loop{neighbours.data(), tables};
  count_begin();
  loop.run<Pass::inside>(fields, nullptr, 0, layout.tiles());
  count_end();
  std::printf("%g\n", static_cast<double>(out.data()[0]));
  return 0;
}
