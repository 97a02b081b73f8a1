#include "serving/http/pack_publisher.h"

#include "device/wire/pack_codec.h"
#include "net/negotiation.h"

namespace sotto::serving {

namespace {

constexpr std::size_t editions_with_delta = 4;
constexpr int pack_effort = 9;  // of compressing: once for all devices

}  // namespace

PackPublisher::PackPublisher() : latest_(std::make_shared<const Edition>()) {}

Status PackPublisher::publish(const DevicePack& pack) {
  SOTTO_TRY(std::string bytes, encode_pack(pack));
  auto next = std::make_shared<Edition>();
  SOTTO_TRY(next->version, pack_version(bytes));
  const auto before = latest_.take();
  if (before->version == next->version) return {};
  next->pack =
      std::make_shared<const PublishedBody>(std::move(bytes), next->version, kFlatBuffersType, pack_effort);
  if (before->pack) {
    earlier_.push_back(std::make_shared<const Edition>(Edition{before->version, before->pack, {}}));
  }
  if (earlier_.size() > editions_with_delta) earlier_.erase(earlier_.begin());
  for (const auto& old : earlier_) {
    // Another model, or a pool that changed throughout: the whole pack is what helps then.
    auto delta = encode_delta(old->pack->bytes(), next->pack->bytes());
    if (delta && delta->size() < next->pack->bytes().size()) {
      next->deltas[old->version] = std::make_shared<const PublishedBody>(
          std::move(*delta), next->version + "-from-" + old->version, kFlatBuffersType, pack_effort);
    }
  }
  latest_.replace(std::move(next));
  return {};
}

}  // namespace sotto::serving
