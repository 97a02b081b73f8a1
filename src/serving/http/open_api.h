#pragma once
// The interface, described for machines (OpenAPI 3).

#include <string_view>

namespace sotto::serving {

std::string_view open_api_document();

}  // namespace sotto::serving
