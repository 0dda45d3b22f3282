// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/sum_buffer.hpp"

#include <string>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/gpu/host_place.hpp"

namespace halocline::gpu {
namespace {

int checked(int given, int most, const char* what) {
  if (given < 1 || given > most)
    throw core::InvalidArgument("a buffer of sums was asked for " + std::to_string(given) + " " + what +
                                "; give 1 to " + std::to_string(most));
  return given;
}

/// At least one block, which then adds nothing.
std::int64_t blocks_of(std::int64_t sites, int block) {
  if (sites < 0)
    throw core::InvalidArgument("sums over " + std::to_string(sites) + " sites were asked for; give 0 or more");
  return sites == 0 ? 1 : (sites - 1) / block + 1;
}

std::uint32_t bits(int first, int count) { return ((1U << count) - 1U) << first; }

}  // namespace

SumBuffer::SumBuffer(const Device& device, int sums, std::int64_t sites, int columns)
    : sums_(checked(sums, 16, "sums")),
      columns_(checked(columns, 32, "columns")),
      most_blocks_(blocks_of(sites, least_sum_block)),
      partial_(device, most_blocks_ * sums * columns),
      total_(device, sums * columns),
      arrived_(static_cast<std::size_t>(sums * columns)),
      fetched_(device) {
  for (double& place : total_.span()) clear(place);
  Stream stream(device);
  const std::vector<double> places(static_cast<std::size_t>(partial_.size()), no_number);
  partial_.upload(stream, std::span<const double>(places));
  stream.synchronize();
}

SumBuffer::~SumBuffer() {
  if (awaited_ == 0) return;
  try {
    fetched_.wait();  // kernels may still store into the memory to be freed
  } catch (const core::Error&) {
    // The error shows when the caller synchronizes the stream.
  }
}

SumBuffer::SumBuffer(SumBuffer&& other) noexcept
    : sums_(other.sums_),
      columns_(other.columns_),
      most_blocks_(other.most_blocks_),
      partial_(std::move(other.partial_)),
      total_(std::move(other.total_)),
      arrived_(std::move(other.arrived_)),
      fetched_(std::move(other.fetched_)),
      awaited_(std::exchange(other.awaited_, 0)),
      launched_(std::exchange(other.launched_, 0U)),
      stale_(std::exchange(other.stale_, false)) {}

SumBuffer& SumBuffer::operator=(SumBuffer&& other) noexcept {
  std::swap(sums_, other.sums_);
  std::swap(columns_, other.columns_);
  std::swap(most_blocks_, other.most_blocks_);
  std::swap(partial_, other.partial_);
  std::swap(total_, other.total_);
  std::swap(arrived_, other.arrived_);
  std::swap(fetched_, other.fetched_);
  std::swap(awaited_, other.awaited_);
  std::swap(launched_, other.launched_);
  std::swap(stale_, other.stale_);
  return *this;
}

void SumBuffer::fetch(Stream& stream, int sums) {
  if (sums < 1 || sums > sums_)
    throw core::InvalidArgument(std::to_string(sums) + " sums were fetched from a buffer of " + std::to_string(sums_) +
                                "; fetch 1 to as many");
  stream.record(fetched_);
  awaited_ = sums;
}

std::span<const double> SumBuffer::wait() {
  if (awaited_ == 0) throw core::InvalidArgument("sums were awaited that nobody fetched; call fetch() first");
  const std::uint32_t fetched = bits(0, awaited_);
  if (stale_ || (launched_ & fetched) != fetched)
    fetched_.wait();
  else
    await_places();
  collect();
  return std::span(std::as_const(arrived_)).first(static_cast<std::size_t>(awaited_ * columns_));
}

void SumBuffer::note_launch(int first, int count, bool recorded) noexcept {
  const std::uint32_t filled = bits(first, count);
  stale_ = stale_ || recorded || (launched_ & filled) != 0;
  launched_ |= filled;
}

/// Looks at the places of all launched sums until they are filled. The event answers for those that never are, because
/// a kernel failed.
void SumBuffer::await_places() {
  for (int i = 0; i < sums_ * columns_; ++i) {
    if ((launched_ & bits(i / columns_, 1)) == 0) continue;
    for (int looks = 1; is_clear(total_.span()[static_cast<std::size_t>(i)]); ++looks)
      if (looks % looks_an_event == 0 && fetched_.done()) return;
  }
}

/// Takes the sums out of their places, and clears these for the next launches.
void SumBuffer::collect() {
  for (int i = 0; i < sums_ * columns_; ++i) {
    double& place = total_.span()[static_cast<std::size_t>(i)];
    if ((launched_ & bits(i / columns_, 1)) == 0 && is_clear(place)) continue;
    arrived_[static_cast<std::size_t>(i)] = look_at(place);
    clear(place);
  }
  launched_ = 0;
  stale_ = false;
}

std::int64_t SumBuffer::bytes(int sums, std::int64_t sites, int columns) {
  return blocks_of(sites, least_sum_block) * sums * columns * std::int64_t{sizeof(double)};
}

double* SumBuffer::partial(int sum) noexcept { return partial_.data() + sum * most_blocks_ * columns_; }
double* SumBuffer::total(int sum) noexcept { return total_.data() + sum * columns_; }

namespace detail {

SumBlocks plan_sum(const Stream& stream, const char* name, std::int64_t sites, int columns, const SumBuffer& sums,
                   int first, int count, const Block& block, int each, int max_threads) {
  const auto refuse = [&](const std::string& why) {
    throw core::InvalidArgument("kernel " + std::string(name) + " adds over " + std::to_string(sites) + " sites and " +
                                std::to_string(columns) + " columns on " + stream.device().describe() + ": " + why);
  };
  if (sites < 0) refuse("give 0 sites or more");
  if (block.x < least_sum_block || block.x > sum_group || sum_group % block.x != 0)
    refuse("a block of " + std::to_string(block.x) + " sites; give 32, 64, 128 or 256");
  if (block.y < 1 || block.z != 1 || block.x * block.y > max_threads)
    refuse("a block of " + std::to_string(block.x) + " x " + std::to_string(block.y) + " x " + std::to_string(block.z) +
           " threads; this kernel takes at most " + std::to_string(max_threads) + ", and 1 in z");
  const std::int64_t along = blocks_of(sites, block.x);
  const int together = block.y * each, across = (columns + together - 1) / together;
  if (columns != sums.columns())
    refuse("the buffer of sums is one of " + std::to_string(sums.columns()) + " columns; make one of as many");
  if (blocks_of(sites, least_sum_block) > sums.most_blocks())
    refuse("the buffer of sums is one of at most " + std::to_string(sums.most_blocks() * least_sum_block) +
           " sites; make a larger one");
  if (first < 0 || first + count > sums.sums())
    refuse("sums " + std::to_string(first) + " to " + std::to_string(first + count - 1) + " of a buffer of " +
           std::to_string(sums.sums()) + "; make a larger one");
  if (along * across > 2147483647) refuse("a GPU takes at most 2147483647 blocks; give fewer sites");
  return {along, across};
}

}  // namespace detail
}  // namespace halocline::gpu
