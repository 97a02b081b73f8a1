#pragma once
// Certificates made on the spot, so that none with a date of expiry lies in the tree.

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace sotto::net {

// A self-signed certificate, valid from `begins` to `ends` (seconds from now) for `name`, "IP:127.0.0.1" say.
struct TestCertificate {
  std::filesystem::path certificate, key;

  TestCertificate(const std::filesystem::path& folder, const std::string& label, const std::string& name,
                  long begins = -60, long ends = 3600)
      : certificate(folder / (label + ".crt")), key(folder / (label + ".key")) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> pair(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> x509(X509_new(), X509_free);
    X509_set_version(x509.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(x509.get()), begins);
    X509_gmtime_adj(X509_getm_notAfter(x509.get()), ends);
    X509_set_pubkey(x509.get(), pair.get());
    X509_NAME* subject = X509_get_subject_name(x509.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(label.c_str()), -1, -1, 0);
    X509_set_issuer_name(x509.get(), subject);
    add(x509.get(), NID_subject_alt_name, name);
    add(x509.get(), NID_basic_constraints, "critical,CA:TRUE");
    if (X509_sign(x509.get(), pair.get(), EVP_sha256()) == 0) throw std::runtime_error("cannot sign");
    write(certificate, [&](FILE* file) { return PEM_write_X509(file, x509.get()); });
    write(key, [&](FILE* file) {
      return PEM_write_PrivateKey(file, pair.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    using std::filesystem::perms;
    std::filesystem::permissions(key, perms::owner_read | perms::owner_write);
  }

 private:
  static void add(X509* x509, int nid, const std::string& value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
    if (extension == nullptr) throw std::runtime_error("cannot write the extension " + value);
    X509_add_ext(x509, extension, -1);
    X509_EXTENSION_free(extension);
  }
  template <class Write>
  static void write(const std::filesystem::path& path, Write write_pem) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "w"), std::fclose);
    if (!file || write_pem(file.get()) != 1) throw std::runtime_error("cannot write " + path.string());
  }
};

}  // namespace sotto::net
