// SPDX-License-Identifier: Apache-2.0
/// @file
/// Upload of clover blocks: doubles are copied to the device, and a kernel converts them to their storage.

#include "halocline/qcd/device/clover_array.cuh"

#include <cstring>

#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/staging.cuh"

namespace halocline::qcd::device {
namespace {

constexpr std::int64_t block_bytes = clover::block_reals * sizeof(double);

/// Number i of the n that memory holds for one chirality, computed from its 36 reals. With n = 28 these numbers are
/// c, M and L of clover_array.cuh.
template <int n>
HALOCLINE_HOST_DEVICE inline double kept_number(const double* block, int i) {
  if constexpr (n == 36) return block[i];
  if (i == 0) return (block[0] + block[1] + block[2] + block[3] + block[4] + block[5]) / 6;
  if (i < 4) return (block[i - 1] - block[i + 2]) / 2;
  if (i >= 10) {
    const int entry = (i - 10) / 2;
    return block[clover::below_diagonal(3 + entry / 3, entry % 3) + i % 2];
  }
  const int entry = (i - 4) / 2;  // (1,0) (2,0) (2,1)
  const int row = entry == 0 ? 1 : 2;
  const int column = entry == 2 ? 1 : 0;
  return (block[clover::below_diagonal(row, column) + i % 2] -
          block[clover::below_diagonal(row + 3, column + 3) + i % 2]) /
         2;
}

/// Converts one piece of the blocks [parity][site], which begins at block number `begin`. x counts the blocks of the
/// piece.
template <class S, int reals>
struct ImportClover {
  using Word = typename Storage<S>::Word;
  static constexpr int n = reals / 2;

  Word* out;
  float* scale;
  const double* from;
  std::int64_t begin;
  int sites, stride;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const std::int64_t number = begin + p.x;
    const int parity = number >= sites ? 1 : 0;
    const int site = static_cast<int>(parity == 1 ? number - sites : number);
    const double* block = from + std::int64_t{clover::block_reals} * p.x;
    double mean = 0;
    float factor = 0;
    if constexpr (Storage<S>::scaled) {
      for (int i = 0; i < 6; ++i) mean += (block[i] + block[36 + i]) / 12;
      const float kept_mean = static_cast<float>(mean);
      mean = kept_mean;
      std::uint32_t largest = 0;
      for (int chirality = 0; chirality < 2; ++chirality) HALOCLINE_UNROLL
      for (int i = 0; i < n; ++i) {
        const std::uint32_t bits = detail::bits_of(left_over(block, mean, chirality, i)) & 0x7fffffffu;
        largest = bits > largest ? bits : largest;
      }
      const detail::FixedScale found = detail::fixed_scale<S>(largest);
      factor = found.factor;
      float* pair = scale + std::int64_t{2} * (std::int64_t{stride} * parity + site);
      pair[0] = kept_mean;
      pair[1] = found.kept;
    }
    for (int chirality = 0; chirality < 2; ++chirality) {
      detail::Record<Word, n> record;
      if constexpr (Storage<S>::scaled) {
        detail::pack_fixed(record, factor, [&](int i) { return left_over(block, mean, chirality, i); });
      } else {
        HALOCLINE_UNROLL
        for (int i = 0; i < n; ++i) record.at[i] = static_cast<Word>(kept_number<n>(block + 36 * chirality, i));
      }
      detail::store_record(out + std::int64_t{stride} * (reals * parity + n * chirality), stride, site, record);
    }
  }

  /// The number that is stored as a fixed-point integer: number i, minus the mean if it belongs to the diagonal.
  HALOCLINE_HOST_DEVICE static float left_over(const double* block, double mean, int chirality, int i) {
    return static_cast<float>(kept_number<n>(block + 36 * chirality, i) - (i < detail::diagonal_reals(n) ? mean : 0));
  }
};

template <class S, int reals>
void import_clover(Context& context, std::byte* memory, std::span<const double> blocks) {
  using Word = typename Storage<S>::Word;
  const int stride = padded(context.box.sites);
  ImportClover<S, reals> work{reinterpret_cast<Word*>(memory),
                              reinterpret_cast<float*>(memory + std::int64_t{stride} * 2 * reals * sizeof(Word)),
                              nullptr,
                              0,
                              context.box.sites,
                              stride};
  detail::upload_pieces(
      context, std::int64_t{2} * context.box.sites, block_bytes,
      [&](double* to, std::int64_t begin, std::int64_t count) {
        std::memcpy(to, blocks.data() + clover::block_reals * begin, static_cast<std::size_t>(count * block_bytes));
      },
      [&](const double* from, std::int64_t begin, std::int64_t count) {
        work.from = from;
        work.begin = begin;
        gpu::launch(context.stream, "import_clover", {count, 1, 1}, {128, 1, 1}, work);
      });
}

}  // namespace

template <class S>
DeviceClover<S>::DeviceClover(ContextPtr context, std::span<const double> blocks, int reals)
    : context_(std::move(context)), reals_(reals) {
  detail::require_length(blocks.size(),
                         std::size_t{2} * clover::block_reals * static_cast<std::size_t>(context_->box.sites),
                         "an array of clover blocks", "the shape [parity 2][site][72]");
  detail::require_clover(reals, blocks);
  memory_ = gpu::DeviceArray<std::byte>(context_->device, bytes(context_->box, reals));
  if (reals == 72)
    import_clover<S, 72>(*context_, memory_.data(), blocks);
  else
    import_clover<S, 56>(*context_, memory_.data(), blocks);
}

template <class S>
std::int64_t DeviceClover<S>::bytes(const Box& box, int reals) {
  const std::int64_t site = reals * sizeof(typename Storage<S>::Word) + (Storage<S>::scaled ? 2 * sizeof(float) : 0);
  return 2 * site * padded(box.sites);
}

template class DeviceClover<double>;
template class DeviceClover<float>;
template class DeviceClover<Fixed16>;
template class DeviceClover<Fixed8>;

}  // namespace halocline::qcd::device
