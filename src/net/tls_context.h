#pragma once
// OpenSSL contexts as both ends want them: TLS 1.2 or later, forward-secret AEAD ciphers, no compression, no
// renegotiation, and no session resumption, which would let one connection be linked with the next.

#include <filesystem>
#include <memory>

#include "base/result.h"

namespace boost::asio::ssl {
class context;
}

namespace sotto::net {

using TlsContext = std::shared_ptr<boost::asio::ssl::context>;

Result<TlsContext> make_server_tls(const std::filesystem::path& certificate,
                                   const std::filesystem::path& private_key);
// trusted: a PEM file of certificate authorities; empty: those of the system.
Result<TlsContext> make_client_tls(const std::filesystem::path& trusted);

}  // namespace sotto::net
