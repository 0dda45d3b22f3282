// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/source/plane_wave.hpp"

#include "halocline/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace halocline::maxwell {

namespace {

constexpr std::int64_t line_layer = 60;  ///< cells of the absorbing layer of the line
constexpr std::int64_t line_margin = 4;  ///< cells between faces and source, and faces and layer

/// Whether the box has faces along an axis.
bool has_faces(const YeeGrid& grid, const PlaneWaveSpec& spec, int axis) {
  if (grid.flat(axis)) return false;
  return !(grid.periodic(axis) && spec.lower[at(axis)] <= 0 && spec.upper[at(axis)] >= grid.cells[at(axis)] - 1);
}

/// Whether an end of an axis is the axis of a cylindrical grid, where no face is.
bool on_axis(const YeeGrid& grid, int axis, int side) { return grid.cylindrical && axis == 0 && side == 0; }

/// What a component of a wave along z with E along x and amplitude 1 is in a cylindrical grid, at a point of x: E is
/// cos(y) along r and -sin(y) about the axis, H sin(y) along r and cos(y) about it; those about the axis are times r.
double round_amplitude(const YeeGrid& grid, int component, std::int64_t x) {
  const double r = (static_cast<double>(x) + (between(component, 0) ? 0.5 : 0.0)) * grid.step[0];
  switch (component) {
  case 0:
  case 3:
    return 1;
  case 1:
    return -r;
  case 4:
    return r;
  default:
    return 0;
  }
}

/// Whether the wave leaves the grid with its box, so that there is no face on that side of an axis.
bool goes_out(const YeeGrid& grid, const PlaneWaveSpec& spec, int axis, int side) {
  if (axis != spec.axis || grid.periodic(axis)) return false;
  return side == 1 ? spec.direction > 0 && spec.upper[at(axis)] >= grid.cells[at(axis)]
                   : spec.direction < 0 && spec.lower[at(axis)] <= 0;
}

void check_spec(const YeeGrid& grid, const Medium& background, const PlaneWaveSpec& spec) {
  if (spec.axis < 0 || spec.axis > 2 || (spec.direction != 1 && spec.direction != -1))
    throw core::InvalidArgument(fmt::format(
        "a plane wave along axis {} in direction {} was given; the axis is 0, 1 or 2 and the direction 1 or -1",
        spec.axis, spec.direction));
  const double square = spec.polarisation[0] * spec.polarisation[0] + spec.polarisation[1] * spec.polarisation[1] +
                        spec.polarisation[2] * spec.polarisation[2];
  if (!(square > 0) || spec.polarisation[at(spec.axis)] != 0)
    throw core::InvalidArgument(
        fmt::format("a plane wave along axis {} has the polarisation ({}, {}, {}); it must be at "
                    "right angles to the axis, and not zero",
                    spec.axis, spec.polarisation[0], spec.polarisation[1], spec.polarisation[2]));
  if (!background.poles.empty() || background.conductivity != 0)
    throw core::InvalidArgument("a plane wave needs a background without poles and conductivity; put such matter into "
                                "bodies");
  if (grid.cylindrical && (grid.azimuthal != 1 || spec.axis != 2 || spec.polarisation[1] != 0 || spec.lower[0] != 0))
    throw core::InvalidArgument(fmt::format(
        "a plane wave along axis {} in a box from node {} of x was given for a cylindrical grid with m = {}; "
        "it travels along z with E along x, has m = 1, and its box begins on the axis",
        spec.axis, spec.lower[0], grid.azimuthal));
  if (!has_faces(grid, spec, spec.axis))
    throw core::InvalidArgument(
        fmt::format("a plane wave along axis {} needs faces there; the box covers all of the axis", spec.axis));
  if (grid.complex_fields())
    throw core::InvalidArgument("a plane wave along an axis and Bloch phases were given; a wave at right angles to a "
                                "periodic cell has no phase across it: leave the phases out");
  for (int a = 0; a < 3; ++a) {
    if (!has_faces(grid, spec, a)) continue;
    const auto& [low, high] = grid.ends[at(a)];
    const std::int64_t from = (low == Boundary::absorbing ? grid.layer.cells : 0) + 1;
    const std::int64_t to = grid.cells[at(a)] - 1 - (high == Boundary::absorbing ? grid.layer.cells : 0);
    const bool fits = (on_axis(grid, a, 0) || goes_out(grid, spec, a, 0) || spec.lower[at(a)] >= from) &&
                      (goes_out(grid, spec, a, 1) || spec.upper[at(a)] <= to) && spec.lower[at(a)] < spec.upper[at(a)];
    if (!fits)
      throw core::InvalidArgument(
          fmt::format("the total field of a plane wave lies between nodes {} and {} of axis {}; it "
                      "needs two different nodes between {} and {}, outside of absorbing layers",
                      spec.lower[at(a)], spec.upper[at(a)], a, from, to));
  }
}

}  // namespace

template <class T>
PlaneWave<T>::PlaneWave(const YeeGrid& grid, const Medium& background, const PlaneWaveSpec& spec,
                        std::vector<double> frequencies)
    : grid_(grid), spec_(spec), permittivity_(background.permittivity), frequencies_(std::move(frequencies)) {
  check_spec(grid, background, spec);
  const std::int64_t lower = spec.lower[at(spec.axis)], upper = spec.upper[at(spec.axis)];
  first_ = lower - line_margin - (spec.direction > 0 ? 0 : line_layer);
  last_ = upper + line_margin + (spec.direction > 0 ? line_layer : 0);
  source_ = spec.direction > 0 ? lower - 1 : upper + 1;
  entry_ = spec.direction > 0 ? lower : upper;
  const auto size = static_cast<std::size_t>(last_ - first_ + 1);
  for (auto* numbers : {&e_, &h_, &psi_e_, &psi_h_, &b_e_, &c_e_, &b_h_, &c_h_}) numbers->assign(size, 0);
  const double step = grid.step[at(spec.axis)];
  const std::int64_t inner = spec.direction > 0 ? last_ - line_layer : first_ + line_layer;
  for (std::size_t i = 0; i < size; ++i)
    for (int half = 0; half < 2; ++half) {
      const double place = static_cast<double>(first_ + static_cast<std::int64_t>(i)) + 0.5 * half;
      const double depth = spec.direction * (place - static_cast<double>(inner)) / static_cast<double>(line_layer);
      if (depth <= 0) continue;
      const double sigma = 4 * std::pow(depth, 4) / step / std::sqrt(permittivity_);
      (half == 0 ? b_e_ : b_h_)[i] = std::exp(-sigma * grid.time_step);
      (half == 0 ? c_e_ : c_h_)[i] = std::exp(-sigma * grid.time_step) - 1;
    }
  sum_e_.assign(frequencies_.size(), 0);
  sum_h_.assign(frequencies_.size(), 0);
}

template <class T>
std::vector<Drive<T>> PlaneWave<T>::drives(const Part& part, int table_of_e, int table_of_h) const {
  std::vector<Drive<T>> found;
  const int p = spec_.axis;
  // H of the wave is (unit vector along p) x polarisation, times the line's h.
  Vector3 magnetic{};
  magnetic[at((p + 1) % 3)] = -spec_.polarisation[at((p + 2) % 3)];
  magnetic[at((p + 2) % 3)] = spec_.polarisation[at((p + 1) % 3)];

  for (int a = 0; a < 3; ++a) {
    if (!has_faces(grid_, spec_, a)) continue;
    for (int side = 0; side < 2; ++side) {
      if (goes_out(grid_, spec_, a, side) || on_axis(grid_, a, side)) continue;
      const std::int64_t face = side == 0 ? spec_.lower[at(a)] : spec_.upper[at(a)];
      for (int component = 0; component < components; ++component) {
        if (axis_of(component) == a) continue;
        const bool is_electric = electric(component);
        const int other = 3 - a - axis_of(component);  // of the field whose derivative along a is read
        double amplitude = is_electric ? magnetic[at(other)] : spec_.polarisation[at(other)];
        const int read_component = (is_electric ? 3 : 0) + other;
        if (grid_.cylindrical) amplitude = spec_.polarisation[0];
        if (amplitude == 0 || (grid_.cylindrical && round_amplitude(grid_, read_component, 1) == 0)) continue;
        const double sign = (axis_of(component) + 1) % 3 == a ? 1 : -1;  // of this derivative in the curl
        // Inside, E of the face misses the wave's H of the point outside; outside, H sees the wave's E of the face.
        const std::int64_t point = is_electric ? face : side == 0 ? face - 1 : face;
        const std::int64_t read = is_electric ? (side == 0 ? face - 1 : face) : face;
        Box box;
        for (int b = 0; b < 3; ++b) {
          if (b == a) {
            box.lower[at(b)] = point;
            box.upper[at(b)] = point + 1;
          } else if (has_faces(grid_, spec_, b)) {
            box.lower[at(b)] = spec_.lower[at(b)];
            box.upper[at(b)] = spec_.upper[at(b)] + (between(component, b) ? 0 : 1);
          } else {
            box.lower[at(b)] = 0;
            box.upper[at(b)] = grid_.cells[at(b)];
          }
        }
        double scale = sign * (side == 0 ? -1 : 1) * amplitude / grid_.step[at(a)];
        if (grid_.cylindrical && a == 0) scale *= round_amplitude(grid_, read_component, read);
        for (const Part::Image& image : part.images(box, part.memory()))
          found.push_back({component,
                           image.box,
                           static_cast<T>(scale),
                           {1, 0},
                           is_electric ? table_of_h : table_of_e,
                           a == p ? -1 : p,
                           a == p ? read : -image.image[at(p)]});
        if (grid_.cylindrical && a == 2)
          for (Drive<T>& drive : found) {
            if (drive.profile || drive.axis != -1 || drive.component != component) continue;
            auto values = std::make_shared<BoxArray<T>>(drive.box);
            for (std::int64_t z = drive.box.lower[2]; z < drive.box.upper[2]; ++z)
              for (std::int64_t x = drive.box.lower[0]; x < drive.box.upper[0]; ++x)
                values->at(x, 0, z) = static_cast<T>(round_amplitude(grid_, read_component, x + part.first()[0]));
            drive.profile = std::move(values);
          }
      }
    }
  }
  return found;
}

template <class T>
void PlaneWave<T>::advance(int steps) {
  kept_.resize(at(2 * steps));
  const double dt = grid_.time_step, step = grid_.step[at(spec_.axis)];
  const std::size_t size = e_.size();
  const auto entry = static_cast<std::size_t>(entry_ - first_);
  for (int s = 0; s < steps; ++s) {
    kept_[at(2 * s)].assign(e_.begin(), e_.end());
    for (std::size_t f = 0; f < frequencies_.size(); ++f)
      sum_e_[f] += e_[entry] * std::polar(dt, frequencies_[f] * static_cast<double>(done_) * dt);
    for (std::size_t i = 0; i + 1 < size; ++i) {
      const double change = (e_[i + 1] - e_[i]) / step;
      psi_h_[i] = b_h_[i] * psi_h_[i] + c_h_[i] * change;
      h_[i] -= dt * (change + psi_h_[i]);
    }
    kept_[at(2 * s + 1)].assign(h_.begin(), h_.end());
    for (std::size_t f = 0; f < frequencies_.size(); ++f)
      sum_h_[f] +=
          (h_[entry] + h_[entry - 1]) / 2 * std::polar(dt, frequencies_[f] * (static_cast<double>(done_) + 0.5) * dt);
    for (std::size_t i = 1; i + 1 < size; ++i) {
      const double change = (h_[i] - h_[i - 1]) / step;
      psi_e_[i] = b_e_[i] * psi_e_[i] + c_e_[i] * change;
      e_[i] -= dt / permittivity_ * (change + psi_e_[i]);
    }
    ++done_;
    e_[static_cast<std::size_t>(source_ - first_)] = spec_.waveform(static_cast<double>(done_) * dt);
  }
}

template <class T>
std::vector<double> PlaneWave<T>::flux() const {
  const Vector3& e = spec_.polarisation;
  const double square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
  std::vector<double> flux;
  for (std::size_t f = 0; f < frequencies_.size(); ++f)
    flux.push_back(spec_.direction * square * 0.5 * (sum_e_[f] * std::conj(sum_h_[f])).real());
  return flux;
}

template <class T>
std::vector<double> PlaneWave<T>::state() const {
  std::vector<double> numbers{static_cast<double>(done_)};
  for (const auto* part : {&e_, &h_, &psi_e_, &psi_h_}) numbers.insert(numbers.end(), part->begin(), part->end());
  for (const auto* sums : {&sum_e_, &sum_h_})
    for (const auto& sum : *sums) {
      numbers.push_back(sum.real());
      numbers.push_back(sum.imag());
    }
  return numbers;
}

template <class T>
void PlaneWave<T>::set_state(std::span<const double> numbers) {
  const std::size_t size = e_.size();
  if (numbers.size() != 1 + 4 * size + 4 * frequencies_.size())
    throw core::InvalidArgument(
        fmt::format("the state of a plane wave has {} numbers, and {} were given; it is that of "
                    "another run",
                    1 + 4 * size + 4 * frequencies_.size(), numbers.size()));
  done_ = std::llround(numbers[0]);
  std::size_t next = 1;
  for (auto* part : {&e_, &h_, &psi_e_, &psi_h_})
    for (double& number : *part) number = numbers[next++];
  for (auto* sums : {&sum_e_, &sum_h_})
    for (auto& sum : *sums) {
      sum = {numbers[next], numbers[next + 1]};
      next += 2;
    }
}

template class PlaneWave<float>;
template class PlaneWave<double>;

}  // namespace halocline::maxwell
