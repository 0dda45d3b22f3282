// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/domain_space.hpp"

#include <utility>

#include "halocline/qcd/field/spinor_field.hpp"

namespace halocline::qcd::schwarz {

DomainSpace::DomainSpace(std::shared_ptr<const lattice::DomainLayout> layout, int columns)
    : TiledSpace({std::int64_t{layout->domains()} * layout->tiles(), columns, spinor_reals, layout->lanes()},
                 layout->geometry().communicator()),
      layout_(std::move(layout)) {}

DomainSpace::Vector DomainSpace::create() const { return Vector(layout_, spinor_reals, columns()); }

}  // namespace halocline::qcd::schwarz
