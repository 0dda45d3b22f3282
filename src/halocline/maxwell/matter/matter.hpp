// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The matter of the whole grid: a background and bodies in it, and what a component of E sees of them.
///
/// A cell of the grid that a surface cuts has a permittivity between those of both sides. Along a component it is
/// n^2 <1/epsilon> + (1 - n^2) / <epsilon>, inverted, where n is the cosine between the component and the normal of the
/// surface, and the means are over the cell around the component's point (Mohammadi, Nadgaran and Agio, Opt. Express
/// 13, 10367 (2005)). This makes surfaces at right angles to the axes second order in the step. The parts of the tensor
/// off its diagonal are left out. Conductivities and strengths of poles are plain means.

#include "halocline/maxwell/grid/yee_grid.hpp"
#include "halocline/maxwell/matter/medium.hpp"
#include "halocline/maxwell/matter/shape.hpp"

#include <memory>
#include <vector>

namespace halocline::maxwell {

class Matter {
public:
  /// What one point of a component sees.
  struct Local {
    double inverse_permittivity = 1;
    double conductivity = 0;
    std::vector<double> strengths;  ///< of the poles, in the order of poles()
  };

  explicit Matter(Medium background = {});

  /// Where bodies overlap, the one that was added last counts.
  void add(std::shared_ptr<const Shape> body, Medium medium);

  const Medium& background() const noexcept { return media_.front(); }
  const std::vector<Medium>& media() const noexcept { return media_; }
  /// Poles of all media, those of the same motion once; their strengths are meaningless.
  const std::vector<Pole>& poles() const noexcept { return poles_; }
  bool uniform() const noexcept { return bodies_.empty(); }

  /// The medium at a place, as a number that tells media apart.
  std::size_t medium_at(const Vector3& place) const noexcept;

  /// @param smooth  means over the cell; false: the medium at the point itself
  Local local(const YeeGrid& grid, int component, const Index3& point, bool smooth = true) const;

  /// @throws InvalidArgument  for media that Medium::check refuses at the time step of this grid, and for bodies that
  ///                          begin or end inside an absorbing layer, along its depth: they would be reflected. Cost:
  ///                          every body is asked about every cell of the layers
  void check(const YeeGrid& grid) const;

private:
  void add_poles(const Medium& medium);
  void check_layer(const YeeGrid& grid, int axis, int side) const;
  Local of_medium(std::size_t number) const;
  std::vector<double> strengths_of(const Medium& medium) const;

  std::vector<Medium> media_;  ///< the background first
  struct Body {
    std::shared_ptr<const Shape> shape;
    std::size_t medium;
  };
  std::vector<Body> bodies_;
  std::vector<Pole> poles_;
};

}  // namespace halocline::maxwell
