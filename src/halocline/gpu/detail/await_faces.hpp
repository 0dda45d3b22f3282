// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The kernel that makes a stream wait for flags.

#include "halocline/gpu/face_exchange.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::gpu::detail {

/// Work enqueued after this kernel runs when every awaited face has arrived or has been given up (FaceSignals::failed).
void await_faces(Stream& stream, const FaceSignals& signals);

}  // namespace halocline::gpu::detail
