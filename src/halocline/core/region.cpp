// SPDX-License-Identifier: Apache-2.0
/// @file
/// Each thread has one tree of names. A registry owns the trees, so that they outlive their threads.

#include "halocline/core/region.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>

namespace halocline::core {
namespace detail {

std::atomic<bool> regions_on{false};

struct RegionNode {
  const char* name = nullptr;
  RegionNode* parent = nullptr;
  std::vector<std::unique_ptr<RegionNode>> children;  // few: searched from the front
  std::uint64_t calls = 0;
  std::chrono::steady_clock::duration time{0};
  std::chrono::steady_clock::time_point begin;

  RegionNode& child(const char* wanted) {
    for (const auto& node : children) {
      if (node->name == wanted || std::strcmp(node->name, wanted) == 0) return *node;
    }
    children.push_back(std::make_unique<RegionNode>());
    children.back()->name = wanted;
    children.back()->parent = this;
    return *children.back();
  }
};

namespace {

struct ThreadTree {
  RegionNode root;
  RegionNode* open = &root;  // innermost region entered and not left
};

struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<ThreadTree>> trees;

  ThreadTree* add() {
    const std::lock_guard lock(mutex);
    trees.push_back(std::make_unique<ThreadTree>());
    return trees.back().get();
  }
};

Registry& registry() {
  static Registry all;
  return all;
}

ThreadTree& this_thread() {
  thread_local ThreadTree* const tree = registry().add();
  return *tree;
}

double seconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

void append(const RegionNode& node, const std::string& above, int depth, int thread, std::vector<RegionRow>& rows) {
  for (const auto& child : node.children) {
    RegionRow row;
    row.path = above.empty() ? child->name : above + " > " + child->name;
    row.depth = depth;
    row.thread = thread;
    row.calls = child->calls;
    row.seconds = row.self_seconds = row.total_seconds = seconds(child->time);
    for (const auto& inner : child->children) row.self_seconds -= seconds(inner->time);
    rows.push_back(row);
    append(*child, row.path, depth + 1, thread, rows);
  }
}

bool empty(const RegionNode& node) {
  return node.calls == 0 &&
         std::all_of(node.children.begin(), node.children.end(), [](const auto& c) { return empty(*c); });
}

}  // namespace

RegionNode* enter_region(const char* name) noexcept {
  ThreadTree& tree = this_thread();
  tree.open = &tree.open->child(name);
  tree.open->begin = std::chrono::steady_clock::now();
  return tree.open;
}

void leave_region(RegionNode* node) noexcept {
  node->time += std::chrono::steady_clock::now() - node->begin;
  ++node->calls;
  this_thread().open = node->parent;
}

}  // namespace detail

void enable_regions(bool on) noexcept { detail::regions_on.store(on, std::memory_order_relaxed); }
bool regions_enabled() noexcept { return detail::regions_on.load(std::memory_order_relaxed); }

RegionReport region_report_by_thread() {
  RegionReport report;
  detail::Registry& all = detail::registry();
  const std::lock_guard lock(all.mutex);
  for (std::size_t thread = 0; thread < all.trees.size(); ++thread) {
    if (!detail::empty(all.trees[thread]->root)) {
      detail::append(all.trees[thread]->root, "", 0, static_cast<int>(thread), report.rows);
    }
  }
  return report;
}

RegionReport region_report() {
  RegionReport merged;
  for (const RegionRow& row : region_report_by_thread().rows) {
    const auto same = [&](const RegionRow& r) { return r.path == row.path; };
    const auto at = std::find_if(merged.rows.begin(), merged.rows.end(), same);
    if (at == merged.rows.end()) {
      // Insert after the parent and the parent's other children, so that the order of the tree is kept.
      auto place = merged.rows.end();
      if (row.depth > 0) {
        const std::string above = row.path.substr(0, row.path.rfind(" > "));
        place =
            std::find_if(merged.rows.begin(), merged.rows.end(), [&](const RegionRow& r) { return r.path == above; });
        const int depth = row.depth;
        if (place != merged.rows.end()) {
          place = std::find_if(place + 1, merged.rows.end(), [depth](const RegionRow& r) { return r.depth < depth; });
        }
      }
      merged.rows.insert(place, row)->thread = -1;
      continue;
    }
    at->threads += 1;
    at->calls += row.calls;
    at->total_seconds += row.total_seconds;
    if (row.seconds > at->seconds) {
      at->seconds = row.seconds;
      at->self_seconds = row.self_seconds;
    }
  }
  return merged;
}

void reset_regions() {
  detail::Registry& all = detail::registry();
  const std::lock_guard lock(all.mutex);
  for (const auto& tree : all.trees) {
    tree->root.children.clear();
    tree->open = &tree->root;
  }
}

std::string RegionReport::table() const {
  std::size_t width = 6;
  const auto label = [](const RegionRow& row) {
    const std::size_t last = row.depth == 0 ? std::string::npos : row.path.rfind(" > ");
    const std::string name = last == std::string::npos ? row.path : row.path.substr(last + 3);
    const std::string thread = row.thread < 0 ? "" : " #" + std::to_string(row.thread);
    return std::string(2 * static_cast<std::size_t>(row.depth), ' ') + name + thread;
  };
  for (const RegionRow& row : rows) width = std::max(width, label(row).size());
  char line[128];
  std::snprintf(line, sizeof(line), "  %10s %7s %12s %12s %12s\n", "calls", "threads", "seconds", "self",
                "all threads");
  std::string text = "region" + std::string(width - 6, ' ') + line;
  for (const RegionRow& row : rows) {
    std::snprintf(line, sizeof(line), "  %10llu %7d %12.6f %12.6f %12.6f\n", static_cast<unsigned long long>(row.calls),
                  row.threads, row.seconds, row.self_seconds, row.total_seconds);
    const std::string name = label(row);
    text += name + std::string(width - name.size(), ' ') + line;
  }
  return text;
}

std::string RegionReport::json() const {
  std::string text = "{";
  for (const RegionRow& row : rows) {
    text += text.size() > 1 ? ", \"" : "\"";
    for (const char c : row.path) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      if (static_cast<unsigned char>(c) < 0x20) {
        text += code;
      } else {
        text += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
      }
    }
    if (row.thread >= 0) text += " #" + std::to_string(row.thread);
    char numbers[160];
    std::snprintf(
        numbers, sizeof(numbers),
        "\": {\"calls\": %llu, \"threads\": %d, \"seconds\": %.9g, \"self_seconds\": %.9g, \"total_seconds\": %.9g}",
        static_cast<unsigned long long>(row.calls), row.threads, row.seconds, row.self_seconds, row.total_seconds);
    text += numbers;
  }
  return text + "}";
}

}  // namespace halocline::core
