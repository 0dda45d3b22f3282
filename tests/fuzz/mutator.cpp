// SPDX-License-Identifier: Apache-2.0
//
// How sound files are damaged: bits, bytes, blocks, numbers in text and in binary, words of the format, and parts of
// other files. Most changes go into the description in front of the numbers, where the logic of a reader is.

#include "fuzz/fuzz.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

namespace halocline::fuzz {

namespace {

constexpr std::size_t longest_block = 64;
constexpr std::array numbers_in_text{"0",
                                     "-1",
                                     "1",
                                     "2",
                                     "3",
                                     "7",
                                     "1e308",
                                     "-1e308",
                                     "1e-320",
                                     "1e999",
                                     "nan",
                                     "inf",
                                     "0x10",
                                     "1.5",
                                     "+1",
                                     "1e5",
                                     "2147483648",
                                     "4294967296",
                                     "65536",
                                     "1048577",
                                     "-0.0",
                                     "00000",
                                     "99999999999999999999"};
constexpr std::array<std::uint64_t, 12> numbers_in_binary{0,
                                                          1,
                                                          2,
                                                          0x7f,
                                                          0xffff,
                                                          0x7fffffff,
                                                          0x80000000,
                                                          0xffffffff,
                                                          0x100000000,
                                                          0x7fffffffffffffff,
                                                          0x7ff0000000000000,
                                                          0xffffffffffffffff};

bool is_of_a_number(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

/// The first run of digits at or behind a position: where it begins and how long it is; length 0 where there is none.
std::pair<std::size_t, std::size_t> number_near(const std::string& bytes, std::size_t at) {
  const std::size_t end = std::min(bytes.size(), at + 256);
  while (at < end && std::isdigit(static_cast<unsigned char>(bytes[at])) == 0) ++at;
  std::size_t length = 0;
  while (at + length < bytes.size() && length < 40 && is_of_a_number(bytes[at + length])) ++length;
  return {at, at < end ? length : 0};
}

void tweak_text(std::string& bytes, std::size_t at, Random& random) {
  const auto [begin, length] = number_near(bytes, at);
  if (length == 0) return;
  if (random.one_in(3)) {
    char& digit = bytes[begin + random.below(length)];
    digit = static_cast<char>('0' + random.below(10));
    return;
  }
  bytes.replace(begin, length, numbers_in_text[random.below(numbers_in_text.size())]);
}

void tweak_binary(std::string& bytes, std::size_t at, Random& random) {
  const std::size_t width = std::size_t{1} << random.below(4);
  at = at / width * width;
  if (at + width > bytes.size()) return;
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < width; ++i) word |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
  switch (random.below(4)) {
  case 0:
    word += 1 + random.below(16);
    break;
  case 1:
    word -= 1 + random.below(16);
    break;
  case 2:
    word = numbers_in_binary[random.below(numbers_in_binary.size())];
    break;
  default:
    word <<= random.below(8 * width);
    break;
  }
  const bool big = random.one_in(2);
  for (std::size_t i = 0; i < width; ++i)
    bytes[at + (big ? width - 1 - i : i)] = static_cast<char>(word >> 8 * i & 0xff);
}

/// Two blocks of the same length change places, as where a disk or a network mixes up its packets.
void swap_blocks(std::string& bytes, std::size_t first, std::size_t second, std::size_t length) {
  if (second < first) std::swap(first, second);
  length = std::min({length, second - first, bytes.size() - second});
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(first),
                   bytes.begin() + static_cast<std::ptrdiff_t>(first + length),
                   bytes.begin() + static_cast<std::ptrdiff_t>(second));
}

void change(std::string& bytes, std::size_t head, const Family& family, const std::vector<const Sample*>& samples,
            Random& random) {
  const std::size_t range = head > 0 && !random.one_in(10) ? std::min(head, bytes.size()) : bytes.size();
  const std::size_t at = random.below(range);
  const std::size_t length = std::min(1 + random.below(longest_block), bytes.size() - at);
  const auto word = [&]() -> std::string {
    return family.words.empty() ? std::string(1, '\0') : family.words[random.below(family.words.size())];
  };
  switch (random.below(14)) {
  case 0:
  case 1:
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
    break;
  case 2:
    bytes[at] = static_cast<char>(random.below(256));
    break;
  case 3:
    bytes.erase(at, length);
    break;
  case 4:
    bytes.insert(random.one_in(2) ? at : random.below(range), bytes.substr(at, length));
    break;
  case 5:
    bytes.replace(at, length, std::string(length, random.one_in(2) ? '\0' : '\xff'));
    break;
  case 6:
    bytes.insert(at, word());
    break;
  case 7: {
    const std::string by = word();
    bytes.replace(at, std::min(by.size(), bytes.size() - at), by);
    break;
  }
  case 8:
  case 9:
    tweak_text(bytes, at, random);
    break;
  case 10:
    tweak_binary(bytes, at, random);
    break;
  case 11:
    swap_blocks(bytes, at, random.below(range), length);
    break;
  case 12: {  // the rest of another sound file
    const std::string& other = samples[random.below(samples.size())]->bytes;
    if (random.one_in(4)) bytes = bytes.substr(0, at) + other.substr(random.below(other.size()));
    break;
  }
  default:
    if (random.one_in(4)) bytes.resize(at);
    break;
  }
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t input)
    : state_(seed * 0x9e3779b97f4a7c15U ^ (input + 1) * 0xd1b54a32d192ed03U) {}

std::uint64_t Random::next() {  // splitmix64
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::size_t Random::below(std::size_t end) { return end == 0 ? 0 : static_cast<std::size_t>(next() % end); }

std::string mutated(const Family& family, const std::vector<const Sample*>& samples, std::uint64_t seed,
                    std::uint64_t input) {
  Random random(seed, input);
  const Sample& from = *samples[static_cast<std::size_t>(input % samples.size())];
  std::string bytes = from.bytes;
  const std::size_t most = 4 * from.bytes.size() + 4096;
  for (std::size_t changes = 1 + random.below(random.one_in(4) ? 8 : 2); changes > 0 && !bytes.empty(); --changes)
    change(bytes, from.head, family, samples, random);
  if (bytes.size() > most) bytes.resize(most);
  if (family.repair && random.one_in(2)) family.repair(bytes);
  return bytes;
}

}  // namespace halocline::fuzz
