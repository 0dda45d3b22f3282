// SPDX-License-Identifier: Apache-2.0
#include "bench/ceilings.hpp"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <thread>
#include <vector>

#include "halocline/core/pack.hpp"

namespace halocline::bench {
namespace {

/// Enough chains for two multiply-adds each cycle at a latency of four to nine, and few enough for the registers.
constexpr int chains = core::register_bytes >= 64 ? 20 : 12;
constexpr int steps = 1000;

/// `count` separately named variables. The compiler would keep an array in memory, and its loads would be measured.
template <class P, int count>
struct Chain {
  P a;
  Chain<P, count - 1> rest;
  __attribute__((always_inline)) explicit Chain(const typename P::Scalar* start)
      : a(P::load(start)), rest(start + P::lanes) {}
  __attribute__((always_inline)) void step(const P& m, const P& c) {
    a = core::fma(a, m, c);
    rest.step(m, c);
  }
  __attribute__((always_inline)) P sum() const { return a + rest.sum(); }
};
template <class P>
struct Chain<P, 0> {
  __attribute__((always_inline)) explicit Chain(const typename P::Scalar*) {}
  __attribute__((always_inline)) void step(const P&, const P&) {}
  __attribute__((always_inline)) P sum() const { return P(typename P::Scalar(0)); }
};

template <class T>
__attribute__((noinline)) T run_chains(const T* start, T multiplier, T increment, int count) {
  using P = core::Pack<T, core::native_lanes<T>>;
  const P m(multiplier), c(increment);
  Chain<P, chains> all(start);
  for (int i = 0; i < count; ++i) all.step(m, c);
  return core::horizontal_sum(all.sum());
}

using Double = core::Pack<double, core::native_lanes<double>>;
constexpr std::int64_t stride = 8 * Double::lanes;  ///< eight loads in flight

__attribute__((noinline)) double sum_of(const double* from, std::int64_t count) {
  Double a(0.0), b(0.0), c(0.0), d(0.0);
  constexpr int n = Double::lanes;
  for (std::int64_t i = 0; i + stride <= count; i += stride) {
    a += Double::load(from + i) + Double::load(from + i + 4 * n);
    b += Double::load(from + i + n) + Double::load(from + i + 5 * n);
    c += Double::load(from + i + 2 * n) + Double::load(from + i + 6 * n);
    d += Double::load(from + i + 3 * n) + Double::load(from + i + 7 * n);
  }
  return core::horizontal_sum((a + b) + (c + d));
}

__attribute__((noinline)) void triad_of(double* a, const double* b, const double* c, double s, std::int64_t count) {
  const Double scale(s);
  constexpr int n = Double::lanes;
  for (std::int64_t i = 0; i + stride <= count; i += stride)
    for (int k = 0; k < 8; ++k)
      (Double::load(b + i + k * n) + scale * Double::load(c + i + k * n)).store(a + i + k * n);
}

/// This thread's part of `count` numbers, in whole strides.
std::pair<std::int64_t, std::int64_t> part_of(std::int64_t count) {
  const std::int64_t strides = count / stride, n = omp_get_num_threads(), i = omp_get_thread_num();
  const std::int64_t begin = strides * i / n, end = strides * (i + 1) / n;
  return {begin * stride, (end - begin) * stride};
}

constexpr std::int64_t piece_bytes = std::int64_t(8) << 20;

/// CPUs this process may run on.
std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

void run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

}  // namespace

template <class T>
void FmaChains<T>::operator()() const {
  // Converges to increment / (1 - multiplier), so no number overflows or becomes subnormal. The volatile variables keep
  // the compiler from folding the constants, or computing one lane in place of all.
  volatile T multiplier = T(0.75), increment = T(0.5), first = T(1);
  std::array<T, chains * core::native_lanes<T>> start;
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = first + T(i);
  T sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum += run_chains<T>(start.data(), multiplier, increment, steps);
  first = sum;
}
template <class T>
double FmaChains<T>::flops(int threads) noexcept {
  return 2.0 * chains * core::native_lanes<T> * steps * threads;
}

Bandwidth::Bandwidth(std::int64_t bytes) {
  // Three arrays for the triad, each a whole number of strides for each thread.
  const std::int64_t threads = omp_get_max_threads();
  const std::int64_t unit = 3 * stride * threads * std::int64_t(sizeof(double));
  const std::int64_t numbers = std::max<std::int64_t>(1, bytes / unit) * 3 * stride * threads;
  data_ = core::AlignedArray<double>(numbers);
  piece_ =
      std::min(numbers, piece_bytes / std::int64_t(sizeof(double)) / (3 * stride * threads) * 3 * stride * threads);
  if (piece_ == 0) piece_ = numbers;
}

void Bandwidth::read() {
  if (next_ + piece_ > data_.size()) next_ = 0;
  const double* from = data_.data() + next_;
  double sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
    const auto [begin, count] = part_of(piece_);
    sum += sum_of(from + begin, count);
  }
  sink_ += sum;
  next_ += piece_;
}

void Bandwidth::triad() {
  const std::int64_t third = data_.size() / 3, piece = piece_ / 3;
  if (next_ + piece > third) next_ = 0;
  double* a = data_.data() + next_;
#pragma omp parallel
  {
    const auto [begin, count] = part_of(piece);
    triad_of(a + begin, a + third + begin, a + 2 * third + begin, 0.5, count);
  }
  next_ += piece;
}
double Bandwidth::triad_bytes() const noexcept { return static_cast<double>(piece_ / 3) * 3 * sizeof(double); }

std::int64_t dram_bytes() {
  const std::int64_t mebibyte = std::int64_t(1) << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
  const std::int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
#else
  const std::int64_t cache = 0;
#endif
  return std::clamp<std::int64_t>(4 * cache, 64 * mebibyte, 512 * mebibyte);
}

Ceilings no_ceilings(double cache_line_seconds) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  return {.fma_gflops = unknown,
          .stream_gbytes_per_s = unknown,
          .read_gbytes_per_s = unknown,
          .working_set_stream_gbytes_per_s = unknown,
          .working_set_read_gbytes_per_s = unknown,
          .cache_line_seconds = cache_line_seconds};
}

Ceilings bandwidth_ceilings(const comm::Communicator& group, std::int64_t working_set_bytes, const Effort& effort) {
  Ceilings found;
  found.working_set_bytes = working_set_bytes;
  const auto rates = [&](std::int64_t bytes, double& stream, double& read) {
    Bandwidth arrays(bytes);
    const double scale = 1e-9 * group.size();
    read = scale * arrays.read_bytes() / measure(group, [&] { arrays.read(); }, effort).median;
    stream = scale * arrays.triad_bytes() / measure(group, [&] { arrays.triad(); }, effort).median;
  };
  rates(dram_bytes(), found.stream_gbytes_per_s, found.read_gbytes_per_s);
  rates(std::min(working_set_bytes, dram_bytes()), found.working_set_stream_gbytes_per_s,
        found.working_set_read_gbytes_per_s);
  if (group.rank() == 0) found.cache_line_seconds = cache_line_seconds(effort);
  group.barrier();
  return found;
}

template <class T>
double fma_gflops(const comm::Communicator& group, const Effort& effort) {
  const FmaChains<T> chains_of_t;
  return 1e-9 * group.size() * FmaChains<T>::flops(omp_get_max_threads()) / measure(group, chains_of_t, effort).median;
}

double cache_line_seconds(const Effort& effort) {
  effort.validate();
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  constexpr int trips = 200;
  // Two lines, each written by one side, like the flags of a halo exchange.
  struct alignas(128) Flag {
    std::atomic<std::int64_t> value{0};
  };
  std::array<Flag, 2> flags;
  std::atomic<bool> stop{false};
  std::thread partner([&] {
    run_on(cpus[1]);
    for (std::int64_t expected = 1;; ++expected) {
      while (flags[0].value.load(std::memory_order_acquire) < expected)
        if (stop.load(std::memory_order_relaxed)) return;
      flags[1].value.store(expected, std::memory_order_release);
    }
  });
  std::vector<Sample> times;
  std::thread leader([&] {
    run_on(cpus[0]);
    std::int64_t step = 0;
    const double end = now() + effort.seconds;
    for (int run = 0; run < effort.minimum_runs || (now() < end && run < effort.maximum_runs); ++run) {
      const double begin = now();
      for (int trip = 0; trip < trips; ++trip) {
        flags[0].value.store(++step, std::memory_order_release);
        while (flags[1].value.load(std::memory_order_acquire) < step) {
        }
      }
      times.push_back({.wall = (now() - begin) / (2 * trips)});
    }
    stop.store(true);
  });
  leader.join();
  partner.join();
  return spread(times).median;
}

template class FmaChains<float>;
template class FmaChains<double>;
template double fma_gflops<float>(const comm::Communicator&, const Effort&);
template double fma_gflops<double>(const comm::Communicator&, const Effort&);

}  // namespace halocline::bench
