// SPDX-License-Identifier: Apache-2.0
//
// Three ways to move the lanes of a tile by one site along x, for tools/count_cycles, on SVE with 16 floats a register.
//
//   x_shift WAY WHERE TILES
//   WAY    loads    two loads with complementary predicates, at addresses one number further, joined by XOR: the way of
//                   the solver of Fugaku (its paper, section 3.4)
//          permute  whole loads, and a permutation of the projected numbers (EXT of two registers, or TBL whose
//                   indices beyond the lanes give zero)
//          select   whole loads, a permutation, and a selection by lanes against the other tile or against zero
//   WHERE  edge     the lane that leaves the tile has no neighbour: it becomes zero
//          inner    it gets the first lane of the next tile
//
// Each does the whole work of a direction before the product with the link: it loads the 24 numbers of a spinor,
// projects them to the 12 of a half spinor, moves the lanes and stores the result. All give the same numbers.

#include <arm_sve.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "count.hpp"

namespace {

constexpr int lanes = 16, numbers = 24;
enum class Way { loads, permute, select };

inline __attribute__((always_inline)) svfloat32_t join(svbool_t all, svfloat32_t a, svfloat32_t b) {
  return svreinterpret_f32_u32(sveor_u32_x(all, svreinterpret_u32_f32(a), svreinterpret_u32_f32(b)));
}

/// Number n of the spinor at `here`, moved while it is loaded.
template <bool inner>
inline __attribute__((always_inline)) svfloat32_t moved_load(const float* here, const float* next, int n) {
  const svbool_t all = svptrue_b32(), but_last = svwhilelt_b32(1, lanes);
  const svfloat32_t mine = svld1_f32(but_last, here + n * lanes + 1);
  if constexpr (!inner) return mine;
  return join(all, mine, svld1_f32(svnot_z(all, but_last), next + n * lanes + 1 - lanes));
}

/// (1 - gamma_x) of the tile: 12 numbers [colour][spin][re, im], moved by one lane.
template <Way way, bool inner>
inline __attribute__((always_inline)) void half_spinor(float* out, const float* here, const float* next) {
  const svbool_t all = svptrue_b32();
  const svuint32_t one_further = svindex_u32(1, 1);  // the last index lies beyond the lanes
  for (int colour = 0; colour < 3; ++colour)
    for (int spin = 0; spin < 2; ++spin)
      for (int part = 0; part < 2; ++part) {
        const int up = 2 * (4 * colour + spin) + part, down = 2 * (4 * colour + 3 - spin) + 1 - part;
        const auto project = [&](svfloat32_t a, svfloat32_t b) {
          return part == 0 ? svadd_f32_x(all, a, b) : svsub_f32_x(all, a, b);
        };
        const auto projected = [&](const float* tile) {
          return project(svld1_f32(all, tile + up * lanes), svld1_f32(all, tile + down * lanes));
        };
        svfloat32_t h;
        if constexpr (way == Way::loads) {
          h = project(moved_load<inner>(here, next, up), moved_load<inner>(here, next, down));
        } else if constexpr (way == Way::permute) {
          if constexpr (inner)
            h = svext_f32(projected(here), projected(next), 1);
          else
            h = svtbl_f32(projected(here), one_further);
        } else {
          const svuint32_t around = svand_n_u32_x(all, one_further, lanes - 1);
          const svfloat32_t turned = svtbl_f32(projected(here), around);
          const svfloat32_t other = inner ? svtbl_f32(projected(next), around) : svdup_f32(0);
          h = svsel_f32(svwhilelt_b32(1, lanes), turned, other);
        }
        svst1_f32(all, out + (4 * colour + 2 * spin + part) * lanes, h);
      }
}

template <Way way, bool inner>
__attribute__((noinline)) void shift(float* out, const float* in, int tiles) {
  for (int tile = 0; tile < tiles; ++tile)
    half_spinor<way, inner>(out + tile * 12 * lanes, in + tile * numbers * lanes, in + (tile + 1) * numbers * lanes);
}

template <bool inner>
void run(const std::string& way, float* out, const float* in, int tiles) {
  if (way == "loads") return shift<Way::loads, inner>(out, in, tiles);
  if (way == "permute") return shift<Way::permute, inner>(out, in, tiles);
  return shift<Way::select, inner>(out, in, tiles);
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  const std::string way = words[1], where = words[2];
  const int tiles = std::atoi(words[3]);
  std::vector<float> in(static_cast<std::size_t>((tiles + 1) * numbers + 1) * lanes),
      out(static_cast<std::size_t>(tiles) * 12 * lanes);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 7919 % 1009);
  count_begin();
  if (where == "inner")
    run<true>(way, out.data(), in.data(), tiles);
  else
    run<false>(way, out.data(), in.data(), tiles);
  count_end();
  // A digest: the ways must agree.
  double digest = 0;
  for (std::size_t i = 0; i < out.size(); ++i) digest += static_cast<double>(out[i]) * static_cast<double>(i % 31 + 1);
  std::printf("%.17g\n", digest);
  return 0;
}
