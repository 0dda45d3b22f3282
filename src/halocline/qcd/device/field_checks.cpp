// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/device/field_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::device::detail {
namespace {

constexpr double clover_limit = 1e-12;

const char* name_of(lattice::Subset subset) {
  if (subset == lattice::Subset::full) return "both parities";
  return subset == lattice::Subset::even ? "the even sites" : "the odd sites";
}

bool same(const Box& a, const Box& b) {
  return std::equal(a.extent, a.extent + 4, b.extent) && a.origin_parity == b.origin_parity && a.split == b.split;
}

/// Raises `deviation` to the distance of a site's diagonal colour blocks from the form c + M, c - M, and `largest` to
/// its largest entry.
void measure_structure(const double* site, double& deviation, double& largest) {
  for (int i = 0; i < clover::block_reals; ++i) largest = std::max(largest, std::abs(site[i]));
  for (int chirality = 0; chirality < 2; ++chirality) {
    const double* a = site + 36 * chirality;
    const double twice_mean = (a[0] + a[1] + a[2] + a[3] + a[4] + a[5]) / 3;
    for (int i = 0; i < 3; ++i) deviation = std::max(deviation, std::abs(a[i] + a[3 + i] - twice_mean));
    for (int row = 1; row < 3; ++row)
      for (int column = 0; column < row; ++column)
        for (int part = 0; part < 2; ++part)
          deviation = std::max(deviation, std::abs(a[clover::below_diagonal(row, column) + part] +
                                                   a[clover::below_diagonal(row + 3, column + 3) + part]));
  }
}

}  // namespace

void require_columns(int columns) {
  if (columns < 1 || columns > most_columns)
    throw core::InvalidArgument(
        fmt::format("a device field of {} columns was asked for; give 1 to {}, and split more into several fields",
                    columns, most_columns));
}

void require_components(int components, const Box& box) {
  if (components == spinor_components) return;
  if (components != colours)
    throw core::InvalidArgument(fmt::format(
        "a device field of {} complex numbers a site was asked for; give 12, or 3 for staggered quarks", components));
  if (box.sites % 4 != 0)
    throw core::InvalidArgument(fmt::format(
        "staggered quarks on a device take sites of one parity by fours, and a box of {}x{}x{}x{} has {} of "
        "them; give even extents",
        box.extent[0], box.extent[1], box.extent[2], box.extent[3], box.sites));
}

void require_one_kind(int components, int others) {
  if (components != others)
    throw core::InvalidArgument(fmt::format(
        "device fields of {} and of {} complex numbers a site were given; give two of one action", components, others));
}

void require_column(int column, int columns) {
  if (column < 0 || column >= columns)
    throw core::InvalidArgument(
        fmt::format("column {} was asked for of a field with {}; give 0 to {}", column, columns, columns - 1));
}

void require_length(std::size_t given, std::size_t expected, const char* what, const char* shape) {
  if (given != expected)
    throw core::InvalidArgument(
        fmt::format("{} of {} numbers was given where the local box needs {}; give {}", what, given, expected, shape));
}

void require_alike(const Box& a, int columns_a, lattice::Subset subset_a, const Box& b, int columns_b,
                   lattice::Subset subset_b, int parity) {
  require_box(a, b, "a device field");
  if (columns_a != columns_b)
    throw core::InvalidArgument(fmt::format(
        "device fields of {} and {} columns were given; they must have the same number", columns_a, columns_b));
  const auto holds = [parity](lattice::Subset subset) {
    return subset == lattice::Subset::full || static_cast<int>(subset) == parity;
  };
  if (parity == 2 ? subset_a != subset_b : !(holds(subset_a) && holds(subset_b)))
    throw core::InvalidArgument(
        fmt::format("device fields on {} and on {} were given; {}", name_of(subset_a), name_of(subset_b),
                    parity == 2 ? "they must hold the same sites"
                                : fmt::format("both must hold parity {}, which is worked on", parity)));
}

void require_box(const Box& given, const Box& expected, const char* what) {
  if (!same(given, expected))
    throw core::InvalidArgument(
        fmt::format("{} of a box of {}x{}x{}x{} sites (origin of parity {}, split axes {:#x}) was given where it is "
                    "{}x{}x{}x{} (parity {}, split {:#x}); make it for the same geometry",
                    what, given.extent[0], given.extent[1], given.extent[2], given.extent[3], given.origin_parity,
                    given.split, expected.extent[0], expected.extent[1], expected.extent[2], expected.extent[3],
                    expected.origin_parity, expected.split));
}

void require_one_context(bool same) {
  if (!same)
    throw core::InvalidArgument(
        "device fields of two contexts were given, whose streams nothing orders; make both in one context");
}

void require_links(int reals, double violation, double limit, bool fixed_point) {
  if (reals != 18 && reals != 12 && reals != 8)
    throw core::InvalidArgument(fmt::format("links in {} reals were asked for; give 18, 12 or 8", reals));
  if (reals == 18 && !fixed_point) return;
  if (!(violation <= limit))  // NaN is refused too
    throw core::InvalidArgument(
        fmt::format("the links are {:.1e} away from unitary matrices of determinant one, and {} asks for {:.0e} at "
                    "most; give links "
                    "of SU(3) (project smeared ones), or take 18 reals in double or float",
                    violation, reals == 18 ? "fixed point" : fmt::format("keeping them in {} reals", reals), limit));
}

void require_clover(int reals, std::span<const double> blocks) {
  if (reals != 72 && reals != 56)
    throw core::InvalidArgument(fmt::format("clover blocks in {} reals were asked for; give 72 or 56", reals));
  if (reals == 72) return;
  double deviation = 0, largest = 0;
  for (std::size_t site = 0; site + clover::block_reals <= blocks.size(); site += clover::block_reals)
    measure_structure(blocks.data() + site, deviation, largest);
  if (!(deviation <= clover_limit * largest))
    throw core::InvalidArgument(fmt::format(
        "the clover blocks have diagonal colour blocks that miss c + M and c - M by {:.1e} of their largest "
        "entry, and 56 reals ask for {:.0e} at most; an inverse needs 72",
        deviation / largest, clover_limit));
}

void require_not_recording(bool recording) {
  if (recording)
    throw core::InvalidArgument(
        "a field was to be copied from or to the host while its stream records a graph; copy before or after");
}

}  // namespace halocline::qcd::device::detail
