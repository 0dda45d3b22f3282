// SPDX-License-Identifier: Apache-2.0
// The hop on fields of doubles.
#include "halocline/qcd/wilson/detail/hopping_definition.cuh"

namespace halocline::qcd::device {

template class Hopping<double>;

}  // namespace halocline::qcd::device
