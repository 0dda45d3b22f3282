// SPDX-License-Identifier: Apache-2.0
//
// doctest itself, which all test programs link.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
