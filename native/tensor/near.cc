#include "near.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "torch.h"

namespace {

constexpr size_t kShown = 3;

/** How many letters must be put in, taken out or changed; more than `most` is as good as `most + 1`. */
size_t Distance(const std::string& one, const std::string& other, size_t most) {
  if (std::max(one.size(), other.size()) - std::min(one.size(), other.size()) > most) return most + 1;
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

std::string NearOperations(const std::string& name) {
  const bool overload = name.find('.') != std::string::npos;
  const size_t most = std::max<size_t>(1, (name.size() - name.find("::")) / 4);
  // Least distance first, then by name.
  std::set<std::pair<size_t, std::string>> near;
  for (const auto& known : c10::Dispatcher::singleton().getAllOpNames()) {
    const std::string candidate = overload && !known.overload_name.empty() ? known.name + "." + known.overload_name : known.name;
    const size_t distance = Distance(name, candidate, most);
    if (distance <= most) near.emplace(distance, candidate);
  }
  if (near.empty()) return {};
  std::string text;
  size_t shown = 0;
  for (const auto& [distance, candidate] : near) {
    if (shown++ == kShown) break;
    const bool own = candidate.rfind("aten::", 0) == 0;
    text += (text.empty() ? "" : ", ") + (own ? candidate.substr(6) : candidate);
  }
  return " (did you mean " + text + "?)";
}
