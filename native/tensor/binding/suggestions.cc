#include "binding/suggestions.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "libtorch/torch.h"

namespace {

constexpr size_t kMaxShown = 3;

/**
 * Returns the number of letters to insert, remove or change (the Levenshtein distance). A distance above `limit` is
 * returned as `limit + 1`.
 */
size_t Distance(const std::string& one, const std::string& other, size_t limit) {
  if (std::max(one.size(), other.size()) - std::min(one.size(), other.size()) > limit) return limit + 1;
  std::vector<size_t> row(other.size() + 1);
  for (size_t j = 0; j < row.size(); j++) row[j] = j;
  for (size_t i = 0; i < one.size(); i++) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < other.size(); j++) {
      const size_t changed = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string SimilarOperations(const std::string& name) {
  const bool overload = name.find('.') != std::string::npos;
  const size_t limit = std::max<size_t>(1, (name.size() - name.find("::")) / 4);
  // Ordered by distance and then by name.
  std::set<std::pair<size_t, std::string>> similar;
  for (const auto& known : c10::Dispatcher::singleton().getAllOpNames()) {
    const std::string candidate =
        overload && !known.overload_name.empty() ? known.name + "." + known.overload_name : known.name;
    const size_t distance = Distance(name, candidate, limit);
    if (distance <= limit) similar.emplace(distance, candidate);
  }
  if (similar.empty()) return {};
  std::string text;
  size_t shown = 0;
  for (const auto& [distance, candidate] : similar) {
    if (shown++ == kMaxShown) break;
    const bool own = candidate.rfind("aten::", 0) == 0;
    text += (text.empty() ? "" : ", ") + (own ? candidate.substr(6) : candidate);
  }
  return " (did you mean " + text + "?)";
}
