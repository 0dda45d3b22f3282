// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/dirac_setup.hpp"

#include "halocline/qcd/domain_wall/domain_wall.hpp"
#include "halocline/qcd/staggered/staggered.hpp"
#include "halocline/qcd/twisted/twisted_clover.hpp"
#include "halocline/qcd/twisted/twisted_doublet.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"

namespace halocline::qcd {
namespace {

struct Make {
  const GaugeField& gauge;
  int lanes;
  const std::string& transport;

  std::unique_ptr<DiracSetup> operator()(const WilsonCloverAction& action) const {
    return std::make_unique<WilsonSetup>(gauge, action, lanes, transport);
  }
  std::unique_ptr<DiracSetup> operator()(const TwistedCloverAction& action) const {
    return std::make_unique<TwistedSetup>(gauge, action, lanes, transport);
  }
  std::unique_ptr<DiracSetup> operator()(const TwistedDoubletAction& action) const {
    return std::make_unique<TwistedDoubletSetup>(gauge, action, lanes, transport);
  }
  std::unique_ptr<DiracSetup> operator()(const DomainWallAction& action) const {
    return std::make_unique<DomainWallSetup>(gauge, action, lanes, transport);
  }
  std::unique_ptr<DiracSetup> operator()(const StaggeredAction& action) const {
    return std::make_unique<StaggeredSetup>(gauge, action, lanes, transport);
  }
};

}  // namespace

std::unique_ptr<DiracSetup> dirac_setup(const GaugeField& gauge, const Action& action, int lanes,
                                        const std::string& transport) {
  return std::visit(Make{gauge, lanes, transport}, action);
}

}  // namespace halocline::qcd
