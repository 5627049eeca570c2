#include "commands/forbidden.h"

#include <unordered_set>

bool IsForbidden(const std::string& name) {
  static const std::unordered_set<std::string> names = {
      "aten::from_file", "aten::set_",   "aten::set",         "aten::record_stream",     "aten::data",
      "aten::set_data",  "aten::_print", "aten::_pin_memory", "aten::shallow_copy_data_"};
  return names.count(name) > 0;
}
