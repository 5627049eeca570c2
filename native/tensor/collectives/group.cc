#include "collectives/group.h"

#include <algorithm>
#include <stdexcept>

Group GroupAlong(const std::vector<size_t>& sizes, size_t rank, const std::vector<int64_t>& along) {
  std::vector<size_t> steps(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) steps[i - 1] = steps[i] * sizes[i];
  Group group{{rank}, 0};
  std::vector<bool> named(sizes.size());
  for (const int64_t dimension : along) {
    const auto at = static_cast<size_t>(dimension);
    if (dimension < 0 || at >= sizes.size() || named[at]) throw std::runtime_error("the mesh has no such dimensions");
    named[at] = true;
    const size_t own = rank / steps[at] % sizes[at];
    std::vector<size_t> members;
    for (const size_t member : group.members) {
      for (size_t place = 0; place < sizes[at]; place++)
        members.push_back(member - own * steps[at] + place * steps[at]);
    }
    group.members = std::move(members);
  }
  group.index =
      static_cast<size_t>(std::find(group.members.begin(), group.members.end(), rank) - group.members.begin());
  return group;
}
