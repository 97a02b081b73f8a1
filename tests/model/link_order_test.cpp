#include <gtest/gtest.h>
#include <link.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sotto::model {
namespace {

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        static_cast<std::vector<std::string>*>(into)->emplace_back(info->dlpi_name);
        return 0;
      },
      &names);
  return names;
}

// Symbols are searched in this order, and PyTorch's libtorch.so exports a std::filesystem of its own.
TEST(LinkOrder, TheStandardLibraryComesBeforeTorch) {
  const auto names = loaded_libraries();
  const auto place = [&](const char* part) {
    return std::find_if(names.begin(), names.end(),
                        [&](const std::string& name) { return name.find(part) != std::string::npos; });
  };
  ASSERT_NE(place("libtorch"), names.end());
  EXPECT_LT(place("libstdc++"), place("libtorch"));
}

}  // namespace
}  // namespace sotto::model
