// SPDX-License-Identifier: Apache-2.0
// The hop on fields of 8-bit fixed point.
#include "halocline/qcd/wilson/detail/hopping_definition.cuh"

namespace halocline::qcd::device {

template class Hopping<Fixed8>;

}  // namespace halocline::qcd::device
