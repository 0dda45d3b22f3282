// SPDX-License-Identifier: Apache-2.0
// The parts of the hop that all storages share: lists of sites, descriptions and candidates for the tuner, and error
// messages.
#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/gpu/sum_buffer.hpp"
#include "halocline/qcd/device/field_checks.hpp"
#include "halocline/qcd/wilson/detail/hop_launch.cuh"
#include "halocline/qcd/wilson/detail/hop_sites.cuh"

namespace halocline::qcd::device {
namespace {

SiteList upload(Context& context, const std::vector<std::int32_t>& sites) {
  SiteList list;
  list.count = static_cast<int>(sites.size());
  list.sites = gpu::DeviceArray<std::int32_t>(context.device, list.count);
  if (list.count > 0) list.sites.upload(context.stream, std::span<const std::int32_t>(sites));
  return list;
}

}  // namespace

HopSites::HopSites(Context& context) {
  const Box& box = context.box;
  for (int parity = 0; parity < 2; ++parity) {
    std::vector<std::int32_t> inner, outer;
    for (int site = 0; site < box.sites; ++site) {
      const Coordinates c = box.coordinates(parity, site);
      bool needs = false;
      for (int d = 0; d < 8; ++d) needs = needs || (box.is_split(d % 4) && box.at_edge(c, d));
      (needs ? outer : inner).push_back(site);
    }
    interior[static_cast<std::size_t>(parity)] = upload(context, inner);
    exterior[static_cast<std::size_t>(parity)] = upload(context, outer);
  }
  context.stream.synchronize();  // the uploads are complete when the constructor returns
}

std::string describe_hop(const Box& box, const char* storage, int reals, int columns, const HopVariant& variant) {
  std::string text;
  for (int axis = 0; axis < 4; ++axis) text += (axis > 0 ? "x" : "") + std::to_string(box.extent[axis]);
  text += std::string(", ") + storage + ", " + std::to_string(reals) + " reals, " + std::to_string(columns) +
          (columns == 1 ? " column" : " columns");
  if (variant.hop_blocks != 0) text += ", blocks of " + std::to_string(variant.hop_blocks) + " on the hop";
  if (variant.adds) text += ", sum";
  if (variant.add_blocks != 0) text += " with blocks of " + std::to_string(variant.add_blocks);
  if (variant.points != 0) text += ", matrices of " + std::to_string(variant.points) + " points";
  if (variant.hop_fifth) text += " on the hop";
  if (variant.add_fifth) text += " on the field added";
  if (variant.sums) text += variant.products ? ", dot products and norms" : ", norms";
  if (variant.part != HopPart::all) {
    constexpr const char* names[] = {"", ", interior of", ", exterior of", ", before messages of",
                                     ", after messages of"};
    text += names[static_cast<std::size_t>(variant.part)];
    for (int axis = 0; axis < 4; ++axis)
      if (box.is_split(axis)) text += std::string(" ") + "xyzt"[axis];
  }
  return text;
}

double hop_bytes(const char* storage, int reals, int columns, const HopVariant& variant) {
  const std::string name = storage;
  const double each = name == "double" ? 8 : name == "float" ? 4 : name == "fixed16" ? 2 : 1;
  const double scale = each < 4 ? 4 : 0;
  const double spinor = 24 * each + scale;
  const double blocks = (variant.hop_blocks + variant.add_blocks) * each +
                        2 * scale * ((variant.hop_blocks != 0 ? 1 : 0) + (variant.add_blocks != 0 ? 1 : 0));
  const int spinors = 8 + 1 + (variant.adds ? 1 : 0) + (variant.products ? 1 : 0);
  return 8 * reals * each + blocks + columns * spinors * spinor;
}

namespace {

/// Appends variants of the first three block shapes, which are the likeliest, while the list is short:
/// - all of the first-level cache for neighbours, because the kernel uses no shared memory;
/// - the second-level cache gives up links, which are read once, before spinors, which are read eight times;
/// - it gives up the result first, which this kernel does not read;
/// - links do not enter the first-level cache. For one column in all: several would share its links there;
/// - both of the last two;
/// - several sites a thread, which spares the start of blocks, with and without prefetching the links of the next
///   site. These are of one column a thread.
void add_choices(std::vector<gpu::TuneParameters>& candidates, int columns, const HopChoices& choices) {
  for (std::size_t shape = 0; shape < 3 && candidates.size() <= 21; ++shape) {
    const gpu::TuneParameters plain = candidates[shape];
    gpu::TuneParameters p = plain;
    p.carveout = 0;
    candidates.push_back(p);
    p = plain;
    p.evict_first = 1;
    candidates.push_back(p);
    p = plain;
    p.streaming_stores = 1;
    candidates.push_back(p);
    if (choices.past_cache && columns == 1) {
      p.no_allocate = 1;
      candidates.push_back(p);
      p.streaming_stores = 0;
      candidates.push_back(p);
    }
    if (!choices.loops) continue;
    p = plain;
    p.columns_per_thread = 1;
    for (const int each : {2, 4})
      for (const int ahead : {0, 1}) {
        p.sites_per_thread = each;
        p.prefetch = ahead;
        candidates.push_back(p);
      }
  }
}

}  // namespace

std::vector<gpu::TuneParameters> hop_candidates(int columns, int most_a_thread, int most_threads,
                                                const HopChoices& choices) {
  std::vector<gpu::TuneParameters> candidates;
  const auto add = [&](int x, int y, int each) {
    if (x * y > most_threads) return;
    gpu::TuneParameters p;
    p.block_x = x;
    p.block_y = y;
    p.columns_per_thread = each;
    candidates.push_back(p);
  };
  if (columns == 1) {
    for (const int x : {128, 64, 256, 192, 96, 32}) add(x, 1, 1);
    add_choices(candidates, columns, choices);
    return candidates;
  }
  for (int each = most_a_thread; each >= 1; each /= 2) {
    const int groups = (columns + each - 1) / each;
    if (3 * (groups * each - columns) > columns) continue;  // too many threads for columns that do not exist
    std::vector<int> heights;
    for (const int y : {2, 1, 3, 4, 6, 8, groups})
      if (y <= groups && groups % y == 0 && std::find(heights.begin(), heights.end(), y) == heights.end())
        heights.push_back(y);
    for (const int y : heights)
      for (const int x : {64, 32, 128}) add(x, y, each);
  }
  add_choices(candidates, columns, choices);
  return candidates;
}

std::vector<gpu::TuneParameters> hop_sum_candidates(int columns, int most_a_thread, int most_threads, bool past_cache) {
  auto candidates = hop_candidates(columns, most_a_thread, most_threads, {.loops = false, .past_cache = past_cache});
  std::erase_if(candidates, [](const gpu::TuneParameters& p) { return gpu::sum_group % p.block_x != 0; });
  return candidates;
}

std::vector<gpu::TuneParameters> hop_fifth_candidates(int points, int most_a_thread, int most_threads) {
  std::vector<gpu::TuneParameters> candidates;
  for (int each = most_a_thread; each >= 1; each /= 2) {
    const int height = (points + each - 1) / each;
    // Several blocks a multiprocessor: while one multiplies by the matrix, others wait for memory.
    for (const int threads : {most_threads, most_threads / 2, most_threads / 4}) {
      const int x = std::min(64, static_cast<int>(std::bit_floor(static_cast<unsigned>(threads / height))));
      if (x < 2) continue;
      gpu::TuneParameters p;
      p.block_x = x;
      p.block_y = height;
      p.columns_per_thread = each;
      if (std::ranges::find(candidates, p) != candidates.end()) continue;
      candidates.push_back(p);
      p.streaming_stores = 1;
      candidates.push_back(p);
    }
  }
  return candidates;
}

void throw_hop_fields(const std::string& given) {
  throw core::InvalidArgument("a hop on a device was given " + given +
                              "; give fields of the operator's lattice and number of columns, an input that holds the "
                              "other parity, and a different output that holds the target parity");
}
void throw_hop_columns(int columns) {
  throw core::InvalidArgument("a hop on a device was asked for " + std::to_string(columns) + " columns; give 1 to " +
                              std::to_string(detail::most_columns));
}

}  // namespace halocline::qcd::device
