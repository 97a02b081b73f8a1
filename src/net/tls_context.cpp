#include "net/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>

#include "base/secret_file.h"

namespace sotto::net {

namespace {

namespace ssl = boost::asio::ssl;

Result<TlsContext> make_context(ssl::context::method method) {
  auto context = std::make_shared<ssl::context>(method);
  SSL_CTX* native = context->native_handle();
  SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                  SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(native, 0);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  if (SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(native, "ECDHE+AESGCM:ECDHE+CHACHA20") != 1) {
    ERR_clear_error();
    return failed("OpenSSL offers neither TLS 1.2 nor its ciphers: check the system's OpenSSL configuration");
  }
  return context;
}

}  // namespace

Result<TlsContext> make_server_tls(const std::filesystem::path& certificate,
                                   const std::filesystem::path& private_key) {
  SOTTO_TRY(auto context, make_context(ssl::context::tls_server));
  boost::system::error_code wrong;
  context->use_certificate_chain_file(certificate.string(), wrong);
  if (wrong) {
    return bad_input("cannot read the certificate {} ({}): give a PEM file with the chain, server first",
                     certificate.string(), wrong.message());
  }
  SOTTO_CHECK(check_secret_file(private_key));
  context->use_private_key_file(private_key.string(), ssl::context::pem, wrong);
  if (wrong) {
    return bad_input("cannot use the private key {} ({}): give the unencrypted PEM key of the certificate",
                     private_key.string(), wrong.message());
  }
  if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
    ERR_clear_error();
    return bad_input("the private key {} does not belong to the certificate {}", private_key.string(),
                     certificate.string());
  }
  return context;
}

Result<TlsContext> make_client_tls(const std::filesystem::path& trusted) {
  SOTTO_TRY(auto context, make_context(ssl::context::tls_client));
  boost::system::error_code wrong;
  if (trusted.empty()) {
    context->set_default_verify_paths(wrong);
  } else {
    context->load_verify_file(trusted.string(), wrong);
  }
  if (wrong) {
    return bad_input("cannot read the certificate authorities {} ({}): give a PEM file", trusted.string(),
                     wrong.message());
  }
  context->set_verify_mode(ssl::verify_peer);
  return context;
}

}  // namespace sotto::net
