// SPDX-License-Identifier: Apache-2.0
#include "bench/device_timing.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "halocline/gpu/recorded_work.hpp"

namespace halocline::bench {
double DeviceClock::block(const Work& work, int repeats) {
  const gpu::Device& device = stream_->device();
  gpu::Event begin(device, true), end(device, true);
  stream_->synchronize();
  group_->barrier();
  const double host_begin = now();
  stream_->record(begin);
  for (int i = 0; i < repeats; ++i) work();
  stream_->record(end);
  stream_->synchronize();
  std::array<double, 1> seconds{device.on_gpu() ? gpu::Event::elapsed(begin, end) : now() - host_begin};
  group_->max(seconds);
  return seconds[0] / repeats;
}

Spread DeviceClock::measure(const Work& work, const Effort& effort) {
  effort.validate();
  block(work, 1);
  // The slowest process counts, so all processes find the same number of repeats and stop together.
  int repeats = 1;
  for (double each = block(work, 1); repeats * each < effort.block_seconds && repeats < 1 << 16;
       each = block(work, repeats)) {
    const double wanted = std::min(effort.block_seconds / std::max(each, 1e-9) + 1, 4.0 * repeats);
    repeats = std::max(repeats + 1, static_cast<int>(wanted));
  }
  std::vector<Sample> samples;
  double total = 0;
  for (int run = 0; run < effort.minimum_runs || (total < effort.seconds && run < effort.maximum_runs); ++run) {
    const double seconds = block(work, repeats);
    samples.push_back({seconds, seconds});
    total += repeats * seconds;
  }
  Spread measured = spread(samples);
  count_energy(measured, [&](int executions) { return block(work, executions); });
  return measured;
}

Spread DeviceClock::measure_graph(const Work& work, const Effort& effort, gpu::FaceExchange* exchange) {
  // First outside the capture, because kernels are tuned and memory is allocated there.
  work();
  work();
  stream_->synchronize();
  const gpu::RecordedWork recorded(*stream_, exchange, [&] {
    for (int i = 0; i < runs_of_a_graph; ++i) work();
  });
  Spread times = measure([&] { recorded.launch(*stream_, exchange); }, effort);
  for (double* time : {&times.median, &times.minimum, &times.maximum, &times.cpu, &times.joules})
    *time /= runs_of_a_graph;
  return times;
}

}  // namespace halocline::bench
