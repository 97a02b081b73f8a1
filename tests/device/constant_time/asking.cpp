// A device's way from a user vector to a ciphertext, with the user vector marked as undefined: valgrind
// follows it through every instruction of the program as it ships and complains where a jump or an address
// depends on it. With the argument "branch" it does what must be noticed.

#include <valgrind/memcheck.h>

#include <cstdio>
#include <cstring>

#include "base/random.h"
#include "blind/quantisation.h"
#include "blind/ring.h"
#include "blind/rotation.h"
#include "device/blind/key_part.h"
#include "device/blind/probes.h"

using namespace sotto;

int main(int count, char** arguments) {
  blind::Guide guide;
  guide.parameters = *blind::choose_parameters({64, 33, 5, 2});
  guide.steps.assign(33, 0.1F);
  for (std::size_t i = 0; i < guide.parameters.shape.columns(); ++i)
    guide.centroids.push_back(static_cast<float>(i % 17) - 8);
  guide.hint.assign(guide.parameters.shape.rows * blind::ring_degree, 12345);
  SeededRandom random(1, Purpose::test);
  auto keys =
      device::KeyPart::prepare(guide.parameters, guide.hint, 2, privacy::DeviceRandom::simulated(random));
  if (!keys) return 2;

  std::vector<float> user(64);
  for (std::size_t i = 0; i < user.size(); ++i) user[i] = static_cast<float>(i % 5) - 1.5F;
  VALGRIND_MAKE_MEM_UNDEFINED(user.data(), user.size() * sizeof(float));
  if (count > 1 && std::strcmp(arguments[1], "branch") == 0) std::puts(user[0] > 0 ? "yes" : "no");
  const auto turned = blind::rotated(user, user.size());
  const auto quantised = blind::quantise_user(turned, guide.parameters);
  const auto clusters = device::nearest_clusters(guide, turned);
  std::size_t undefined = 0, words = 0;
  for (std::size_t probe = 0; probe < clusters.size(); ++probe) {
    const auto sealed = std::move((*keys)[probe]).seal(quantised.entries, clusters[probe]);
    if (!sealed) return 2;
    for (const std::uint32_t& word : sealed->words) {
      std::uint32_t bits = 0;
      if (VALGRIND_GET_VBITS(&word, &bits, sizeof word) == 1 && bits != 0) ++undefined;
      ++words;
    }
  }
  // Every word depends on the secret, or the marks got lost on the way and nothing was shown.
  std::printf("%zu of %zu words depend on what was read\n", undefined, words);
  return RUNNING_ON_VALGRIND != 0 && undefined != words ? 2 : 0;
}
