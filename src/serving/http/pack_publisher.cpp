#include "serving/http/pack_publisher.h"

#include "device/wire/pack_codec.h"

namespace sotto::serving {

namespace {

constexpr std::size_t editions_with_delta = 4;

}  // namespace

PackPublisher::PackPublisher() : latest_(std::make_shared<const Edition>()) {}

Status PackPublisher::publish(const DevicePack& pack) {
  SOTTO_TRY(std::string bytes, encode_pack(pack));
  auto next = std::make_shared<Edition>();
  SOTTO_TRY(next->version, pack_version(bytes));
  const auto before = latest_.take();
  if (before->version == next->version) return {};
  next->bytes = std::make_shared<const std::string>(std::move(bytes));
  if (before->bytes) earlier_.emplace_back(before->version, before->bytes);
  if (earlier_.size() > editions_with_delta) earlier_.erase(earlier_.begin());
  for (const auto& [version, old] : earlier_) {
    // Another model, or a pool that changed throughout: the whole pack is what helps then.
    auto delta = encode_delta(*old, *next->bytes);
    if (delta && delta->size() < next->bytes->size()) {
      next->deltas[version] = std::make_shared<const std::string>(std::move(*delta));
    }
  }
  latest_.replace(std::move(next));
  return {};
}

}  // namespace sotto::serving
