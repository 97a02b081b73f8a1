#pragma once
// The web pages as routes. Whoever opens one gets everything from this server: the content security policy
// allows no other origin, no script or style that is not one of these files, and no frame around them.

#include <string_view>

#include "net/router.h"

namespace sotto::pages {

// GET `path` answers with this page, and GET /assets/{file} with what it is made of. An unknown page is a
// mistake in the program and throws std::logic_error.
void add_page(net::Router& router, std::string_view path, std::string_view page);

}  // namespace sotto::pages
