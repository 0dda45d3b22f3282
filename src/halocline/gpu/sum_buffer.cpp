// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/sum_buffer.hpp"

#include "halocline/core/error.hpp"

#include <string>
#include <utility>

namespace halocline::gpu {
namespace {

int checked(int given, int most, const char* what) {
  if (given < 1 || given > most)
    throw core::InvalidArgument("a buffer of sums was asked for " + std::to_string(given) + " " + what +
                                "; give 1 to " + std::to_string(most));
  return given;
}

std::int64_t blocks_of(std::int64_t sites) {
  if (sites < 0)
    throw core::InvalidArgument("sums over " + std::to_string(sites) + " sites were asked for; give 0 or more");
  return sites == 0 ? 1 : (sites - 1) / sum_block + 1;
}

}  // namespace

SumBuffer::SumBuffer(const Device& device, int sums, std::int64_t sites, int columns)
    : sums_(checked(sums, 16, "sums")),
      columns_(checked(columns, 32, "columns")),
      most_blocks_(blocks_of(sites)),
      partial_(device, most_blocks_ * sums * columns),
      finished_(device, columns),
      total_(device, sums * columns),
      fetched_(device) {
  Stream stream(device);
  stream.set_zero(finished_.data(), finished_.bytes());
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
      finished_(std::move(other.finished_)),
      total_(std::move(other.total_)),
      fetched_(std::move(other.fetched_)),
      awaited_(std::exchange(other.awaited_, 0)) {}

SumBuffer& SumBuffer::operator=(SumBuffer&& other) noexcept {
  std::swap(sums_, other.sums_);
  std::swap(columns_, other.columns_);
  std::swap(most_blocks_, other.most_blocks_);
  std::swap(partial_, other.partial_);
  std::swap(finished_, other.finished_);
  std::swap(total_, other.total_);
  std::swap(fetched_, other.fetched_);
  std::swap(awaited_, other.awaited_);
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
  fetched_.wait();
  return total_.span().first(static_cast<std::size_t>(awaited_ * columns_));
}

double* SumBuffer::partial(int sum) noexcept { return partial_.data() + sum * most_blocks_ * columns_; }
double* SumBuffer::total(int sum) noexcept { return total_.data() + sum * columns_; }
unsigned* SumBuffer::finished() noexcept { return finished_.data(); }

namespace detail {

std::int64_t plan_sum(const Stream& stream, const char* name, std::int64_t sites, int columns, const SumBuffer& sums,
                      int first, int count) {
  const auto refuse = [&](const std::string& why) {
    throw core::InvalidArgument("kernel " + std::string(name) + " adds over " + std::to_string(sites) + " sites and " +
                                std::to_string(columns) + " columns on " + stream.device().describe() + ": " + why);
  };
  if (sites < 0) refuse("give 0 sites or more");
  const std::int64_t blocks = blocks_of(sites);
  if (columns != sums.columns())
    refuse("the buffer of sums is one of " + std::to_string(sums.columns()) + " columns; make one of as many");
  if (blocks > sums.most_blocks())
    refuse("the buffer of sums is one of at most " + std::to_string(sums.most_blocks() * sum_block) +
           " sites; make a larger one");
  if (first < 0 || first + count > sums.sums())
    refuse("sums " + std::to_string(first) + " to " + std::to_string(first + count - 1) + " of a buffer of " +
           std::to_string(sums.sums()) + "; make a larger one");
  if (blocks * columns > 2147483647) refuse("a GPU takes at most 2147483647 blocks; give fewer sites");
  return blocks;
}

}  // namespace detail
}  // namespace halocline::gpu
