// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The marks between which tools/count_cycles counts.

extern "C" __attribute__((noinline)) inline void count_begin() { asm volatile(""); }
extern "C" __attribute__((noinline)) inline void count_end() { asm volatile(""); }
