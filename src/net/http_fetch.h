#pragma once
// A GET that outlives its connection: what has come is kept, and the rest is asked for (Range), with the
// condition that it belongs to the same bytes (If-Range). A pack of many megabytes comes through over a line
// that breaks, or from a server that had to make room for somebody else.
//
// What has come is forgotten with the call: the tag that a rest is asked for by is the server's word, and a
// device that kept it for later could be recognised by it.

#include "net/http_client.h"

namespace sotto::net {

// As client.send(call), which must be a GET. Goes on as long as each connection brings something, and no
// longer than one connection may take for as much (HttpClientSettings).
Result<HttpResponse> fetch(HttpClient& client, const HttpClient::Call& call);

}  // namespace sotto::net
